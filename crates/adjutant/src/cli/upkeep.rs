//! The grammar of the commands that keep house: clean, back up, restore, check.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use model::Age;

/// `clean`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  adjutant clean --dry-run               show what would be removed
  adjutant clean                         everything that ended 30 days ago
  adjutant clean --older-than 7d --only runs output

Data that a live agent, an open task or review, an undelivered message or a
live cursor needs is kept. Calls in the audit record move into archive files,
which `adjutant audit verify --archive` verifies. With `retention` in the
configuration the server cleans by itself.")]
pub(crate) struct CleanArgs {
    /// Remove only data that ended this long ago, such as 30d, 12h or 90m
    #[arg(long, value_name = "AGE", default_value = "30d")]
    pub(crate) older_than: Age,
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove only these parts: runs, output, branches, deliveries, answers, events, audit
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

The server may keep running. Only you can read the file, and it appears only
when it is complete. It contains no git branches, worktrees or tokens.")]
pub(crate) struct BackupArgs {
    /// File to write
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
  adjutant restore crew.tar --force      replace the content and keep it aside

The file is checked before anything changes. Agents that ran when it was written
count as lost, and enlisted agents keep their tokens.")]
pub(crate) struct RestoreArgs {
    /// File written by `adjutant backup`
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Replace the home's content; the old content moves into a folder beside it
    #[arg(long)]
    pub(crate) force: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Make the cheapest call to each provider, which costs a little
    #[arg(long)]
    pub(crate) online: bool,
}
