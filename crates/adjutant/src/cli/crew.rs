//! The grammar of the commands about agents.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// `run`.
#[derive(Debug, Args)]
pub(crate) struct RunAndWaitArgs {
    /// Print only what came of it, and nothing while it works
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// `run` and `draft`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Run it in this role, a file in `.adjutant/roles/` (default: no role, only the prompt)
    #[arg(long, short, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// Assign this task, by id, slug or number (default: a new task)
    #[arg(long, short, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Run it in this directory (default: that of the role, else the project)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// Run this kind of agent: claude, codex, acp, command or script (default: that of the role)
    #[arg(long, short, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Complete its task at its end, without a review of what it changed
    #[arg(long)]
    pub(crate) no_review: bool,
    /// Limits
    #[command(flatten)]
    pub(crate) bounds: BoundArgs,
    /// Instructions for the agent; - reads stdin
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: String,
}

/// Limits of an agent.
#[derive(Debug, Args)]
pub(crate) struct BoundArgs {
    /// Use this model (default: that of the role or the configuration)
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Limit what it and everything it starts may spend, in dollars
    #[arg(long, short, value_name = "USD", value_parser = super::dollars)]
    pub(crate) budget: Option<f64>,
    /// Limit how long it may run, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u32>,
}

/// `await`.
#[derive(Debug, Args)]
pub(crate) struct AwaitArgs {
    /// Agents: ids, at least four first or last digits of ids, or `last`
    #[arg(value_name = "AGENT", required = true)]
    pub(crate) agents: Vec<String>,
    /// Wait at most this long, in seconds; exits with 1 if an agent still runs then
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
}

/// `kill`.
#[derive(Debug, Args)]
pub(crate) struct KillArgs {
    /// Agents: ids, at least four first or last digits of ids, or `last`
    #[arg(value_name = "AGENT", required = true)]
    pub(crate) agents: Vec<String>,
}

/// `resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Agent: its id, at least four first or last digits of it, or `last`
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
    /// Instructions for the new agent; - reads stdin
    #[arg(value_name = "PROMPT", default_value = "Go on where you stopped.")]
    pub(crate) prompt: String,
    /// Limits
    #[command(flatten)]
    pub(crate) bounds: BoundArgs,
    /// Return without waiting for it
    #[arg(long)]
    pub(crate) detach: bool,
}

/// `logs`.
#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// Agent: its id, at least four first or last digits of it, or `last`
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
    /// Follow the output until the agent ends
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Print the raw lines, stderr to stderr; control sequences reach your terminal
    #[arg(long)]
    pub(crate) raw: bool,
    /// Show only this attempt (default: all)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempt: Option<u32>,
}

/// `attach`.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// Agent: its id, at least four first or last digits of it, or `last`
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
}

/// `costs`.
#[derive(Debug, Args)]
pub(crate) struct CostsArgs {
    /// Group the costs by this
    #[arg(long, value_enum, default_value_t = CostsBy::Role)]
    pub(crate) by: CostsBy,
    /// Count only since then: a day such as 2026-11-15, a time, or an age such as 7d, 12h or 30m
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Show tool usage instead: calls, failures and durations
    #[arg(long, conflicts_with_all = ["by", "since"])]
    pub(crate) tools: bool,
    /// Count only tools of this agent
    #[arg(long, value_name = "AGENT", requires = "tools")]
    pub(crate) agent: Option<String>,
}

/// Grouping of costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CostsBy {
    /// The role
    Role,
    /// The model
    Model,
    /// The task
    Task,
    /// The agent
    Agent,
    /// The hour
    Hour,
}

/// `enlist`.
#[derive(Debug, Args)]
pub(crate) struct EnlistArgs {
    /// Register it in this role, a file in `.adjutant/roles/`
    #[arg(long, short, value_name = "ROLE")]
    pub(crate) role: String,
    /// Assign this task, by id, slug or number
    #[arg(long, short, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Add it to this epic
    #[arg(long, short, value_name = "EPIC")]
    pub(crate) epic: Option<String>,
    /// Record this working directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// Set this agent as its parent (default: you)
    #[arg(long, value_name = "AGENT")]
    pub(crate) parent: Option<String>,
}

/// `discharge`.
#[derive(Debug, Args)]
pub(crate) struct DischargeArgs {
    /// Agent: its id, at least four first or last digits of it, or `last` for the newest enlisted agent
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
    /// Record this reason
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// `ps`.
#[derive(Debug, Args)]
pub(crate) struct PsArgs {
    /// Include ended agents
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Refresh every second until Ctrl-C; in a pipe, on every change
    #[arg(long, short)]
    pub(crate) watch: bool,
}
