//! The grammar of the commands about the record.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// `events`.
#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    /// Follow new events until Ctrl-C, also across restarts of the server
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Show only entries after this number (default: the last ones)
    #[arg(long, value_name = "N")]
    pub(crate) after: Option<i64>,
    /// Show only this kind, such as `task.updated`, or this family, such as `task.*`; repeatable
    #[arg(long, short, value_name = "KIND", value_delimiter = ',')]
    pub(crate) kind: Vec<String>,
    /// Show only events of this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Show only events of this task, by id, number or slug
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Show at most this many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

/// `decisions`.
#[derive(Debug, Args)]
pub(crate) struct DecisionsArgs {
    /// Include automatic entries: every call and its outcome
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Show only entries of this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Show at most this many, the newest
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

/// `audit`.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Action
    #[command(subcommand)]
    pub(crate) verb: Option<AuditVerb>,
}

/// Actions of `audit`.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditVerb {
    /// List recorded calls
    #[command(after_help = "\
Example:
  adjutant audit list --tool mail_send
  adjutant audit list --agent sp_0123456789abcdef --limit 10")]
    List(AuditListArgs),
    /// Verify the whole hash chain; exits with 1 if it is broken
    #[command(after_help = "\
Example:
  adjutant audit verify
  adjutant audit verify record.jsonl
  adjutant audit verify --archive")]
    Verify {
        /// Verify this export instead of the server's record; - reads stdin
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
        /// Verify from the first row, through the archives that `adjutant clean` wrote
        ///
        /// Without FILE, use the archives in the state folder of this home.
        #[arg(long, value_name = "FILE", num_args = 0.., value_hint = ValueHint::FilePath)]
        archive: Option<Vec<PathBuf>>,
    },
    /// Export the record as JSON Lines: each call's number, exact body and hash
    #[command(after_help = "\
Example:
  adjutant audit export record.jsonl
  adjutant audit export | jq -r .body | jq -r .tool | sort | uniq -c

A row's hash is the SHA-256, in hex, of the hash before it, a newline and the
row's body; the first row follows 64 zeros.")]
    Export {
        /// File to write (default: stdout)
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
    },
}

/// `audit list`.
#[derive(Debug, Default, Args)]
pub(crate) struct AuditListArgs {
    /// Show only entries after this number (default: the last ones)
    #[arg(long, value_name = "N")]
    pub(crate) after: Option<i64>,
    /// Show only entries of this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Show only calls of this tool
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Option<String>,
    /// Show at most this many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}
