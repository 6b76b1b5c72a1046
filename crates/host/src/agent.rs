//! Kinds of agents: how each is started, and what it says. Pure: a brief in, a plan out; a line in,
//! steps out. Nothing here starts, streams or stores anything.
//!
//! A kind is one folder under `agent/`, with a file of its name beside it, and one line in [`KINDS`]. Its conversation is a small state
//! machine that can be written down and taken up again, because the server may be killed at any
//! line. Every `Say` follows from a line or from a request, so that saying it twice can be recognised.

mod acp;
mod claude;
mod codex;
mod command;
mod credentials;
#[cfg(test)]
mod formats;
mod notes;
mod outcome;
mod probe;
#[cfg(test)]
mod replay;
mod report;
mod rpc;
mod script;
mod settling;
mod transcript;
mod user_servers;

use std::fmt;
use std::path::{Path, PathBuf};

use model::Timestamp;
use model::money::Usd;
use serde_json::Value;

pub use claude::{MCP_CONFIG, mcp_config};
pub use probe::Probes;
pub use transcript::{EntryKind, SUMMARY_FIELDS, TranscriptEntry, read_transcript, summary_field};
pub use user_servers::{PROJECT_FILE, UserServer, may_use, read_servers};

use crate::run::{OutputLine, Stdin, Variables};

/// Every kind.
pub static KINDS: &[&dyn Kind] =
    &[&claude::Claude, &codex::Codex, &acp::Acp, &command::Command, &script::Script];

/// Placeholder for the agent's token in [`Step::Whisper`].
pub const TOKEN: &str = "${ADJUTANT_TOKEN}";

/// The kind of that name.
pub fn kind(name: &str) -> Option<&'static dyn Kind> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}

/// Kind whose lines are shown as they are; the output of set-ups is read like its.
pub const PLAIN_KIND: &str = command::NAME;

/// Keys of role files that name programs, with their kinds. Where a file names no kind, the first of these keys that it
/// has decides: those that a kind cannot do without come first, and paths last.
pub fn role_keys() -> Vec<(&'static dyn Kind, RoleKey)> {
    let with_key = |kind: &&'static dyn Kind| Some((*kind, kind.role_key()?));
    let mut keys: Vec<_> = KINDS.iter().filter_map(with_key).collect();
    keys.sort_by_key(|(_, key)| (key.is_path, !key.is_required));
    keys
}

/// A kind of agent.
pub trait Kind: Sync {
    /// Its name in roles and in the record.
    fn name(&self) -> &'static str;

    /// Capabilities of the kind.
    fn supports(&self) -> Supports;

    /// Its part of the configuration file: its settings with their defaults, explained, as YAML.
    fn config(&self) -> &'static str;

    /// Command that installs its program; none where the role or Adjutant itself is the program.
    fn install(&self) -> Option<&'static str> {
        self.probes().map(|probes| probes.install)
    }

    /// Key of a role's file that names its program; none where only the configuration does.
    fn role_key(&self) -> Option<RoleKey> {
        None
    }

    /// How templates and the tools of `agents` start it; none where they cannot.
    fn spawn_defaults(&self) -> Option<SpawnDefaults> {
        None
    }

    /// What a person does when its provider refuses its credentials, as an imperative sentence without an end.
    fn login_advice(&self) -> &'static str {
        "give it valid credentials"
    }

    /// Why programs that have a login cannot be asked about it; none where they have none, or [`probes`](Self::probes)
    /// ask them.
    fn login_unknown(&self) -> Option<&'static str> {
        None
    }

    /// How to get programs that only roles name.
    fn install_advice(&self) -> &'static str {
        "install it"
    }

    /// Short runs of its program; none where only a role names the program.
    fn probes(&self) -> Option<Probes> {
        None
    }

    /// Builds the plan to start it.
    fn plan(&self, brief: &Brief) -> Result<Plan, PlanError>;

    /// Files of the user and the project that name MCP servers for the program itself.
    fn config_files(&self, _place: &ConfigPlace<'_>) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The MCP servers in such a file that concern a project.
    fn own_servers(&self, _config: &str, _project: &Path) -> Vec<UserServer> {
        Vec::new()
    }

    /// How the program takes the servers of those files.
    fn own_servers_use(&self) -> OwnServers {
        OwnServers::Given
    }

    /// A conversation that has not begun.
    fn conversation(&self, brief: &Brief) -> Box<dyn Conversation>;

    /// The conversation that was written down by [`Conversation::snapshot`].
    fn restore(&self, snapshot: &str) -> Result<Box<dyn Conversation>, SnapshotError>;

    /// Reads a line of its standard output or input for people who watch.
    fn transcript(&self, line: &OutputLine) -> Vec<TranscriptEntry>;
}

