//! Back doors: re-exports of lower crates.
//!
//! `server` and `adjutant` may not depend on `store`. A `pub use store` in `engine` would let them write to the record
//! past the engine. So would a public function or field that gives the store away: calls on it need no name of a type.

use anyhow::Result;

use crate::tidy::Findings;
use crate::tree::Tree;

/// Lower crates, which no crate exports again.
const GUARDED: &[&str] = &["host", "model", "store", "wire"];

/// The one file of the engine that moves agents from state to state.
const TRANSITIONS: &str = "crates/engine/src/crew/transition.rs";

pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    for path in tree.rust() {
        let file = path.to_string_lossy();
        let is_product = file.starts_with("crates/") && file.contains("/src/");
        if !is_product || file.starts_with("crates/testkit/") || file.contains("tests") {
            continue;
        }
        let text = tree.text(path)?.unwrap_or_default();
        for wrong in wrongs(&file, &text) {
            findings.wrong(format!("{file}:{wrong}"));
        }
    }
    Ok(())
}

/// Back doors in a file, as `line: what is wrong`.
fn wrongs(file: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if file.starts_with("crates/engine/src/") {
        wrong.extend(stores_given_away(text));
    }
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(exported) = exported(line) {
            wrong.push(format!(
                "{number}: `{exported}` may not be exported again: wrap what is needed"
            ));
        }
        if file.starts_with("crates/engine/src/")
            && file != TRANSITIONS
            && line.contains(".agent_advance(")
        {
            wrong.push(format!("{number}: only `crew::transition` moves an agent"));
        }
    }
    wrong
}

/// Public functions and fields of the engine that give the store away, as `line: what is wrong`.
fn stores_given_away(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, _) in text.match_indices("pub ") {
        let (before, item) = text.split_at(at);
        let end = item.find(['{', ';', ',', '=']).unwrap_or(item.len());
        let is_function = item.get(..end).is_some_and(|head| head.contains("fn "));
        let given = if is_function {
            let end = item.find(['{', ';']).unwrap_or(item.len());
            item.get(..end).and_then(|head| head.rsplit_once("-> ")).map(|(_, given)| given)
        } else {
            item.get(..end).and_then(|head| head.split_once(": ")).map(|(_, given)| given)
        };
        let names = |given: &str| {
            given.split(|c: char| !c.is_alphanumeric() && c != '_').any(|name| name == "Store")
        };
        if given.is_some_and(names) {
            let line = before.matches('\n').count() + 1;
            wrong.push(format!("{line}: the store is the engine's: give `Engine` a method"));
        }
    }
    wrong
}

/// Path of a guarded crate that a line exports.
fn exported(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.strip_prefix("pub use ").or_else(|| line.strip_prefix("pub extern crate "))?;
    let rest = rest.trim_start_matches("::");
    let name = rest.split([':', ';', ' ']).next()?;
    GUARDED.contains(&name).then(|| rest.trim_end_matches(';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_re_export_of_the_store_is_rejected() {
        for line in [
            "pub use store;",
            "    pub use store::{Store, Tx};",
            "pub use ::store::Tx;",
            "pub use store as record;",
            "pub extern crate store;",
            "pub use host::run::RunFolder;",
        ] {
            assert_eq!(wrongs("crates/server/src/lib.rs", line).len(), 1, "{line}");
        }
        for line in ["use store::Tx;", "pub(crate) use store::Tx;", "pub use storefront::Door;"] {
            assert_eq!(wrongs("crates/engine/src/lib.rs", line), [""; 0], "{line}");
        }
    }

    #[test]
    fn the_engine_gives_its_store_to_nobody() {
        let engine = "crates/engine/src/core/handle.rs";
        for code in [
            "    pub fn store(&self) -> &Store {\n        &self.store\n    }\n",
            "pub async fn open(\n    path: &Path,\n) -> Result<store::Store, StoreError> {\n",
            "pub struct CoreState {\n    pub store: Arc<Store>,\n}\n",
        ] {
            assert_eq!(wrongs(engine, code).len(), 1, "{code}");
        }
        for code in [
            "    pub(crate) fn into_store(self) -> Store {\n",
            "pub struct CoreState {\n    pub(crate) store: Store,\n}\n",
            "    pub fn new(record: Store, settings: Settings) -> Self {\n",
            "pub fn check(path: &Path) -> Result<(), StoreError> {\n",
        ] {
            assert_eq!(wrongs(engine, code), [""; 0], "{code}");
        }
    }
}
