//! A kind of agent is named in its own folder and in [`KINDS`](host::agent::KINDS), and nowhere else.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::tidy::Findings;
use crate::tree::Tree;

/// The file with the table of kinds.
const TABLE: &str = "crates/host/src/agent.rs";
/// The folder with a folder for each kind.
const FOLDER: &str = "crates/host/src/agent/";
/// Where the check applies.
const PLACES: [&str; 3] = ["crates/", "web/src/", "xtask/src/"];
/// Test code and generated code.
const NOT_CHECKED: [&str; 7] = [
    "/tests/",
    "tests.rs",
    ".test.ts",
    "crates/testkit/",
    "web/src/api/types",
    "web/src/api/agentFacts.ts",
    "web/src/pages/crew/sample.ts",
];
/// Kinds whose names are words for other things too, which this check could not tell apart.
const ORDINARY_WORDS: [&str; 2] = ["command", "script"];

/// Files that name a kind all the same, each with the reason.
const EXCEPTIONS: [(&str, &str); 6] = [
    ("crates/engine/src/tools/agents/spawn_claude.rs", "the contract has a tool of this name"),
    ("crates/engine/src/tools/agents/spawn_codex.rs", "the contract has a tool of this name"),
    ("crates/adjutant/src/commands/call/mcp/client.rs", "an MCP client, which need not be a kind"),
    ("crates/adjutant/src/crew/roles.rs", "role files of Claude Code, which any kind can play"),
    (
        "crates/adjutant/src/crew/roles/files.rs",
        "role files of Claude Code, which any kind can play",
    ),
    (
        "crates/adjutant/src/crew/roles/front.rs",
        "role files of Claude Code, which any kind can play",
    ),
];

pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    let kinds = kinds(&tree.text(TABLE.as_ref())?.unwrap_or_default());
    if kinds.is_empty() {
        findings.wrong(format!("{TABLE}: the table `KINDS` is not found"));
    }
    let mut unused: BTreeSet<&str> = EXCEPTIONS.iter().map(|(path, _)| *path).collect();
    for file in &tree.files {
        let path = file.to_string_lossy();
        if !is_checked(&path) {
            continue;
        }
        let named = named(&kinds, &tree.text(file)?.unwrap_or_default());
        if !named.is_empty() && EXCEPTIONS.iter().any(|(exempt, _)| *exempt == path) {
            unused.remove(path.as_ref());
            continue;
        }
        for (line, kind) in named {
            findings.wrong(format!(
                "{path}:{line}: names the kind `{kind}`; ask a method of `Kind` instead, as CONTRIBUTING.md says"
            ));
        }
    }
    for path in unused {
        findings.wrong(format!("{path} names no kind any more: take it out of `EXCEPTIONS`"));
    }
    Ok(())
}

fn is_checked(path: &str) -> bool {
    let is_code = [".rs", ".ts", ".tsx"].iter().any(|end| path.ends_with(end));
    let is_in_place = PLACES.iter().any(|place| path.starts_with(place));
    let is_table = path == TABLE || path.starts_with(FOLDER) || path == "xtask/src/tidy/kinds.rs";
    is_code && is_in_place && !is_table && !NOT_CHECKED.iter().any(|part| path.contains(part))
}

/// Kinds of the table, by module and type: `claude` and `Claude`.
fn kinds(table: &str) -> Vec<(String, String)> {
    let entries = table.split_once("KINDS: &[&dyn Kind] =").and_then(|(_, rest)| {
        let (entries, _) = rest.split_once("];")?;
        Some(entries)
    });
    let entries = entries.unwrap_or_default().split(|c: char| ",&[ \n".contains(c));
    let kinds = entries.filter_map(|entry| entry.split_once("::"));
    let kinds = kinds.filter(|(module, _)| !ORDINARY_WORDS.contains(module));
    kinds.map(|(module, name)| (module.to_owned(), name.to_owned())).collect()
}

/// Kinds named before the tests of a file, as a text or as a variant: the line and the kind.
fn named(kinds: &[(String, String)], text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let code = text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    for (number, line) in (1..).zip(code).filter(|(_, line)| !line.trim().starts_with("//")) {
        for (module, name) in kinds {
            let is_text = [format!("\"{module}\""), format!("'{module}'")]
                .iter()
                .any(|literal| line.contains(literal));
            let is_variant = line.match_indices(&format!("::{name}")).any(|(at, variant)| {
                let rest = line.get(at + variant.len()..).unwrap_or_default();
                !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            });
            if is_text || is_variant {
                found.push((number, module.clone()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "/// Every kind.\npub static KINDS: &[&dyn Kind] =\n    &[&claude::Claude, &codex::Codex, \
                         &command::Command];\n";

    fn texts(found: &[(usize, String)]) -> Vec<(usize, &str)> {
        found.iter().map(|(line, kind)| (*line, kind.as_str())).collect()
    }

    #[test]
    fn the_kinds_of_the_table_are_known() {
        let known = kinds(TABLE);
        let names: Vec<_> = known.iter().map(|(module, name)| (&**module, &**name)).collect();
        assert_eq!(names, [("claude", "Claude"), ("codex", "Codex")], "without ordinary words");
        assert!(kinds("pub static OTHERS: u8 = 0;").is_empty());
    }

    #[test]
    fn texts_and_variants_are_found_and_other_names_are_not() {
        let text = "if kind == \"codex\" {}\nKind::Claude => 1,\nSource::ClaudeCode => \"claude-opus\",\n\
                    // \"codex\" is a kind\nconst A = 'claude';\n#[cfg(test)]\nlet kind = \"codex\";\n";
        let found = named(&kinds(TABLE), text);
        assert_eq!(texts(&found), [(1, "codex"), (2, "claude"), (5, "claude")]);
    }

    #[test]
    fn folders_of_kinds_and_tests_are_not_checked() {
        for path in ["crates/host/src/agent/codex.rs", "crates/x/tests/it/a.rs", "docs/a.md"] {
            assert!(!is_checked(path), "{path}");
        }
        assert!(is_checked("crates/engine/src/tools/templates.rs") && is_checked("web/src/a.ts"));
    }
}
