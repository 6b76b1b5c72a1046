//! The command line's grammar. The doc comments are the help.

mod automation;
mod call;
pub(crate) mod complete;
mod crew;
mod delivery;
mod groups;
mod notify;
mod tasks;
mod upkeep;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueHint};

pub(crate) use self::automation::loops::{LoopArgs, LoopVerb};
pub(crate) use self::automation::office::{SupervisorsArgs, SupervisorsVerb};
pub(crate) use self::automation::plans::{PlanArgs, PlanRunArgs, PlanVerb};
pub(crate) use self::call::mcp::{
    Client, ConsentArgs, InstallArgs, McpArgs, McpVerb, ServeArgs, TargetArgs, UninstallArgs,
};
pub(crate) use self::call::open::{OpenArgs, ShareArgs};
pub(crate) use self::call::record::{
    AuditArgs, AuditListArgs, AuditVerb, DecisionsArgs, EventsArgs,
};
pub(crate) use self::crew::{
    AttachArgs, AwaitArgs, BoundArgs, CostsArgs, DischargeArgs, EnlistArgs, KillArgs, LogsArgs,
    PsArgs, ResumeArgs, RunArgs,
};
pub(crate) use self::delivery::{
    MergeQueueArgs, MergeQueueVerb, PruneArgs, ReviewArgs, ReviewVerb, ReviewsArgs, WorktreesArgs,
    WorktreesVerb,
};
pub(crate) use self::notify::slack::{SlackArgs, SlackVerb};
pub(crate) use self::notify::webhooks::{WebhooksArgs, WebhooksVerb};
pub(crate) use self::tasks::{MailArgs, MailVerb, TaskAddArgs, TasksArgs, TasksVerb};
pub(crate) use self::upkeep::{BackupArgs, CleanArgs, RestoreArgs};
use crate::commands::call::tool::ToolArgs;

/// One program that turns coding agents into a supervised crew
///
/// Agents share tasks, notes and mail through MCP tools; you watch and steer the same crew from here.
/// Commands find the server of this project, and start one in the background where none runs.
#[derive(Debug, Parser)]
#[command(
    name = "adjutant",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    max_term_width = 80,
    after_help = "\
Begin with:
  adjutant demo                         see a crew at work, without a model
  adjutant init                         make a home in your project
  adjutant run --role coder 'Fix it'    run an agent and wait for it
  adjutant enlist --role worker         make an agent that you run yourself
  adjutant open                         see and steer the crew in your browser

Exit codes: 0 done, 1 the agent failed, 2 bad input, 3 not allowed,
4 not found, 5 conflict, 6 no server, 70 a bug."
)]
pub(crate) struct Cli {
    /// What every command takes
    #[command(flatten)]
    pub(crate) global: Global,
    /// The folder of the home's record and run folders (default: in the repository's `.git`, else in the home)
    // Not for every command: some have a `--state` of their own.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Everywhere")]
    pub(crate) state: Option<PathBuf>,
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The grammar for these arguments. Its help takes a while to make, so it is there only if it may be asked for.
pub(crate) fn command_for(arguments: &[OsString]) -> clap::Command {
    let asks = |argument: &OsString| ["-h", "--help", "help"].iter().any(|word| argument == word);
    if arguments.len() <= 1 || arguments.iter().any(asks) {
        groups::grouped(Cli::command())
    } else {
        Cli::command()
    }
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// The home, or the project it is in (default: found upwards from here, as git does)
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Everywhere")]
    pub(crate) home: Option<PathBuf>,
    /// Print JSON; errors too, on stderr
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) json: bool,
    /// Say more on stderr; twice for all of it
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Everywhere")]
    pub(crate) verbose: u8,
}

/// Every command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a home in this project: a commented config.yaml and example roles
    #[command(after_help = "\
Example:
  adjutant init                  in the project's folder
  adjutant init --home ~/work/x  for another project

What is there already is kept.")]
    Init,
    /// Start the server
    #[command(after_help = "\
Example:
  adjutant up                 in the foreground, until Ctrl-C
  adjutant up --detach        in the background, until `adjutant down`
  adjutant up --port 0        on any free port")]
    Up(UpArgs),
    /// Stop the server; refused while agents run
    #[command(after_help = "\
Example:
  adjutant down
  adjutant down --kill        end the agents first
  adjutant down --leave       let them go on; the next server finds them again")]
    Down(DownArgs),
    /// Show whether the server runs; starts none, exits with 6 where there is none
    #[command(after_help = "\
