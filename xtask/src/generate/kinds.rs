//! What the kinds of agents say of themselves, in the configuration file and on the page.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use host::agent::{KINDS, SUMMARY_FIELDS};

use super::config::SOURCE;
use crate::tree::Tree;

/// The line of the configuration file behind which the kinds stand, up to the next blank line.
const ABOVE: &str = "\n  environment: []\n";

/// The configuration file, with the part of each kind as its folder has it.
pub(super) fn configuration(tree: &Tree) -> Result<String> {
    let text = tree.text(Path::new(SOURCE))?.unwrap_or_default();
    with_kinds(&text, KINDS.iter().map(|kind| kind.config()))
        .with_context(|| format!("{SOURCE} has no `agents.environment` with the kinds behind it"))
}

fn with_kinds<'a>(text: &str, kinds: impl Iterator<Item = &'a str>) -> Option<String> {
    let (before, rest) = text.split_once(ABOVE)?;
    let (_, after) = rest.split_once("\n\n")?;
    let lines: Vec<String> = kinds.flat_map(str::lines).map(|line| format!("  {line}")).collect();
    Some(format!("{before}{ABOVE}{}\n\n{after}", lines.join("\n")))
}

/// The module of the page with what it has to know of agents.
pub(super) fn facts() -> Result<String> {
    let mut module = "// Written by `cargo xtask generate` from what `crates/host/src/agent` knows. Change that, not this.\n".to_owned();
    let listening: Vec<&str> =
        KINDS.iter().filter(|kind| kind.supports().wake).map(|kind| kind.name()).collect();
    let parts: [(&str, &str, &[&str]); 2] = [
        (
            "Fields of a tool's input that say most of what a call is about, the most telling first.",
            "SUMMARY_FIELDS",
            &SUMMARY_FIELDS,
        ),
        ("Kinds of agents that hear what is typed while they work.", "LISTENING_KINDS", &listening),
    ];
    for (about, name, words) in parts {
        writeln!(module, "\n/** {about} */\nexport const {name}: readonly string[] = [")?;
        for word in words {
            writeln!(module, "  '{word}',")?;
        }
        writeln!(module, "];")?;
    }
    let default = KINDS.first().context("there are kinds")?.name();
    writeln!(module, "\n/** Kind of agents whose role names none. */")?;
    writeln!(module, "export const DEFAULT_KIND = '{default}';")?;
    Ok(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_stand_behind_what_all_have_in_common() {
        let text = "agents:\n  default: a\n  environment: []\n  # Old.\n  a: 1\n\n# Next.\nb: 2\n";
        let written = with_kinds(text, ["# A.\na:\n  x: 1\n", "b: 2\n"].into_iter()).unwrap();
        let wanted = "agents:\n  default: a\n  environment: []\n  # A.\n  a:\n    x: 1\n  b: 2\n\n# Next.\nb: 2\n";
        assert_eq!(written, wanted);
        assert_eq!(
            with_kinds(&written, ["# A.\na:\n  x: 1\n", "b: 2\n"].into_iter()),
            Some(written.clone())
        );
        assert_eq!(with_kinds("agents: {}\n", std::iter::empty()), None);
    }
}
