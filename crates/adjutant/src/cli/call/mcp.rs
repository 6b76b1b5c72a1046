//! The grammar of `mcp`.

use clap::{Args, Subcommand, ValueEnum};

/// `mcp`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    /// Who it is, and what it may use
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
    /// What else to do
    #[command(subcommand)]
    pub(crate) verb: Option<McpVerb>,
}

/// Who a bridge is, and what it may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ServeArgs {
    /// Only this toolset; may be given again
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Vec<String>,
    /// As a new agent of this role, which is discharged when the client ends (default: as you)
    #[arg(long = "as", value_name = "ROLE")]
    pub(crate) role: Option<String>,
}

/// What to do with clients' configurations.
#[derive(Debug, Subcommand)]
pub(crate) enum McpVerb {
    /// Write a client's configuration, so that it starts `adjutant mcp` for this project
    #[command(after_help = "\
Example:
  adjutant mcp install --client claude
  adjutant mcp install --client vscode --toolset mail --yes
  adjutant mcp install --client codex --as worker --dry-run
  adjutant mcp install --client opencode --global

The change is shown first; comments and order stay. `adjutant mcp uninstall`
with the same flags takes it back, byte for byte. No secret is written: the
program finds the home, and your token, when it is started.")]
    Install(InstallArgs),
    /// Take that out of the client's configuration again
    #[command(after_help = "\
Example:
  adjutant mcp uninstall --client claude
  adjutant mcp uninstall --client codex --global --yes")]
    Uninstall(UninstallArgs),
}

/// `mcp install`.
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Which entry of which file
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// What the client starts
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
    /// Also over an entry of that name that is somebody else's
    #[arg(long)]
    pub(crate) force: bool,
    /// Whether to ask
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

/// `mcp uninstall`.
#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// Which entry of which file
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Whether to ask
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

/// An entry of a client's file.
#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// The program that is to use the tools
    #[arg(long, value_enum)]
    pub(crate) client: Client,
    /// In your own file, for every project, instead of in the project's
    #[arg(long)]
    pub(crate) global: bool,
    /// What the server is called there
    #[arg(long, value_name = "NAME", default_value = "adjutant")]
    pub(crate) name: String,
}

/// Whether a person is asked.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ConsentArgs {
    /// Write without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Only show the change
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
