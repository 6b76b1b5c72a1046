//! The grammar of `open`.

use clap::Args;

/// `open`.
#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// Print the link and open no browser
    #[arg(long, conflicts_with_all = ["links", "revoke"])]
    pub(crate) print: bool,
    /// Whom the link is for
    #[command(flatten)]
    pub(crate) share: ShareArgs,
    /// List the links that can be used, or by which somebody is in
    #[arg(long, conflicts_with_all = ["read_only", "revoke"])]
    pub(crate) links: bool,
    /// Take a link back, and put out who came by it
    #[arg(long, value_name = "ID|all", conflicts_with = "read_only")]
    pub(crate) revoke: Option<String>,
}

/// Whom a link is for.
#[derive(Debug, Args)]
pub(crate) struct ShareArgs {
    /// Make a link for others: they can look at everything and do nothing
    #[arg(long)]
    pub(crate) read_only: bool,
    /// How many days that link works (default: 7)
    #[arg(long, value_name = "N", requires = "read_only")]
    pub(crate) days: Option<u32>,
}
