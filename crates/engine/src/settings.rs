//! What an engine is told from outside: permissions, roles, limits. Read elsewhere, plain here.

use std::collections::BTreeMap;

use model::Policy;
use model::policy::Rules;

/// The settings in force. Replaced whole when the operator says `reload`.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What each category may do
    pub policy: Policy,
    /// The roles by name
    pub roles: BTreeMap<String, Role>,
    /// Numbers that bound things
    pub limits: Limits,
}

/// A role: a prompt, and how whoever plays it is run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Role {
    /// Its name
    pub name: String,
    /// Its category
    pub category: String,
    /// Its name for people
    pub display_name: Option<String>,
    /// What it is for
    pub description: Option<String>,
    /// The kind of agent that plays it; the configuration's default where absent
    pub kind: Option<String>,
    /// What a `command` agent runs: a program and its arguments
    pub command: Vec<String>,
    /// What an `acp` agent runs: a program and its arguments
    pub acp: Vec<String>,
    /// The scenario of a `script` agent, a path relative to the project
    pub script: Option<String>,
    /// The model; the configuration's default where absent, the parent's where `inherit`
    pub model: Option<String>,
    /// The agent's own tools it may use; all of them where absent
    pub tools: Option<Vec<String>>,
    /// The agent's own tools it may not use
    pub disallowed_tools: Vec<String>,
    /// Where it works, relative to the project
    pub cwd: Option<String>,
    /// How long it may run, in seconds
    pub timeout: Option<u32>,
    /// How long it may be silent, in seconds; its category's limit where absent
    pub inactivity: Option<u32>,
    /// What it may spend
    pub budget: Budget,
    /// Which worktree it works in; decided by its category where absent
    pub worktree: Option<Worktree>,
    /// Whether a tmux session shows its stream
    pub tmux: bool,
    /// What it is shut into
    pub sandbox: Sandbox,
    /// Its own permissions, beside its category's
    pub rules: Rules,
    /// Keys of the file that mean nothing here, kept as they stood
    pub other: BTreeMap<String, serde_json::Value>,
    /// The prompt
    pub prompt: String,
}

/// What may be spent. An absent cap is no cap.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// Dollars
    pub usd: Option<f64>,
    /// Tokens, in and out
    pub tokens: Option<u64>,
    /// Agents started
    pub agents: Option<u32>,
    /// Seconds of running
    pub seconds: Option<u64>,
}

/// Which worktree an agent works in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worktree {
    /// None: the project itself
    None,
    /// One of its own
    Fresh,
    /// Its parent's
    Parent,
}

/// What an agent is shut into.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// Nothing
    #[default]
    None,
    /// A bubblewrap sandbox, which hides the operator's secrets
    Bwrap,
}

/// Numbers that bound things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How deep agents may start agents
    pub depth: u32,
    /// How many agents run at once; the rest queue
    pub running: u32,
    /// How many children an agent may have
    pub children: u32,
    /// How long a prompt may be
    pub max_prompt_bytes: u64,
    /// How much of an agent's output is kept
    pub max_output_bytes: u64,
    /// How many calls an agent may make in a minute; 0 is no limit
    pub calls_per_minute: u32,
    /// How long a step of git, GitHub or tmux may take
    pub tool_timeout_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 3,
            running: 8,
            children: 16,
            max_prompt_bytes: 1 << 20,
            max_output_bytes: 256 << 20,
            calls_per_minute: 6000,
            tool_timeout_ms: 30_000,
        }
    }
}