/// Where a program looks for its configuration.
pub struct ConfigPlace<'a> {
    /// Its working directory
    pub directory: &'a Path,
    /// The role's command, where it names one
    pub command: &'a [String],
    /// Finds a variable of its environment
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl fmt::Debug for ConfigPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigPlace").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// How a program takes the MCP servers of its own configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnServers {
    /// It has those alone that it is given
    Given,
    /// It loads them itself, and leaves those that are disabled by name
    Loaded,
}

/// Capabilities of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a table of independent facts")]
pub struct Supports {
    /// It can be told something while it runs
    pub wake: bool,
    /// A later process can go on with its conversation
    pub resume: bool,
    /// It says itself what it cost
    pub cost: bool,
    /// It has a place for a system prompt; else the role's prompt comes first in the prompt
    pub system_prompt: bool,
    /// It asks before it uses a tool that it was not given
    pub permissions: bool,
    /// It can be held to a schema
    pub schema: bool,
    /// The configuration's default model is one of its models
    pub default_model: bool,
    /// Lines of its output without a meaning for us are words for people who watch
    pub plain_output: bool,
    /// Files of the project that it reads by itself
    pub reads: &'static [&'static str],
}

/// Key of a role's file that names the program of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleKey {
    /// Its name
    pub name: &'static str,
    /// True if the kind cannot be played without it
    pub is_required: bool,
    /// True if it is a path, relative to the project
    pub is_path: bool,
}

/// What an agent gets that a template or a tool of `agents` starts, where its request says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpawnDefaults {
    /// Name of the kind in descriptions of tools
    pub title: &'static str,
    /// The model; the configuration's default where absent
    pub model: Option<&'static str>,
    /// The agent's own tools; all of them where absent
    pub tools: Option<&'static [&'static str]>,
    /// Time limit in seconds
    pub timeout: u32,
}

/// Input for starting an agent. Everything is decided; a kind only translates it into its own command.
#[derive(Debug, Clone)]
pub struct Brief {
    /// The agent's id
    pub agent: String,
    /// The whole prompt
    pub prompt: String,
    /// The role's prompt, for kinds that have a place for it
    pub system_prompt: Option<String>,
    /// The model
    pub model: Option<String>,
    /// Its own tools it may use; all of them where absent
    pub tools: Option<Vec<String>>,
    /// Its own tools it may not use
    pub disallowed_tools: Vec<String>,
    /// Policy for a tool that is in neither list
    pub asks: Asks,
    /// The MCP servers it is given; the token for them is in `ADJUTANT_TOKEN`
    pub servers: Vec<McpServer>,
    /// The project's and the user's MCP servers that it is given; never Adjutant
    pub user_servers: Vec<UserServer>,
    /// Servers that its program loads from the user's own files, and that its role leaves it
    pub own_servers: Vec<String>,
    /// Servers of the user's own files that it must not load
    pub disabled_servers: Vec<String>,
    /// Variables of its environment, whose values servers may name
    pub variables: Variables,
    /// Timeout of a tool call, in milliseconds
    pub call_timeout_ms: u64,
    /// Stream timeout of Claude Code, in milliseconds
    pub stream_timeout_ms: u64,
    /// JSON Schema of the result
    pub schema: Option<Value>,
    /// The conversation to go on with
    pub resume: Option<String>,
    /// Where it works
    pub directory: PathBuf,
    /// The folder for files of this run, which exists and is private
    pub run_folder: PathBuf,
    /// Settings of this kind
    pub runner: Runner,
    /// Program of the role: the command, the ACP agent, or the scenario's path
    pub command: Vec<String>,
    /// The sandbox that the kind has itself, where it has one: `read-only`, `workspace-write` or
    /// `danger-full-access`
    pub own_sandbox: Option<String>,
    /// Adjutant itself, which plays scenarios
    pub adjutant: PathBuf,
}

impl Brief {
    /// The value of a variable of its environment.
    fn variable(&self, name: &str) -> Option<String> {
        let found = self.variables.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    }
}

/// Policy for a request that is neither allowed nor denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// It may
    Allow,
    /// It may not
    Deny,
    /// A person decides
    Person,
}

/// An MCP server that an agent is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its name, which is the toolset's
    pub name: String,
    /// Where it is
    pub url: String,
}

/// Settings of a kind in the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runner {
    /// The program; none where the role names it
    pub binary: Option<String>,
    /// Arguments that come before all others
    pub arguments: Vec<String>,
    /// True to run Codex as a steerable app server
    pub steer: bool,
}

