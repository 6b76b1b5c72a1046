//! The command line reads the server's answers through the shapes of `wire`, not field by field.

use anyhow::Result;

use crate::tidy::Findings;
use crate::tree::Tree;

/// Where the check applies.
const FOLDER: &str = "crates/adjutant/src/";

/// Files that read JSON of others: MCP messages, settings of MCP clients, JSON schemas, `package.json`.
const FOREIGN_JSON: [&str; 6] = [
    "bridge/link.rs",
    "bridge/message.rs",
    "cli/call/tool.rs",
    "commands/call/mcp/client.rs",
    "init/detect.rs",
    "scripted_agent/mcp.rs",
];

pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    for file in tree.rust() {
        let path = file.to_string_lossy();
        let Some(inside) = path.strip_prefix(FOLDER) else { continue };
        if is_exempt(inside) {
            continue;
        }
        for (line, found) in lookups(&tree.text(file)?.unwrap_or_default()) {
            findings.wrong(format!(
                "{path}:{line}: `{found}` looks a field up by its name; decode the answer into a shape of `wire`"
            ));
        }
    }
    Ok(())
}

/// True for tests, and for files that read foreign JSON.
fn is_exempt(inside: &str) -> bool {
    FOREIGN_JSON.contains(&inside) || inside.ends_with("tests.rs") || inside.contains("/tests/")
}

/// Look-ups such as `answer["id"]` before the tests of a file: the line, and the look-up.
fn lookups(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let code = text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    for (number, line) in (1..).zip(code) {
        for (at, _) in line.match_indices("[\"") {
            let (before, rest) = line.split_at(at);
            // After a value it is a look-up; anywhere else it begins a list of texts.
            let is_index = before.ends_with(|c: char| c.is_alphanumeric() || "_)]".contains(c));
            let Some(end) = rest.find("\"]").filter(|_| is_index) else { continue };
            let key = rest.get(2..end).unwrap_or_default();
            if !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                found.push((number, format!("[\"{key}\"]")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_up_by_name_is_found_and_a_list_of_texts_is_not() {
        let text = r#"
            let id = answer["id"].as_str();
            let url = story["pull"]["url"].take();
            let whole = read()["data"].clone();
            let words = ["up", "down"];
            run(&["status"], vec!["x"]);
        "#;
        let expected = [(2, "id"), (3, "pull"), (3, "url"), (4, "data")];
        let expected = expected.map(|(line, key)| (line, format!("[\"{key}\"]")));
        assert_eq!(lookups(text), expected);
    }

    #[test]
    fn tests_may_look_fields_up() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    x[\"id\"];\n}\n";
        assert!(lookups(text).is_empty());
        assert!(is_exempt("bridge/tests.rs") && is_exempt("bridge/tests/fake.rs"));
        assert!(is_exempt("scripted_agent/mcp.rs") && !is_exempt("commands/mail.rs"));
    }
}
