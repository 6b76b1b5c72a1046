//! The grammar of the commands about the office.

use clap::{Args, Subcommand};

/// `supervisors`.
#[derive(Debug, Args)]
pub(crate) struct SupervisorsArgs {
    /// Action
    #[command(subcommand)]
    pub(crate) verb: Option<SupervisorsVerb>,
}

/// Actions of `supervisors`.
#[derive(Debug, Subcommand)]
pub(crate) enum SupervisorsVerb {
    /// Start a supervisor for an epic that has none
    #[command(after_help = "\
Example:
  adjutant supervisors create epic_0123456789abcdef --prompt 'Tests first'")]
    Create {
        /// Id of the epic
        #[arg(value_name = "EPIC")]
        epic: String,
        /// Add these instructions; - reads stdin
        #[arg(long, short, value_name = "TEXT")]
        prompt: Option<String>,
    },
    /// Replace a lost supervisor; ends its crew and frees their tasks
    #[command(after_help = "\
Example:
  adjutant supervisors recover sp_0123456789abcdef --reason 'it hangs'")]
    Recover {
        /// Agent id of the supervisor
        #[arg(value_name = "AGENT")]
        agent: String,
        /// Record this reason
        #[arg(long, short, value_name = "TEXT")]
        reason: Option<String>,
        /// Replace it even if it is healthy
        #[arg(long)]
        force: bool,
    },
}