/// The command that starts an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The program: a path, or a name to be looked for in `PATH`
    pub program: String,
    /// Installation hint for a missing program
    pub install: &'static str,
    /// Its arguments; no secret is among them
    pub arguments: Vec<String>,
    /// Environment variables in addition to those of every agent
    pub environment: Vec<(String, String)>,
    /// Files to be written into the run folder first, readable by the owner alone
    pub files: Vec<(String, String)>,
    /// Where its standard input comes from
    pub stdin: Stdin,
    /// What it does not get of what it was to be given, and why
    pub warnings: Vec<String>,
}

/// A role or a configuration that cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct PlanError {
    /// Description of the problem and where to fix it
    pub problem: String,
}

/// A conversation that cannot be taken up again.
#[derive(Debug, thiserror::Error)]
#[error("the notes of this conversation are not readable")]
pub struct SnapshotError(#[from] pub serde_json::Error);

/// One agent's side of the talk: what to say to it, and what its words mean.
pub trait Conversation: Send + Sync + fmt::Debug {
    /// Opening messages, once the process runs.
    fn begin(&mut self) -> Vec<Step>;

    /// Interprets a line of output. Our own lines are passed too, as `Stream::In`.
    fn line(&mut self, line: &OutputLine) -> Vec<Step>;

    /// Tells it something while it runs; nothing where it cannot be told (any more).
    fn tell(&mut self, text: &str) -> Vec<Step>;

    /// Answers what it asked with [`Event::Asked`].
    fn answer(&mut self, request: &str, verdict: PermissionVerdict) -> Vec<Step>;

    /// Asks it to stop what it does, before the process is ended.
    fn interrupt(&mut self) -> Vec<Step>;

    /// Concludes the conversation: called once, after the process has ended and all output was read.
    fn end(&mut self) -> Vec<Step> {
        Vec::new()
    }

    /// Everything that a later process needs to go on.
    fn snapshot(&self) -> String;
}

/// Answer of a person or the policy to a permission request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionVerdict {
    /// Yes, this once
    Allow,
    /// No, because
    Deny(String),
}

/// Consequence of a line.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Say this, a whole line without its end
    Say(String),
    /// Say this with the agent's token where [`TOKEN`] stands. The record keeps the line as it is
    /// here: no conversation, no snapshot and no file of output ever holds the token itself
    Whisper(String),
    /// Say nothing more: close its input
    Close,
    /// This happened
    Saw(Event),
}

/// Something that an agent did, in words that all kinds share.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The conversation has a name by which it can be taken up again
    Conversation(String),
    /// Model in use
    Model(String),
    /// It wrote a message; whole messages, not pieces
    Text(String),
    /// It began to use a tool
    ToolBegan {
        /// By which the end is recognised
        id: String,
        /// The tool: its own, or `mcp__<toolset>__<tool>`
        name: String,
        /// Input; at most 2,000 characters of JSON
        input: String,
    },
    /// The use of a tool is over
    ToolEnded {
        /// As in `ToolBegan`
        id: String,
        /// Error, at most 200 characters
        error: Option<String>,
    },
    /// It used tokens, beside those told before
    Usage(Usage),
    /// Total cost so far, as reported by the agent
    Cost(Usd),
    /// It asks whether it may use a tool
    Asked {
        /// By which the answer is recognised
        request: String,
        /// The tool
        tool: String,
        /// Proposed input; at most 2,000 characters of JSON
        input: String,
    },
    /// It was refused a tool
    Refused {
        /// The tool
        tool: String,
    },
    /// Its model does not answer it for a while
    Limited {
        /// Until when, where it says so
        until: Option<Timestamp>,
    },
    /// Its provider refuses its credentials, in these words: it cannot go on
    Unauthorized(String),
    /// Something odd that a person may want to know
    Warning(String),
    /// It is done. The last one counts
    Done(EndReport),
}

/// Tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read, without those from a cache
    pub input: u64,
    /// Written
    pub output: u64,
    /// Read from a cache
    pub cache_read: u64,
    /// Written to a cache
    pub cache_write: u64,
}

/// An agent's own account of its end.
#[derive(Debug, Clone, PartialEq)]
pub struct EndReport {
    /// Verdict of the agent
    pub verdict: EndReportStatus,
    /// Its last words
    pub text: String,
    /// Its result as a value, where it gave one
    pub value: Option<Value>,
}

/// An agent's own verdict on its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReportStatus {
    /// Well
    Success,
    /// It failed, because
    Failure(String),
    /// It was stopped by a bound of its own, such as a number of turns
    Aborted(String),
}