Example:
  adjutant status || adjutant up --detach")]
    Status,
    /// Print the operator's token: whoever has it may do everything
    #[command(after_help = "\
Example:
  curl -H \"Authorization: Bearer $(adjutant token)\" http://127.0.0.1:3001/api/status")]
    Token,
    /// Open the page in your browser, or make a link to it
    #[command(after_help = "\
Example:
  adjutant open                          in your browser, by a link that works once
  adjutant open --print                  only the link, to paste
  adjutant open --read-only --days 2     a link for others, who can only look
  adjutant open --links
  adjutant open --revoke all")]
    Open(OpenArgs),
    /// Run an agent and wait until it is over; exits with 1 where it fails
    #[command(after_help = "\
Example:
  adjutant run --role coder 'Make the tests pass'
  adjutant run --role coder --task fix-the-parser --budget 2.50 - < prompt.md
  adjutant run --role reviewer --json 'Look at HEAD' | jq -r .result.summary

Ctrl-C ends the waiting and not the agent.")]
    Run(RunArgs),
    /// Start an agent and do not wait for it
    #[command(after_help = "\
Example:
  adjutant draft --role coder 'Make the tests pass'
  adjutant await $(adjutant draft --role coder --json 'Fix it' | jq -r .agentId)")]
    Draft(RunArgs),
    /// Wait until agents are over; exits with 1 where one failed
    #[command(after_help = "\
Example:
  adjutant await last
  adjutant await sp_0123456789abcdef sp_fedcba9876543210 --timeout 600
  adjutant await cdef --json     a line an agent, in the order given")]
    Await(AwaitArgs),
    /// End agents and all that they started; exits with 5 where one had ended
    #[command(after_help = "\
Example:
  adjutant kill last
  adjutant kill sp_0123456789abcdef")]
    Kill(KillArgs),
    /// Go on with the conversation of an agent that has ended, as a new agent
    #[command(after_help = "\
Example:
  adjutant resume last
  adjutant resume sp_0123456789abcdef 'The tests still fail' --detach")]
    Resume(ResumeArgs),
    /// Make an agent that you run yourself, and print its MCP configuration to paste
    #[command(after_help = "\
Example:
  adjutant enlist --role worker
  adjutant enlist --role worker --task fix-the-parser
  adjutant enlist --role worker --json | jq .mcpConfig > mcp.json")]
    Enlist(EnlistArgs),
    /// End an agent that you run yourself: its token is void, its tasks are free again
    #[command(after_help = "\
Example:
  adjutant discharge sp_0123456789abcdef --reason 'the window is closed'")]
    Discharge(DischargeArgs),
    /// List the agents
    #[command(after_help = "\
Example:
  adjutant ps
  adjutant ps --all       with those that have ended
  adjutant ps --watch     as they come and go, until Ctrl-C")]
    Ps(PsArgs),
    /// Watch and steer the crew on a full screen: tree, streams, mail, costs
    #[command(after_help = "\
Example:
  adjutant top
  ssh host -t 'cd project && adjutant top'

In it, `?` lists the keys. NO_COLOR is obeyed.")]
    Top,
    /// Show what an agent says and does, and with -f as it happens
    #[command(after_help = "\
Example:
  adjutant logs last
  adjutant logs -f sp_0123456789abcdef
  adjutant logs last --raw > output.jsonl
  adjutant logs last --json | jq -r 'select(.stream == \"err\").text'")]
    Logs(LogsArgs),
    /// Watch an agent and type to it, until it ends
    #[command(after_help = "\
Example:
  adjutant attach last
  echo 'Leave the docs alone' | adjutant attach sp_0123456789abcdef")]
    Attach(AttachArgs),
    /// Show what agents cost, and which tools they use
    #[command(after_help = "\
Example:
  adjutant costs
  adjutant costs --by model --since 7d
  adjutant costs --by hour --since 2026-11-01 --json
  adjutant costs --tools")]
    Costs(CostsArgs),
    /// List, show and add tasks
    #[command(after_help = "\
Example:
  adjutant tasks
  adjutant tasks --state pending
  adjutant tasks show TAS-12
  adjutant tasks add 'Fix the parser' --priority 1")]
    Tasks(TasksArgs),
    /// Let one agent after the other work on a specification until it is done
    #[command(after_help = "\
Example:
  adjutant loop auth --spec SPEC.md --iterations 10
  adjutant loop auth --spec SPEC.md --agent codex --commit --budget 20
  adjutant loop say auth 'Leave the old interface as it is'
  adjutant loop pause auth
  adjutant loop auth --iterations 5        five more

