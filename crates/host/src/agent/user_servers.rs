//! MCP servers that people have configured for their own programs: in the project's `.mcp.json` and in the files of the
//! client. Roles choose among them.
//!
//! What stands in such a file may be secret, its environment and headers above all. Values reach a program only through
//! a file of its run that its owner alone can read, or through variables of its environment, called slots here.

use std::fmt;
use std::path::Path;

use model::redact::is_secret_name;
use serde_json::{Map, Value};

use crate::run::SLOT_PREFIX;

/// The project's file.
pub const PROJECT_FILE: &str = ".mcp.json";

/// A configured server, in Claude Code's form. Its `Debug` output has the name alone.
#[derive(Clone, PartialEq, Eq)]
pub struct UserServer {
    /// Its name
    pub name: String,
    /// What the file says about it
    pub config: Value,
}

impl fmt::Debug for UserServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UserServer").field(&self.name).finish()
    }
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Transport {
    /// By starting a program
    Stdio { words: Vec<String>, environment: Vec<(String, String)> },
    /// At an address
    Http { kind: HttpKind, url: String, headers: Vec<(String, String)> },
}

/// Kind of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HttpKind {
    Streamable,
    Events,
}

impl UserServer {
    /// Returns whether it is Adjutant: an agent must not come in as its user.
    pub fn is_adjutant(&self, adjutant: &Path) -> bool {
        let words = strings(&self.config["command"]).chain(strings(&self.config["args"]));
        self.name == "adjutant" || starts_adjutant(words, adjutant)
    }

    /// The secrets that stand in its configuration: what it is given in variables of a secret's name, and in headers.
    pub fn secrets(&self) -> Vec<String> {
        let variables = pairs(&self.config["env"]).into_iter();
        let variables = variables.filter(|(name, _)| is_secret_name(name)).map(|(_, value)| value);
        let headers = pairs(&self.config["headers"]).into_iter().map(|(_, value)| {
            value.split_once(' ').map_or_else(|| value.clone(), |(_, secret)| secret.to_owned())
        });
        variables.chain(headers).filter(|value| !value.contains("${")).collect()
    }

    /// How it is reached.
    pub(super) fn transport(&self) -> Result<Transport, String> {
        let wrong = |what: &str| format!("the MCP server `{}` {what}", self.name);
        let config = &self.config;
        if let Some(command) = config["command"].as_str() {
            let words = std::iter::once(command).chain(strings(&config["args"]));
            return Ok(Transport::Stdio {
                words: words.map(str::to_owned).collect(),
                environment: pairs(&config["env"]),
            });
        }
        let url = config["url"].as_str();
        let url = url.ok_or_else(|| wrong("has neither a `command` nor a `url`"))?.to_owned();
        let kind = match config["type"].as_str() {
            Some("http" | "streamable-http") | None => HttpKind::Streamable,
            Some("sse") => HttpKind::Events,
            Some(other) => return Err(wrong(&format!("has the unknown type `{other}`"))),
        };
        Ok(Transport::Http { kind, url, headers: pairs(&config["headers"]) })
    }
}

/// Reads the servers of a document with `mcpServers` in it.
pub fn read_servers(text: &str) -> Result<Vec<UserServer>, String> {
    let document: Value =
        serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))?;
    match document.get("mcpServers") {
        None => Ok(Vec::new()),
        Some(servers) => servers_in(servers),
    }
}

/// The servers of an object by their names.
pub(super) fn servers_in(servers: &Value) -> Result<Vec<UserServer>, String> {
    let servers = servers.as_object().ok_or("has `mcpServers` that are no object")?;
    let server = |(name, config): (&String, &Value)| {
        if !is_name(name) {
            return Err(format!(
                "names the MCP server `{name}`; letters, digits, `-`, `_` and `.` only"
            ));
        }
        if !config.is_object() {
            return Err(format!("has no object for the MCP server `{name}`"));
        }
        Ok(UserServer { name: name.clone(), config: config.clone() })
    };
    servers.iter().map(server).collect()
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.len() <= 100 && name.chars().all(fits)
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    let one = value.as_str();
    one.into_iter().chain(value.as_array().into_iter().flatten().filter_map(Value::as_str))
}

