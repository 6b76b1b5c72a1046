//! Slack: the grammar.

use clap::{Args, Subcommand};

/// `slack`.
#[derive(Debug, Args)]
pub(crate) struct SlackArgs {
    /// Action (default: status)
    #[command(subcommand)]
    pub(crate) verb: Option<SlackVerb>,
}

/// Actions of `slack`.
#[derive(Debug, Subcommand)]
pub(crate) enum SlackVerb {
    /// Show the connection, pending messages and failures
    #[command(after_help = "\
Example:
  adjutant slack status
  adjutant slack status --json | jq '.failures[].error'")]
    Status,
    /// List threads with their roles, tasks and agents
    #[command(after_help = "\
Example:
  adjutant slack threads
  adjutant slack threads --json | jq '.threads[].taskSlug'")]
    Threads,
    /// Retry messages that Slack refused
    #[command(after_help = "\
Example:
  adjutant slack retry")]
    Retry,
}