Exits with 0 where the session was completed or had its iterations, with 1 where
it failed, was stopped, waits, or has spent its budget.")]
    Loop(LoopArgs),
    /// Run a plan step by step with a crew, and see where it stands
    #[command(after_help = "\
Example:
  adjutant plan check PLAN.md
  adjutant plan run PLAN.md --budget 5
  adjutant plan status")]
    Plan(PlanArgs),
    /// List, start and replace the supervisors of epics
    #[command(after_help = "\
Example:
  adjutant supervisors
  adjutant supervisors create epic_0123456789abcdef --prompt 'Tests first'
  adjutant supervisors recover sp_0123456789abcdef --reason 'it hangs'")]
    Supervisors(SupervisorsArgs),
    /// Read and answer the mail that agents sent to you
    #[command(after_help = "\
Example:
  adjutant mail
  adjutant mail read mail_0123456789abcdef
  adjutant mail reply mail_0123456789abcdef 'Go ahead'
  adjutant mail send --to sp_0123456789abcdef --subject 'Stop' 'Wait for the review'")]
    Mail(MailArgs),
    /// List what waits for approval, the reviews, and who has had all its reviews
    #[command(after_help = "\
Example:
  adjutant reviews
  adjutant reviews --all      with those that are over
  adjutant reviews --json | jq -r '.tasks[].slug'")]
    Reviews(ReviewsArgs),
    /// Decide about work in review: approve it, send it back, give it up
    #[command(after_help = "\
Example:
  adjutant review show TAS-12
  adjutant review approve TAS-12
  adjutant review request-changes TAS-12 'Cover the empty case with a test'
  adjutant review allow-more sp_0123456789abcdef
  adjutant review abandon sp_0123456789abcdef --reason 'we do it another way'")]
    Review(ReviewArgs),
    /// List and take away the folders that agents work in, on branches of their own
    #[command(after_help = "\
Example:
  adjutant worktrees
  adjutant worktrees --all        with those that are gone
  adjutant worktrees prune --ended
  adjutant worktrees check        whether git and the record agree")]
    Worktrees(WorktreesArgs),
    /// List approved work on its way into branches
    #[command(after_help = "\
Example:
  adjutant merge-queue
  adjutant merge-queue --all      with what is merged or was sent back
  adjutant merge-queue retry merge_0123456789abcdef")]
    MergeQueue(MergeQueueArgs),
    /// Show what happened, and with -f what happens
    #[command(after_help = "\
Example:
  adjutant events
  adjutant events -f
  adjutant events --kind task.updated --after 120")]
    Events(EventsArgs),
    /// Show the decisions that agents wrote down
    #[command(after_help = "\
Example:
  adjutant decisions
  adjutant decisions --agent sp_0123456789abcdef")]
    Decisions(DecisionsArgs),
    /// Show, check and export the record of every call
    #[command(after_help = "\
Example:
  adjutant audit verify
  adjutant audit list --tool mail_send
  adjutant audit export record.jsonl")]
    Audit(AuditArgs),
    /// Remove old data; --dry-run only counts it
    Clean(CleanArgs),
    /// Write the record, the configuration, roles and templates into one file
    Backup(BackupArgs),
    /// Put a backup into a home that has no server running
    Restore(RestoreArgs),
    /// List, try and mend the webhooks that are told of events
    #[command(after_help = "\
Example:
  adjutant webhooks
  adjutant webhooks test n8n
  adjutant webhooks dead
  adjutant webhooks retry n8n --all
  adjutant webhooks enable n8n")]
    Webhooks(WebhooksArgs),
    /// Show how it stands with Slack, list its threads, say again what failed
    #[command(after_help = "\
Example:
  adjutant slack
  adjutant slack threads
  adjutant slack retry")]
    Slack(SlackArgs),
    /// Call a tool, as yourself or as an agent; alone it lists them
    Tool(ToolArgs),
    /// Serve MCP on stdin and stdout, for clients that start their servers themselves
    #[command(after_help = "\
Example:
  adjutant mcp install --client claude   let Claude Code start it, as yourself
  adjutant mcp uninstall --client claude
  adjutant mcp                           every tool the caller may use
  adjutant mcp --toolset mail            one toolset, under its own names
  adjutant mcp --as worker               as an agent of its own")]
    Mcp(McpArgs),
    /// Read config.yaml and the roles again
    #[command(after_help = "\
Example:
  adjutant reload")]
    Reload,
    /// Check everything that Adjutant depends on, and say what to do
    #[command(after_help = "\
