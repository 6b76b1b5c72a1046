//! Calls that an answer `always` covers: those of the same pattern, by the same agent.
//!
//! A call is covered if its own pattern is the one that was shown with the question. What cannot be said in a pattern that a
//! person understands has none, and is asked about each time.

use serde_json::Value;

/// Longest pattern that is shown.
const MAX_PATTERN: usize = 200;
/// Characters with which a shell does more than start one program with plain words.
const SHELL_SIGNS: &[char] = &[
    ';', '|', '&', '$', '`', '<', '>', '(', ')', '{', '}', '[', ']', '*', '?', '!', '~', '#', '\\',
    '"', '\'', '\n', '\r',
];

/// Pattern of a call, as `Bash(cargo test:*)` for every use of one subcommand. `input` is JSON, as the agent gave it.
pub(super) fn pattern_of(tool: &str, input: &str) -> Option<String> {
    // A request for wider permissions is no call, and a tool without a name is any of them.
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if matches!(tool, "tool" | "request_permissions") || !tool.chars().all(is_name) {
        return None;
    }
    let input: Value = serde_json::from_str(input).ok()?;
    let pattern = match (input.get("command"), input.get("url")) {
        (Some(command), _) => format!("{tool}({})", commands(command.as_str()?)?),
        (None, Some(url)) => format!("{tool}(domain:{})", domain(url.as_str()?)?),
        (None, None) => tool.to_owned(),
    };
    (pattern.chars().count() <= MAX_PATTERN).then_some(pattern)
}

/// A subcommand with any arguments, where the command is so simple; else the command itself.
fn commands(command: &str) -> Option<String> {
    let command = unwrapped(command).trim();
    let mut words = command.split_whitespace();
    let (program, subcommand) = (words.next()?, words.next());
    let is_plain = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    match subcommand {
        Some(subcommand)
            if !command.contains(SHELL_SIGNS) && is_plain(&program) && is_plain(&subcommand) =>
        {
            Some(format!("{program} {subcommand}:*"))
        }
        // What looks like a pattern and is a command stands for nothing else.
        _ if command.ends_with(":*") || command.contains(['\n', '\r']) => None,
        _ => Some(command.to_owned()),
    }
}

/// The command in `/bin/bash -lc '…'`, as Codex runs it.
fn unwrapped(command: &str) -> &str {
    let inner = ["/bin/bash -lc '", "bash -lc '", "/bin/sh -c '"];
    let inner = inner.iter().find_map(|shell| command.strip_prefix(shell)?.strip_suffix('\''));
    inner.filter(|inner| !inner.contains('\'')).unwrap_or(command)
}

fn domain(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let host = rest.split(['/', '?', '#', '\\']).next()?;
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
    (!host.is_empty() && host.chars().all(is_host)).then_some(host)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(command: &str) -> Option<String> {
        pattern_of("Bash", &json!({ "command": command, "description": "x" }).to_string())
    }

    #[test]
    fn a_subcommand_is_covered_with_any_plain_arguments() {
        for covered in ["cargo test", "cargo  test --all", "/bin/bash -lc 'cargo test -p model'"] {
            assert_eq!(of(covered).as_deref(), Some("Bash(cargo test:*)"), "{covered}");
        }
    }

    #[test]
    fn a_command_that_is_not_simple_is_covered_alone() {
        for alone in [
            "cargo test; rm -rf /",
            "cargo test && curl x",
            "cargo test $(id)",
            "cargo test `id`",
            "cargo test > /etc/passwd",
            "cargo test 'a b'",
            "cargo --version",
            "rm -rf target",
            "A=1 cargo test",
            "./run tests",
            "ls",
        ] {
            assert_eq!(of(alone), Some(format!("Bash({alone})")), "{alone}");
        }
        for never in ["cargo test:*", "cargo test\nrm -rf /", "", &"x".repeat(300)] {
            assert_eq!(of(never), None, "{never}");
        }
    }

    #[test]
    fn other_tools_are_covered_whole_and_addresses_by_their_host() {
        let of = |tool: &str, input: Value| pattern_of(tool, &input.to_string());
        assert_eq!(of("Write", json!({ "file_path": "a" })).as_deref(), Some("Write"));
        assert_eq!(of("mcp__jira__get", json!({})).as_deref(), Some("mcp__jira__get"));
        let fetch = of("WebFetch", json!({ "url": "https://docs.rs/x?y" }));
        assert_eq!(fetch.as_deref(), Some("WebFetch(domain:docs.rs)"));
        assert_eq!(of("WebFetch", json!({ "url": "https://a@evil/" })), None);
        assert_eq!(of("request_permissions", json!({})), None);
        assert_eq!(of("tool", json!({})), None);
        assert_eq!(of("touch x", json!({})), None);
        assert_eq!(pattern_of("Bash", "{\"command\": \"cut off…"), None, "not the whole input");
    }
}
