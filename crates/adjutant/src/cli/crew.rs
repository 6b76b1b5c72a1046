//! The grammar of the commands about agents.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// `run` and `draft`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The role it plays: a file in `.adjutant/roles/` (default: none, a bare prompt)
    #[arg(long, short, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// The task it is for: an id, a slug or a number (default: a new one)
    #[arg(long, short, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Where it works (default: as the role says, else the project)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// How it is run: claude, codex, acp, command or script (default: as the role says)
    #[arg(long, short, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// What it is bound by
    #[command(flatten)]
    pub(crate) bounds: BoundArgs,
    /// What it is to do; - reads it from stdin
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: String,
}

/// What an agent is bound by.
#[derive(Debug, Args)]
pub(crate) struct BoundArgs {
    /// The model (default: as role and configuration say)
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// What it and all that it starts may spend, in dollars
    #[arg(long, short, value_name = "USD", value_parser = super::dollars)]
    pub(crate) budget: Option<f64>,
    /// How long it may run, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u32>,
}

/// `await`.
#[derive(Debug, Args)]
pub(crate) struct AwaitArgs {
    /// The agents: ids, four or more digits of their beginnings or ends, or `last`
    #[arg(value_name = "AGENT", required = true)]
    pub(crate) agents: Vec<String>,
    /// Wait no longer than this; exits with 1 where one still runs then
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
}

/// `kill`.
#[derive(Debug, Args)]
pub(crate) struct KillArgs {
    /// The agents: ids, four or more digits of their beginnings or ends, or `last`
    #[arg(value_name = "AGENT", required = true)]
    pub(crate) agents: Vec<String>,
}

/// `resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The agent: its id, four or more digits of its beginning or its end, or `last`
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
    /// What it is to do next; - reads it from stdin
    #[arg(value_name = "PROMPT", default_value = "Go on where you stopped.")]
    pub(crate) prompt: String,
    /// What it is bound by
    #[command(flatten)]
    pub(crate) bounds: BoundArgs,
    /// Do not wait for it
    #[arg(long)]
    pub(crate) detach: bool,
}

/// `logs`.
#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// The agent: its id, four or more digits of its beginning or its end, or `last`
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
    /// Go on as it says more, until it ends
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Its lines as they came, those of its stderr to stderr; a terminal obeys what is in them
    #[arg(long)]
    pub(crate) raw: bool,
    /// Only of this attempt (default: all of them)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempt: Option<u32>,
}

/// `attach`.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// The agent: its id, four or more digits of its beginning or its end, or `last`
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
}

/// `costs`.
#[derive(Debug, Args)]
pub(crate) struct CostsArgs {
    /// What they are added up over
    #[arg(long, value_enum, default_value_t = CostsBy::Role)]
    pub(crate) by: CostsBy,
    /// Only since then: a day as 2026-11-15, a time, or how long ago, as 7d, 12h or 30m
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Which tools the roles use instead, how often that fails and how long it takes
    #[arg(long, conflicts_with_all = ["by", "since"])]
    pub(crate) tools: bool,
    /// Only the tools of this agent
    #[arg(long, value_name = "AGENT", requires = "tools")]
    pub(crate) agent: Option<String>,
}

/// What costs are added up over.
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
    /// The role it plays: a file in `.adjutant/roles/`
    #[arg(long, short, value_name = "ROLE")]
    pub(crate) role: String,
    /// The task it is for: an id, a slug or a number
    #[arg(long, short, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// The epic it belongs to
    #[arg(long, short, value_name = "EPIC")]
    pub(crate) epic: Option<String>,
    /// Where it works
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// The agent it answers to (default: you)
    #[arg(long, value_name = "AGENT")]
    pub(crate) parent: Option<String>,
}

/// `discharge`.
#[derive(Debug, Args)]
pub(crate) struct DischargeArgs {
    /// The agent: its id, four or more digits of its beginning or its end, or `last`
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
    /// Why; it is recorded
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// `ps`.
#[derive(Debug, Args)]
pub(crate) struct PsArgs {
    /// Also those that have ended
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Go on showing them, every second, until Ctrl-C; in a pipe whenever something changes
    #[arg(long, short)]
    pub(crate) watch: bool,
}