Example:
  adjutant doctor")]
    Doctor,
    /// Show and change the configuration
    #[command(after_help = "\
Example:
  adjutant config get
  adjutant config get limits.depth
  adjutant config set review.max_iterations 5
  adjutant config unset review.max_iterations
  adjutant config path")]
    Config(ConfigArgs),
    /// Print completions for a shell
    #[command(after_help = "\
Example:
  adjutant completions bash > ~/.local/share/bash-completion/completions/adjutant
  adjutant completions zsh > ~/.zfunc/_adjutant
  adjutant completions fish > ~/.config/fish/completions/adjutant.fish")]
    Completions(CompletionsArgs),
    /// Watch a crew at work, without a model, in a folder that is gone afterwards
    #[command(after_help = "\
Example:
  adjutant demo
  adjutant demo --keep    and look around afterwards")]
    Demo(DemoArgs),
    /// Refuse a commit of files that another agent has reserved; run by git, inside an agent's worktree
    #[command(
        hide = true,
        after_help = "\
Example:
  adjutant guard               as git's hook `pre-commit` runs it"
    )]
    Guard,
    /// Play a scenario as an agent; started by Adjutant itself, for agents of the kind `script`
    #[command(
        hide = true,
        after_help = "\
Example:
  adjutant play crew.yaml      as an agent's supervisor runs it"
    )]
    Play(PlayArgs),
}

/// `up`.
#[derive(Debug, Args)]
pub(crate) struct UpArgs {
    /// The port; 0 is any free one, and a taken one means the next that is free
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) host: Option<String>,
    /// The folder of the home's record and run folders, as `adjutant --state DIR` names it
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) state: Option<PathBuf>,
    /// Stay in the background, and come back after a crash
    #[arg(long)]
    pub(crate) detach: bool,
    /// How this server came to be; given by Adjutant itself
    #[arg(long, hide = true, value_enum, value_name = "HOW")]
    pub(crate) background: Option<Background>,
}

/// `down`.
#[derive(Debug, Args)]
pub(crate) struct DownArgs {
    /// End the agents first, and all that they started
    #[arg(long, conflicts_with = "leave")]
    pub(crate) kill: bool,
    /// Leave the agents running
    #[arg(long)]
    pub(crate) leave: bool,
}

/// How a server in the background came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Background {
    /// A command needed one: it ends by itself when nobody does any more
    Needed,
    /// The keeper of `up --detach`: it starts the server again after a crash
    Keeper,
    /// The server under a keeper
    Kept,
}

/// `config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) verb: ConfigVerb,
}

/// What to do with the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Show the values in force: flags and environment over the file over the defaults
    #[command(after_help = "\
Example:
  adjutant config get
  adjutant config get limits
  adjutant config get limits.depth")]
    Get {
        /// A key, as `limits.depth`, or a section, as `limits` (default: all)
        #[arg(value_name = "KEY")]
        key: Option<String>,
    },
    /// Give a key a value in config.yaml, in force at once; the rest of the file stays
    #[command(after_help = "\
Example:
  adjutant config set review.max_iterations 5
  adjutant config set worktrees.fresh '[coding, worker]'
  adjutant config set check 'make test'
  adjutant config set budget.default.usd null
  adjutant config set 'prices.models.\"gpt-5.1\"' '{input: 1, output: 10}'

A comment in the file is kept, and what is wrong is not written.")]
    Set {
        /// The key, as `limits.depth`
        #[arg(value_name = "KEY")]
        key: String,
        /// The value in YAML, as 3, true, null, [a, b] or a text
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    },
    /// Take a key out of config.yaml, so that its default counts
    #[command(after_help = "\
Example:
  adjutant config unset review.max_iterations")]
    Unset {
        /// The key, as `limits.depth`
        #[arg(value_name = "KEY")]
        key: String,
    },
    /// Print where the file is
    #[command(after_help = "\
Example:
  $EDITOR \"$(adjutant config path)\" && adjutant reload")]
    Path,
}

/// `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep the folder, and say where it is
    #[arg(long)]
    pub(crate) keep: bool,
}

/// `play`.
#[derive(Debug, Args)]
pub(crate) struct PlayArgs {
    /// The scenario
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) scenario: PathBuf,
}

/// `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// A shell that we write completions for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Shell {
    /// Bash
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
}

/// An amount of dollars, as a flag gives it.
fn dollars(text: &str) -> Result<f64, String> {
    let amount: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    model::money::Usd::check_dollars(amount).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
