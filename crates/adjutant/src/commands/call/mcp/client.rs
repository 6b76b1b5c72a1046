//! Clients' configuration: file, position and form. The only place that knows the
//! clients' forms for servers that they start themselves.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::edit::{Entry, Language};
use crate::cli::Client;
use crate::cli_error::CliError;
use crate::environment::Environment;

/// Tools may wait for minutes; clients that give up sooner are told so, in seconds.
const TOOL_TIMEOUT_SECONDS: u32 = 600;

/// Scope of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The project's, for everybody who works in it
    Project,
    /// The user's own, for every project
    Global,
}

impl Scope {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Global => "global",
        }
    }
}

/// Command that a client starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Start {
    /// The program
    pub(super) command: String,
    /// Its arguments
    pub(super) arguments: Vec<String>,
}

impl Start {
    /// True for our own command, in any version and with any flags.
    pub(super) fn is_ours(&self) -> bool {
        let program = Path::new(&self.command).file_stem();
        program.is_some_and(|name| name == "adjutant") && self.arguments.iter().any(|a| a == "mcp")
    }
}

impl Client {
    /// Display name.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Opencode => "OpenCode",
            Self::VsCode => "VS Code",
        }
    }

    /// Name on the command line.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::VsCode => "vscode",
        }
    }

    /// Its program.
    pub(super) const fn program(self) -> &'static str {
        match self {
            Self::VsCode => "code",
            Self::Claude | Self::Codex | Self::Opencode => self.name(),
        }
    }

    /// Language of its file.
    pub(super) const fn language(self) -> Language {
        match self {
            Self::Claude => Language::Json,
            Self::Codex => Language::Toml,
            Self::Opencode | Self::VsCode => Language::JsonWithComments,
        }
    }

    /// The file that it reads.
    pub(super) fn file(
        self,
        scope: Scope,
        root: &Path,
        env: &Environment,
    ) -> Result<PathBuf, CliError> {
        if scope == Scope::Project {
            return Ok(match self {
                Self::Claude => root.join(".mcp.json"),
                Self::Codex => root.join(".codex").join("config.toml"),
                Self::Opencode => opencode(root),
                Self::VsCode => root.join(".vscode").join("mcp.json"),
            });
        }
        let user = env.user_home.clone().ok_or_else(|| {
            CliError::usage("`HOME` is not set, so your own file has no place")
                .hint("set `HOME` to your own folder")
        })?;
        let named = |name: &str| env.variable(name).map(|folder| env.cwd.join(folder));
        let config = || {
            let named = named("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
            named.unwrap_or_else(|| user.join(".config"))
        };
        Ok(match self {
            Self::Claude => named("CLAUDE_CONFIG_DIR").unwrap_or(user).join(".claude.json"),
            Self::Codex => {
                named("CODEX_HOME").unwrap_or_else(|| user.join(".codex")).join("config.toml")
            }
            Self::Opencode => opencode(&config().join("opencode")),
            Self::VsCode => {
                let settings = if cfg!(target_os = "macos") {
                    user.join("Library").join("Application Support")
                } else {
                    config()
                };
                settings.join("Code").join("User").join("mcp.json")
            }
        })
    }

    /// The keys under which its servers stand, in a file that says this.
    pub(super) fn keys(self, says: &Value) -> &'static [&'static str] {
        match self {
            Self::Claude => &["mcpServers"],
            Self::Codex => &["mcp_servers"],
            Self::VsCode => &["servers"],
            // Its second version has a folder for them, and reads the older form too: the older one
            // serves both, unless the file has the newer already.
            Self::Opencode if is_servers(&says["mcp"]["servers"]) => &["mcp", "servers"],
            Self::Opencode => &["mcp"],
        }
    }

    /// A server, in its form.
    pub(super) fn entry(self, start: &Start, says: &Value, role: Option<&str>) -> Entry {
        let (command, arguments) = (json!(start.command), json!(start.arguments));
        let fields = match self {
            Self::Claude => vec![
                ("type", "stdio".into()),
                ("command", command),
                ("args", arguments),
                // Otherwise the tools hide behind a search.
                ("alwaysLoad", true.into()),
                ("timeout", (TOOL_TIMEOUT_SECONDS * 1000).into()),
            ],
            Self::Codex => {
                let timeout = ("tool_timeout_sec", TOOL_TIMEOUT_SECONDS.into());
                let mut fields = vec![("command", command), ("args", arguments), timeout];
                // An agent may do what its role permits. A client that acts as the operator asks a person.
                if role.is_some() {
                    fields.push(("default_tools_approval_mode", "approve".into()));
                }
                fields
            }
            Self::Opencode => {
                let words: Vec<&String> =
                    std::iter::once(&start.command).chain(&start.arguments).collect();
                let mut fields = vec![("type", "local".into()), ("command", json!(words))];
                if self.keys(says).len() == 1 {
                    fields.push(("enabled", true.into()));
                }
                fields
            }
            Self::VsCode => {
                vec![("type", "stdio".into()), ("command", command), ("args", arguments)]
            }
        };
        Entry(fields)
    }

    /// Command of an entry, if any.
    pub(super) fn start_of(entry: &Value) -> Option<Start> {
        let words = |list: &Value| -> Vec<String> {
            let words = list.as_array().into_iter().flatten().filter_map(Value::as_str);
            words.map(str::to_owned).collect()
        };
        if let Some(command) = entry["command"].as_str() {
            return Some(Start { command: command.to_owned(), arguments: words(&entry["args"]) });
        }
        let mut words = words(&entry["command"]).into_iter();
        let command = words.next()?;
        Some(Start { command, arguments: words.collect() })
    }

    /// Advice after a change.
    pub(super) const fn next(self, scope: Scope) -> &'static str {
        match (self, scope) {
            (Self::Claude, Scope::Project) => {
                "Start Claude Code anew in this project and allow the server when it asks; \
                 `/mcp` there, or `claude mcp list`, shows it."
            }
            (Self::Claude, Scope::Global) => {
                "Restart Claude Code; `/mcp` there, or `claude mcp list`, shows it."
            }
            (Self::Codex, Scope::Project) => {
                "Start Codex anew in this project and trust the project when it asks, else Codex \
                 leaves the file out; `/mcp` there, or `codex mcp list`, shows it."
            }
            (Self::Codex, Scope::Global) => {
                "Restart Codex; `/mcp` there, or `codex mcp list`, shows it."
            }
            (Self::Opencode, _) => "Restart OpenCode; `opencode mcp list` shows it.",
            (Self::VsCode, _) => {
                "In VS Code, `MCP: List Servers` of the command palette shows it; start it there, \
                 and allow it when it asks."
            }
        }
    }
}

/// The file of opencode in a folder: with comments where there is such a one.
fn opencode(folder: &Path) -> PathBuf {
    let with_comments = folder.join("opencode.jsonc");
    if with_comments.exists() { with_comments } else { folder.join("opencode.json") }
}

/// True for a map of servers rather than a server of that name.
fn is_servers(value: &Value) -> bool {
    let own = ["type", "command", "url", "enabled"];
    value.as_object().is_some_and(|map| {
        !own.iter().any(|key| map.get(*key).is_some_and(|value| !value.is_object()))
    })
}
