//! Loops: the grammar.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `loop`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct LoopArgs {
    /// What to do with a loop that there is
    #[command(subcommand)]
    pub(crate) verb: Option<LoopVerb>,
    /// The loop's name: a new one, or one that is to go on
    #[arg(value_name = "NAME", required = true)]
    pub(crate) name: Option<String>,
    /// What is to be built: a file, read at the start
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Option<PathBuf>,
    /// How many iterations, or how many more; 0 is no limit
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) iterations: Option<u32>,
    /// The kind of its agents: claude, codex, acp, command or script
    #[arg(long, value_name = "KIND")]
    pub(crate) agent: Option<String>,
    /// The role of its agents (default: `loop.role`)
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// What they are told beside the specification
    #[arg(long, value_name = "TEXT")]
    pub(crate) extra: Option<String>,
    /// The text of their prompt, a file
    #[arg(long, value_name = "FILE")]
    pub(crate) template: Option<PathBuf>,
    /// Commit what each iteration changed; `--commit=false` does not
    #[arg(
        long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true"
    )]
    pub(crate) commit: Option<bool>,
    /// What it may spend in all, in dollars
    #[arg(long, value_name = "USD", value_parser = crate::cli::dollars)]
    pub(crate) budget: Option<f64>,
    /// Where its agents work (default: the project)
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Start it and come back at once
    #[arg(long, short)]
    pub(crate) detach: bool,
}

/// What to do with a loop.
#[derive(Debug, Subcommand)]
pub(crate) enum LoopVerb {
    /// List the loops
    #[command(after_help = "\
Example:
  adjutant loop list --json | jq '.loops[] | select(.state == \"running\").name'")]
    List,
    /// Show where a loop stands
    #[command(after_help = "\
Example:
  adjutant loop status auth")]
    Status {
        /// The loop
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Let a loop wait when its iteration is over
    #[command(after_help = "\
Example:
  adjutant loop pause auth
  adjutant loop pause auth --now")]
    Pause {
        /// The loop
        #[arg(value_name = "NAME")]
        name: String,
        /// End the agent that works, instead of waiting for it
        #[arg(long)]
        now: bool,
    },
    /// Let a loop that waits go on
    #[command(after_help = "\
Example:
  adjutant loop resume auth")]
    Resume {
        /// The loop
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// End a loop, with the agent that works for it
    #[command(after_help = "\
Example:
  adjutant loop stop auth")]
    Stop {
        /// The loop
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Leave word for a loop's next agent
    #[command(after_help = "\
Example:
  adjutant loop say auth 'Use the library that is there already'
  adjutant loop say auth - < notes.txt")]
    Say {
        /// The loop
        #[arg(value_name = "NAME")]
        name: String,
        /// What to say; - reads it from stdin
        #[arg(value_name = "TEXT")]
        text: String,
    },
    /// See how a loop goes, until it waits or is over
    #[command(after_help = "\
Example:
  adjutant loop follow auth")]
    Follow {
        /// The loop
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Print the text of the prompt that is built in
    #[command(after_help = "\
Example:
  adjutant loop template > loop.md")]
    Template,
}
