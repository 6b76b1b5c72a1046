//! The grammar of `mcp`.

use clap::{Args, Subcommand, ValueEnum};

/// `mcp`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    /// Identity and toolsets
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
    /// Action
    #[command(subcommand)]
    pub(crate) verb: Option<McpVerb>,
}

/// Identity and toolsets of a bridge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ServeArgs {
    /// Serve only this toolset; repeatable
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Vec<String>,
    /// Act as a new agent in this role, discharged when the client ends (default: as you)
    #[arg(long = "as", value_name = "ROLE")]
    pub(crate) role: Option<String>,
}

/// Actions on clients' configurations.
#[derive(Debug, Subcommand)]
pub(crate) enum McpVerb {
    /// Add `adjutant mcp` to a client's configuration
    #[command(after_help = "\
Example:
  adjutant mcp install --client claude
  adjutant mcp install --client vscode --toolset mail --yes
  adjutant mcp install --client codex --as worker --dry-run
  adjutant mcp install --client opencode --global

The command shows the change first, and keeps comments and order. `adjutant mcp
uninstall` with the same flags reverts it, byte for byte. It writes no secret:
the program finds the home, and your token, when it starts.")]
    Install(InstallArgs),
    /// Remove `adjutant mcp` from a client's configuration
    #[command(after_help = "\
Example:
  adjutant mcp uninstall --client claude
  adjutant mcp uninstall --client codex --global --yes")]
    Uninstall(UninstallArgs),
}

/// `mcp install`.
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Entry and file
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Command of the client
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
    /// Overwrite an entry of that name that Adjutant did not write
    #[arg(long)]
    pub(crate) force: bool,
    /// Confirmation
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

/// `mcp uninstall`.
#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// Entry and file
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Confirmation
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

/// An entry of a client's file.
#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// Configure this client
    #[arg(long, value_enum)]
    pub(crate) client: Client,
    /// Edit your own file, for every project, instead of the project's
    #[arg(long)]
    pub(crate) global: bool,
    /// Name the server's entry
    #[arg(long, value_name = "NAME", default_value = "adjutant")]
    pub(crate) name: String,
}

/// Confirmation of a change.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ConsentArgs {
    /// Write without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Show the change without writing it
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// opencode
    #[value(help = "OpenCode")]
    Opencode,
    /// Visual Studio Code
    #[value(name = "vscode")]
    VsCode,
}
