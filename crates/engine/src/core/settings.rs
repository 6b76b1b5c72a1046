//! Settings of an engine: permissions, roles, limits. Parsed elsewhere.

mod looping;
mod programs;
mod reactions;
mod retention;
mod review;
mod slack;
mod webhook;
mod worktrees;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use host::agent::{Kind, UserServer};
use model::Policy;
use model::policy::Rules;
use model::review::ReviewRequired;
use serde::{Deserialize, Serialize};

pub use self::looping::{HookSettings, LoopSettings};
pub use self::programs::Programs;
pub(crate) use self::reactions::EndReaction;
pub use self::reactions::EndReactions;
pub use self::retention::RetentionSettings;
pub use self::review::{
    CheckSettings, GithubSettings, OfficeSettings, PlanSettings, ReviewSettings,
};
pub use self::slack::{RoutingRule, RoutingSettings, SlackReactions, SlackSettings};
pub(crate) use self::webhook::decode as webhook_key;
pub use self::webhook::{Secret, WebhookForm, WebhookKey, WebhookSettings, shown as shown_url};
pub use self::worktrees::{SetupSettings, WorktreeSettings};
use crate::core::rights::EarlierRights;

/// Variables that are handed on from a person's shell to agents of every kind.
pub(crate) const ALWAYS_HANDED_ON: [&str; 3] = ["PATH", "SSH_AUTH_SOCK", "VIRTUAL_ENV"];

/// The settings in force. Replaced whole when the operator says `reload`.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The project's root
    pub project: PathBuf,
    /// Permissions by category
    pub policy: Policy,
    /// The roles by name
    pub roles: BTreeMap<String, Role>,
    /// Last readable version of each role whose file is broken or gone. Its live agents keep these rules; no new agent
    /// gets them.
    pub last_good_roles: BTreeMap<String, Role>,
    /// Rights that were in force before and still bound live agents, the oldest first; the engine sets them
    pub earlier_rights: Vec<EarlierRights>,
    /// Numbers that bound things
    pub limits: Limits,
    /// Model aliases
    pub models: Models,
    /// The kind of a role that names none
    pub default_kind: String,
    /// Settings of each kind, by name
    pub runners: BTreeMap<String, Runner>,
    /// MCP servers of the project's `.mcp.json`
    pub project_servers: Vec<UserServer>,
    /// Variables that agents of every kind and the set-up of worktrees get
    pub environment: SharedEnvironment,
    /// Policy for a request that the role does not name
    pub asks: Asks,
    /// Default budget of an agent without a parent
    pub root_budget: Budget,
    /// Amount that a child without a cap reserves of the caps above it
    pub child_reserve: ChildReserve,
    /// Prices of models that do not report costs, by name prefix
    pub prices: BTreeMap<String, Price>,
    /// Project context for agents
    pub context: ContextSettings,
    /// Stream timeout of Claude Code, in milliseconds
    pub stream_timeout_ms: u64,
    /// Prepared prompts, by name
    pub templates: BTreeMap<String, Template>,
    /// The review loop
    pub review: ReviewSettings,
    /// Custom review prompt of the home
    pub review_template: Option<String>,
    /// Worktree settings
    pub worktrees: WorktreeSettings,
    /// GitHub
    pub github: GithubSettings,
    /// The office
    pub office: OfficeSettings,
    /// Plans
    pub plan: PlanSettings,
    /// Loops
    pub loops: LoopSettings,
    /// Check that a branch must pass before its merge
    pub check: Option<CheckSettings>,
    /// Webhook endpoints
    pub webhooks: Vec<WebhookSettings>,
    /// Slack
    pub slack: SlackSettings,
    /// Routing of messages to roles
    pub routing: RoutingSettings,
    /// Ages at which old data is removed
    pub retention: RetentionSettings,
    /// Reactions to an agent's end; the engine sets them
    pub end_reactions: EndReactions,
}

impl Settings {
    /// The role of that name as it applies to agents that have it already: as read, else as it could last be read.
    pub fn role_of(&self, name: &str) -> Option<&Role> {
        self.roles.get(name).or_else(|| self.last_good_roles.get(name))
    }

    /// Returns whether a variable of that name is handed on from a person's shell to agents of a kind.
    pub fn hands_on(&self, kind: &str, name: &str) -> bool {
        let inherits = self.runners.get(kind).map(|runner| runner.inherits.as_slice());
        ALWAYS_HANDED_ON.contains(&name)
            || inherits.unwrap_or_default().iter().any(|known| known == name)
    }

    /// Names of the variables that are handed on from a person's shell to agents of some kind.
    pub fn handed_on(&self) -> BTreeSet<String> {
        let inherited = self.runners.values().flat_map(|runner| &runner.inherits);
        ALWAYS_HANDED_ON.map(str::to_owned).into_iter().chain(inherited.cloned()).collect()
    }
}

/// Returns whether an agent was made of a bare prompt and so has no role: then its kind is recorded in its place.
pub fn is_bare(role: &str, kind: &str) -> bool {
    role == kind && host::agent::kind(kind).is_some()
}

/// Model aliases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Models {
    /// Where nobody names one
    pub default: Option<String>,
    /// By category
    pub overrides: BTreeMap<String, String>,
}

/// Settings of a kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runner {
    /// The program, its first arguments, and whether it can be steered
    pub launch: host::agent::Runner,
    /// Variables that its agents get beside those that everybody gets
    pub environment: Vec<(String, String)>,
    /// Names of the variables that are handed on from the server's environment, where it has them
    pub inherits: Vec<String>,
}

