//! The grammar of the commands about the record.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// `events`.
#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    /// Go on as more happens, until Ctrl-C; a restart of the server is waited for, and nothing is missed
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Only those after this number (default: the last ones)
    #[arg(long, value_name = "N")]
    pub(crate) after: Option<i64>,
    /// Only of this kind, as `task.updated`, or of a family, as `task.*`; may be given more than once
    #[arg(long, short, value_name = "KIND", value_delimiter = ',')]
    pub(crate) kind: Vec<String>,
    /// Only to or by this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Only with this task: its id, number or slug
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// At most so many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

/// `decisions`.
#[derive(Debug, Args)]
pub(crate) struct DecisionsArgs {
    /// Also what was logged by itself: every call, and what came of it
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Only this agent's
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// At most so many, the newest
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

/// `audit`.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) verb: Option<AuditVerb>,
}

/// What to do with the record.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditVerb {
    /// List recorded calls
    #[command(after_help = "\
Example:
  adjutant audit list --tool mail_send
  adjutant audit list --agent sp_0123456789abcdef --limit 10")]
    List(AuditListArgs),
    /// Follow the whole hash chain and say whether it holds; exits with 1 where it does not
    #[command(after_help = "\
Example:
  adjutant audit verify
  adjutant audit verify record.jsonl
  adjutant audit verify --archive")]
    Verify {
        /// An export to check instead of the server's record; - reads it from stdin
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
        /// Follow the chain from its first row, through the archives that `adjutant clean` wrote
        ///
        /// Without FILE those in the state folder of this home are taken.
        #[arg(long, value_name = "FILE", num_args = 0.., value_hint = ValueHint::FilePath)]
        archive: Option<Vec<PathBuf>>,
    },
    /// Write the record as JSON Lines: each call's number, its exact body and its hash
    #[command(after_help = "\
Example:
  adjutant audit export record.jsonl
  adjutant audit export | jq -r .body | jq -r .tool | sort | uniq -c

A row's hash is the SHA-256, in hex, of the hash before it, a newline and the
row's body; the first row follows 64 zeros.")]
    Export {
        /// The file (default: stdout)
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
    },
}

/// `audit list`.
#[derive(Debug, Default, Args)]
pub(crate) struct AuditListArgs {
    /// Only those after this number (default: the last ones)
    #[arg(long, value_name = "N")]
    pub(crate) after: Option<i64>,
    /// Only this agent's
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Only of this tool
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Option<String>,
    /// At most so many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}