fn pairs(value: &Value) -> Vec<(String, String)> {
    let pair = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    value.as_object().map(Map::iter).into_iter().flatten().filter_map(pair).collect()
}

/// Returns whether one of the words of a command names Adjutant: it may be started through `env`, `sh -c` or `npx`.
pub(super) fn starts_adjutant<'a>(words: impl Iterator<Item = &'a str>, adjutant: &Path) -> bool {
    words.flat_map(|word| word.split([' ', '\t', '\n', ';', '&', '|', '"', '\''])).any(|word| {
        let path = Path::new(word);
        path == adjutant || path.file_name().is_some_and(|name| name == "adjutant")
    })
}

/// Returns whether an entry of a role's `tools` covers a tool: its name, a pattern such as `mcp__github__*`, or a
/// server such as `mcp__github`.
pub(super) fn covers(entry: &str, tool: &str) -> bool {
    if entry == tool {
        return true;
    }
    if !entry.starts_with("mcp__") {
        return false;
    }
    if entry.contains('*') {
        return matches(entry, tool);
    }
    !entry.trim_start_matches("mcp__").contains("__")
        && tool.strip_prefix(entry).is_some_and(|rest| rest.starts_with("__"))
}

/// Matches a pattern in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|head| text.strip_prefix(head)) else {
        return false;
    };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// Returns whether a list covers every tool of a server.
pub(super) fn covers_server(list: &[String], server: &str) -> bool {
    // No tool has such a name, so that only what stands for any covers it.
    list.iter().any(|entry| covers(entry, &format!("mcp__{server}__\u{1}")))
}

/// The tools of a server that a list has by their names, or the entry for a part of them.
pub(super) fn tools_of_server<'a>(
    list: &'a [String],
    server: &str,
) -> impl Iterator<Item = Result<&'a str, &'a str>> {
    let prefix = format!("mcp__{server}__");
    list.iter().filter_map(move |entry| {
        let head = entry.split('*').next().unwrap_or_default();
        match entry.strip_prefix(&prefix) {
            Some(tool) if !entry.contains('*') => Some(Ok(tool)),
            Some(_) => Some(Err(entry.as_str())),
            None if entry.contains('*')
                && entry.starts_with("mcp__")
                && prefix.starts_with(head) =>
            {
                Some(Err(entry.as_str()))
            }
            None => None,
        }
    })
}

/// Returns whether a role that has these lists may use some tool of a server.
pub fn may_use(tools: Option<&[String]>, disallowed: &[String], server: &str) -> bool {
    let is_allowed = tools.is_none_or(|tools| {
        covers_server(tools, server) || tools_of_server(tools, server).next().is_some()
    });
    is_allowed && !covers_server(disallowed, server)
}

/// A variable that hands a value on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(usize);

impl Slot {
    /// Its name.
    pub(super) fn name(self) -> String {
        format!("{SLOT_PREFIX}{}", self.0)
    }

    /// Its place in a line that is sent with the values of variables.
    pub(super) fn placeholder(self) -> String {
        format!("${{{}}}", self.name())
    }
}

/// The variables that hand values of servers on. The same servers have the same ones, whatever the values.
#[derive(Default)]
pub(super) struct Slots(Vec<String>);

impl Slots {
    /// Puts a value, in which variables are not expanded yet, into the next one.
    pub(super) fn put(&mut self, text: &str) -> Slot {
        self.0.push(text.to_owned());
        Slot(self.0.len())
    }

    /// The variables with their values.
    pub(super) fn variables(&self, variable: Lookup<'_>) -> Vec<(String, String)> {
        let slot =
            |(index, text): (usize, &String)| (Slot(index + 1).name(), expanded(text, variable));
        self.0.iter().enumerate().map(slot).collect()
    }
}

