//! Loops: the grammar.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `loop`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct LoopArgs {
    /// Action on an existing loop
    #[command(subcommand)]
    pub(crate) verb: Option<LoopVerb>,
    /// Name of a new loop, or of a loop to continue
    #[arg(value_name = "NAME", required = true)]
    pub(crate) name: Option<String>,
    /// Read the specification from this file, at the start
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Option<PathBuf>,
    /// Run this many iterations, or this many more; 0 is no limit
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) iterations: Option<u32>,
    /// Run this kind of agent: claude, codex, acp, command or script
    #[arg(long, value_name = "KIND")]
    pub(crate) agent: Option<String>,
    /// Run the agents in this role (default: `loop.role`)
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// Add this text to every agent's prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) extra: Option<String>,
    /// Read the prompt template from this file
    #[arg(long, value_name = "FILE")]
    pub(crate) template: Option<PathBuf>,
    /// Commit the changes of each iteration; `--commit=false` does not
    #[arg(
        long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true"
    )]
    pub(crate) commit: Option<bool>,
    /// Limit what all iterations may spend, in dollars
    #[arg(long, value_name = "USD", value_parser = crate::cli::dollars)]
    pub(crate) budget: Option<f64>,
    /// Run the agents in this directory (default: the project)
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Start the loop without waiting for it
    #[arg(long, short)]
    pub(crate) detach: bool,
}

/// Actions of `loop`.
#[derive(Debug, Subcommand)]
pub(crate) enum LoopVerb {
    /// List the loops
    #[command(after_help = "\
Example:
  adjutant loop list --json | jq '.loops[] | select(.state == \"running\").name'")]
    List,
    /// Show the state of a loop
    #[command(after_help = "\
Example:
  adjutant loop status auth")]
    Status {
        /// Name of the loop
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Pause a loop after its current iteration
    #[command(after_help = "\
Example:
  adjutant loop pause auth
  adjutant loop pause auth --now")]
    Pause {
        /// Name of the loop
        #[arg(value_name = "NAME")]
        name: String,
        /// Kill the running agent instead of waiting for it
        #[arg(long)]
        now: bool,
    },
    /// Resume a paused loop
    #[command(after_help = "\
Example:
  adjutant loop resume auth")]
    Resume {
        /// Name of the loop
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Stop a loop and kill its agent
    #[command(after_help = "\
Example:
  adjutant loop stop auth")]
    Stop {
        /// Name of the loop
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Send a message to a loop's next agent
    #[command(after_help = "\
Example:
  adjutant loop say auth 'Use the library that is there already'
  adjutant loop say auth - < notes.txt")]
    Say {
        /// Name of the loop
        #[arg(value_name = "NAME")]
        name: String,
        /// Text of the message; - reads stdin
        #[arg(value_name = "TEXT")]
        text: String,
    },
    /// Follow a loop until it pauses or ends
    #[command(after_help = "\
Example:
  adjutant loop follow auth")]
    Follow {
        /// Name of the loop
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Print the built-in prompt template
    #[command(after_help = "\
Example:
  adjutant loop template > loop.md")]
    Template,
}
