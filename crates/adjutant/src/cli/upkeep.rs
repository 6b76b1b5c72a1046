//! The grammar of the commands that keep house: clean, back up, restore.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use model::Age;

/// `clean`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  adjutant clean --dry-run               say what would go
  adjutant clean                         all that has been over for 30 days
  adjutant clean --older-than 7d --only runs output

Whatever a live agent, an open task or review, an undelivered message or a
live cursor needs stays. Calls in the audit record move into archive files,
which `adjutant audit verify --archive` checks. With `retention` in the
configuration the server cleans by itself.")]
pub(crate) struct CleanArgs {
    /// Only what has been over for this long, as 30d, 12h or 90m
    #[arg(long, value_name = "AGE", default_value = "30d")]
    pub(crate) older_than: Age,
    /// Say what would go, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only these parts: runs, output, branches, deliveries, answers, events, audit
    #[arg(long, value_name = "PART", num_args = 1.., value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}

/// `backup`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  adjutant backup crew.tar
  adjutant backup crew.tar --with-output
  tar -tf crew.tar

The server may run meanwhile. The file is readable by you alone and appears
only when it is complete. Git branches, worktrees and tokens are not in it.")]
pub(crate) struct BackupArgs {
    /// The file to write
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Include the raw output of agents
    #[arg(long)]
    pub(crate) with_output: bool,
}

/// `restore`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  adjutant restore crew.tar
  adjutant restore crew.tar --home ~/work/x
  adjutant restore crew.tar --force      replace what is there; it is kept aside

The file is checked before anything changes. Agents that ran when it was written
count as lost, and enlisted agents keep their tokens.")]
pub(crate) struct RestoreArgs {
    /// The file that `adjutant backup` wrote
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Replace what is in the home; it is moved into a folder beside it
    #[arg(long)]
    pub(crate) force: bool,
}
