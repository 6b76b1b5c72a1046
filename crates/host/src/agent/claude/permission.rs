//! Permissions for Claude Code's own tools.

use serde::{Deserialize, Serialize};

use super::super::notes::AsksNote;
use super::super::user_servers::covers;
use super::super::{Asks, Brief};
use super::plan::disallowed;

/// The rules of one run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Permission {
    /// Tools it may use; all where absent
    tools: Option<Vec<String>>,
    /// Tools it may not use
    disallowed: Vec<String>,
    /// Prefixes of its MCP tools
    servers: Vec<String>,
    #[serde(with = "AsksNote")]
    asks: Asks,
}

/// Decision of the rules on a tool.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    Allow,
    /// No, and this is what the model reads
    Deny(String),
    /// A person decides
    Ask,
}

impl Permission {
    pub(super) fn new(brief: &Brief) -> Self {
        Self {
            tools: brief.tools.clone(),
            disallowed: disallowed(brief),
            servers: brief.servers.iter().map(|server| format!("mcp__{}__", server.name)).collect(),
            asks: brief.asks,
        }
    }

    /// Applies the rules to a requested tool.
    ///
    /// Only whole names count here, and patterns of MCP tools. Of an entry such as `Bash(git *)` Claude Code knows itself what
    /// it covers, and asks only for the rest.
    pub(super) fn rule(&self, tool: &str) -> Ruling {
        let named = |names: &[String]| names.iter().any(|name| covers(name, tool));
        if named(&self.disallowed) {
            return Ruling::Deny(self.no(tool));
        }
        if self.servers.iter().any(|server| tool.starts_with(server)) {
            return Ruling::Allow;
        }
        match (&self.tools, self.asks) {
            (Some(tools), _) if named(tools) => Ruling::Allow,
            (_, Asks::Person) => Ruling::Ask,
            (None, _) | (Some(_), Asks::Allow) => Ruling::Allow,
            (Some(_), Asks::Deny) => Ruling::Deny(self.no(tool)),
        }
    }

    fn no(&self, tool: &str) -> String {
        let has = match self.tools.as_deref() {
            None => "You have all others".to_owned(),
            Some([]) => "You have those of your MCP servers".to_owned(),
            Some(tools) => format!("You have: {}", tools.join(", ")),
        };
        format!("You were not given this use of `{tool}`. {has}. Go on without it.")
    }
}
