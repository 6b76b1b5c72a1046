//! The grammar of the commands about the office.

use clap::{Args, Subcommand};

/// `supervisors`.
#[derive(Debug, Args)]
pub(crate) struct SupervisorsArgs {
    /// What else to do
    #[command(subcommand)]
    pub(crate) verb: Option<SupervisorsVerb>,
}

/// What to do with supervisors.
#[derive(Debug, Subcommand)]
pub(crate) enum SupervisorsVerb {
    /// Start a supervisor for an epic that has none
    #[command(after_help = "\
Example:
  adjutant supervisors create epic_0123456789abcdef --prompt 'Tests first'")]
    Create {
        /// The epic
        #[arg(value_name = "EPIC")]
        epic: String,
        /// What it is told beside the epic and how to work; - reads it from stdin
        #[arg(long, short, value_name = "TEXT")]
        prompt: Option<String>,
    },
    /// Replace a supervisor that is lost: its crew ends, what they were at is free again
    #[command(after_help = "\
Example:
  adjutant supervisors recover sp_0123456789abcdef --reason 'it hangs'")]
    Recover {
        /// The supervisor
        #[arg(value_name = "AGENT")]
        agent: String,
        /// Why, for the record
        #[arg(long, short, value_name = "TEXT")]
        reason: Option<String>,
        /// Also where it is healthy
        #[arg(long)]
        force: bool,
    },
}