/// Finds the value of a variable.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A text with `${NAME}` and `${NAME:-default}` replaced, as Claude Code does it; what is not set stays as it is.
pub(super) fn expanded(text: &str, variable: Lookup<'_>) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        whole.push_str(before);
        let Some((inside, behind)) = after.split_once('}') else {
            whole.push_str("${");
            rest = after;
            continue;
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        match variable(name).or_else(|| default.map(str::to_owned)) {
            Some(value) => whole.push_str(&value),
            None => whole.extend(["${", inside, "}"]),
        }
        rest = behind;
    }
    whole + rest
}

/// Returns whether a text takes the value of a variable that holds a secret.
pub(super) fn takes_secret(text: &str) -> bool {
    let names = text.split("${").skip(1).filter_map(|rest| rest.split(['}', ':']).next());
    names.into_iter().any(is_secret_name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn server(config: Value) -> UserServer {
        UserServer { name: "one".to_owned(), config }
    }

    #[test]
    fn adjutant_is_recognised_by_its_command() {
        let adjutant = Path::new("/usr/bin/crew");
        for config in [
            json!({ "command": "adjutant", "args": ["mcp"] }),
            json!({ "command": "/opt/bin/adjutant" }),
            json!({ "command": "sh", "args": ["-c", "exec env X=1 /usr/bin/crew mcp"] }),
        ] {
            assert!(server(config.clone()).is_adjutant(adjutant), "{config}");
        }
        assert!(
            !server(json!({ "command": "npx", "args": ["-y", "server-github"] }))
                .is_adjutant(adjutant)
        );
        assert!(!server(json!({ "url": "https://adjutant.example/mcp" })).is_adjutant(adjutant));
    }

    #[test]
    fn patterns_of_a_role_cover_servers_and_tools() {
        for (entry, is_covered) in [
            ("mcp__github__*", true),
            ("mcp__github", true),
            ("mcp__*", true),
            ("mcp__github__get_*", true),
            ("mcp__github__*_issue", true),
            ("mcp__github__get_issue", true),
            ("mcp__github__list_*", false),
            ("mcp__git__*", false),
            ("mcp__gith", false),
            ("Bash(mcp__github__get_issue)", false),
            ("*", false),
        ] {
            assert_eq!(covers(entry, "mcp__github__get_issue"), is_covered, "{entry}");
        }
        let tools = ["Read", "mcp__github__get_*", "mcp__jira__find"].map(str::to_owned);
        assert!(may_use(Some(&tools), &[], "github") && may_use(Some(&tools), &[], "jira"));
        assert!(!may_use(Some(&tools), &[], "slack") && may_use(None, &[], "slack"));
        assert!(!may_use(None, &["mcp__slack".to_owned()], "slack"));
        assert!(covers_server(&["mcp__jira__*".to_owned()], "jira"));
        assert!(!covers_server(&["mcp__jira__f*".to_owned()], "jira"));
    }

    #[test]
    fn variables_are_expanded_as_claude_code_does_it() {
        let variable = |name: &str| (name == "TOKEN").then(|| "t0p".to_owned());
        assert_eq!(expanded("Bearer ${TOKEN}!", &variable), "Bearer t0p!");
        assert_eq!(expanded("${NONE:-x}${NONE}$${", &variable), "x${NONE}$${");
        assert!(takes_secret("a${API_KEY:-x}") && !takes_secret("${HOST}/${"));
    }

    #[test]
    fn a_file_that_is_odd_says_what_is_wrong() {
        for (text, problem) in [
            ("{", "is not JSON"),
            (r#"{"mcpServers": []}"#, "no object"),
            (r#"{"mcpServers": {"a b": {}}}"#, "`a b`"),
            (r#"{"mcpServers": {"a": 3}}"#, "`a`"),
        ] {
            assert!(read_servers(text).unwrap_err().contains(problem), "{text}");
        }
        assert!(server(json!({})).transport().is_err_and(|problem| problem.contains("`one`")));
        assert!(server(json!({ "url": "x", "type": "ws" })).transport().is_err());
        let text = format!("{:?}", server(json!({ "env": { "KEY": "s3cret" } })));
        assert!(!text.contains("s3cret"), "{text}");
    }
}
