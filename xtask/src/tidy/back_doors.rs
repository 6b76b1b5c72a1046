//! Back doors: re-exports of lower crates.
//!
//! `server` and `adjutant` may not depend on `store`. A `pub use store` in `engine`, or a handle to the store itself,
//! would let them write to the record past the engine.

use anyhow::Result;

use crate::tidy::Findings;
use crate::tree::Tree;

/// Crates that nobody may export again: the record and the machine.
const GUARDED: &[&str] = &["store", "host"];

/// The one file of the engine that moves agents from state to state.
const TRANSITIONS: &str = "crates/engine/src/crew/transition.rs";

/// Crates that may not ask the engine for the store itself, except in tests.
const OUTSIDE_STORE: &[&str] = &["crates/server/src/", "crates/adjutant/src/"];

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
    let may_use_store = !OUTSIDE_STORE.iter().any(|folder| file.starts_with(folder));
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
        if !may_use_store && line.contains("engine.store()") {
            wrong.push(format!("{number}: the store is the engine's: give `Engine` a method"));
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
    fn only_the_engine_reaches_the_store() {
        let line = "let live = self.engine.store().read(|tx| tx.agents_live_count());";
        assert_eq!(wrongs("crates/server/src/metrics.rs", line).len(), 1);
        assert_eq!(wrongs("crates/engine/src/views.rs", line), [""; 0]);
    }
}
