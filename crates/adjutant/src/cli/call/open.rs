//! The grammar of `open`.

use clap::Args;

/// `open`.
#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// Print the link instead of opening a browser
    #[arg(long, conflicts_with_all = ["links", "revoke"])]
    pub(crate) print: bool,
    /// Sharing
    #[command(flatten)]
    pub(crate) share: ShareArgs,
    /// List links that are valid or have open sessions
    #[arg(long, conflicts_with_all = ["read_only", "revoke"])]
    pub(crate) links: bool,
    /// Revoke a link and end its sessions
    #[arg(long, value_name = "ID|all", conflicts_with = "read_only")]
    pub(crate) revoke: Option<String>,
}

/// Options for sharing a link.
#[derive(Debug, Args)]
pub(crate) struct ShareArgs {
    /// Create a read-only link to share
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Keep the read-only link valid for this many days (default: 7)
    #[arg(long, value_name = "N", requires = "read_only")]
    pub(crate) days: Option<u32>,
}