/// Variables that agents of every kind and the set-up of worktrees get.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedEnvironment {
    /// Names of those that are handed on, from a person's shell or from the server's environment
    pub names: Vec<String>,
    /// Names and values that the server has
    pub values: Vec<(String, String)>,
}

/// Policy for a request that the role does not name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Asks {
    /// The role decides: what it does not name is refused, and one that names nothing may everything
    #[default]
    Role,
    /// A person decides
    Person,
}

/// Price per million tokens, in dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Read
    pub input: f64,
    /// Written
    pub output: f64,
    /// Read from a cache
    pub cache_read: f64,
    /// Written to a cache
    pub cache_write: f64,
}

/// Project context for agents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextSettings {
    /// Files, in this order
    pub files: Vec<ContextFile>,
    /// Total byte limit
    pub size: u64,
}

/// A file that an agent is told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextFile {
    /// Where it is, relative to the project
    pub path: String,
    /// Only so many lines from its beginning
    pub lines: Option<u32>,
    /// Only its first part that is not marked as done
    pub unfinished: bool,
}

/// A prepared prompt that is a tool and a prompt: a file in `templates/`, or one of those built in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Template {
    /// Its name: the tool's and the prompt's
    pub name: String,
    /// Purpose
    pub description: String,
    /// Arguments
    pub arguments: Vec<TemplateArgument>,
    /// The kind that runs it, one with [`SpawnDefaults`](host::agent::SpawnDefaults)
    pub kind: String,
    /// The model
    pub model: Option<String>,
    /// The agent's own tools it may use
    pub tools: Option<Vec<String>>,
    /// Time limit in seconds
    pub timeout: Option<u32>,
    /// The text, with `{{argument}}` where arguments go
    pub text: String,
}

/// Argument of a template.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TemplateArgument {
    /// Its name
    pub name: String,
    /// Kind
    pub description: String,
    /// True if it is required
    pub required: bool,
}

/// A role: a prompt, and how its agents are run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Role {
    /// Its name
    pub name: String,
    /// Its category
    pub category: String,
    /// Its slug
    pub display_name: Option<String>,
    /// Purpose
    pub description: Option<String>,
    /// The kind of agent that plays it; the configuration's default where absent
    pub kind: Option<String>,
    /// Programs of its agents
    #[serde(flatten)]
    pub programs: Programs,
    /// The model; the configuration's default where absent, the parent's where `inherit`
    pub model: Option<String>,
    /// The agent's own tools it may use; all of them where absent
    pub tools: Option<Vec<String>>,
    /// The agent's own tools it may not use
    pub disallowed_tools: Vec<String>,
    /// MCP servers of the project and the client that it is given
    #[serde(default)]
    pub mcp: McpChoice,
    /// Where it works, relative to the project
    pub cwd: Option<String>,
    /// Time limit in seconds
    pub timeout: Option<u32>,
    /// Allowed silence in seconds; its category's limit if absent
    pub inactivity: Option<u32>,
    /// Budget
    pub budget: Budget,
    /// Worktree; decided by its category if absent
    pub worktree: Option<Worktree>,
    /// True if a tmux session shows its stream
    pub tmux: bool,
    /// Sandbox
    pub sandbox: Sandbox,
    /// Review of the work that its agents leave; decided by the configuration if absent
    #[serde(default)]
    pub review_required: Option<ReviewRequired>,
    /// Its own permissions, beside its category's
    pub rules: Rules,
    /// Keys of the file that mean nothing here, kept as they stood
    pub other: BTreeMap<String, serde_json::Value>,
    /// The prompt
    pub prompt: String,
}

/// Choice among the MCP servers of the project and the client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum McpChoice {
    /// All of them
    #[default]
    All,
    /// None of them
    None,
    /// Those of these names
    Names(Vec<String>),
}

impl Role {
    /// The program that agents of a kind run; empty where the role names none.
    pub fn program_of(&self, kind: &dyn Kind) -> &[String] {
        kind.role_key().map(|key| self.programs.get(key.name)).unwrap_or_default()
    }
}

/// Caps on spending. An absent cap is unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
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

/// Amount that a child without a cap reserves. Absent means a tenth of the nearest cap above it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ChildReserve {
    /// Dollars
    pub usd: Option<f64>,
    /// Tokens, in and out
    pub tokens: Option<u64>,
}

/// Choice of an agent's worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Worktree {
    /// None: the project itself
    None,
    /// One of its own
    Fresh,
    /// Its parent's
    Parent,
}

/// Sandbox of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Maximum depth of the agent tree
    pub depth: u32,
    /// Maximum number of running agents; the rest queue
    pub running: u32,
    /// Maximum number of children per agent
    pub children: u32,
    /// Maximum prompt size
    pub max_prompt_bytes: u64,
    /// Maximum output kept per agent
    pub max_output_bytes: u64,
    /// Calls per minute and agent; 0 is no limit
    pub calls_per_minute: u32,
    /// Timeout of a step of git, GitHub or tmux
    pub tool_timeout_ms: u64,
    /// Grace period of an agent after a request to end
    pub grace_ms: u64,
    /// Longest wait for a model's usage limit, in hours
    pub max_limited_hours: u32,
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
            grace_ms: 5_000,
            max_limited_hours: 7 * 24,
        }
    }
}
