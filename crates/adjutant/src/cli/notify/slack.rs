//! Slack: the grammar.

use clap::{Args, Subcommand};

/// `slack`.
#[derive(Debug, Args)]
pub(crate) struct SlackArgs {
    /// What to do; without it, how it stands
    #[command(subcommand)]
    pub(crate) verb: Option<SlackVerb>,
}

/// What to do about Slack.
#[derive(Debug, Subcommand)]
pub(crate) enum SlackVerb {
    /// Show how it stands: the connection, what waits, what failed
    #[command(after_help = "\
Example:
  adjutant slack status
  adjutant slack status --json | jq '.failures[].error'")]
    Status,
    /// List the threads, each with its role, its task and its agent
    #[command(after_help = "\
Example:
  adjutant slack threads
  adjutant slack threads --json | jq '.threads[].taskSlug'")]
    Threads,
    /// Say again what Slack did not take
    #[command(after_help = "\
Example:
  adjutant slack retry")]
    Retry,
}
