//! The command line's grammar. The doc comments are the help.

mod automation;
pub(crate) mod call;
mod crew;
mod delivery;
mod groups;
mod homes;
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
use self::call::tool::ToolArgs;
pub(crate) use self::crew::{
    AttachArgs, AwaitArgs, BoundArgs, CostsArgs, DischargeArgs, EnlistArgs, KillArgs, LogsArgs,
    PsArgs, ResumeArgs, RunAndWaitArgs, RunArgs,
};
pub(crate) use self::delivery::{
    MergeQueueArgs, MergeQueueVerb, PruneArgs, ReviewArgs, ReviewVerb, ReviewsArgs, WorktreesArgs,
    WorktreesVerb,
};
pub(crate) use self::homes::{DatabaseArgs, HomeArgs, HomeVerb, ServeHomesArgs, ServeVerb};
pub(crate) use self::notify::slack::{SlackArgs, SlackVerb};
pub(crate) use self::notify::webhooks::{WebhooksArgs, WebhooksVerb};
pub(crate) use self::tasks::{
    EpicArgs, EpicVerb, MailArgs, MailVerb, TaskAddArgs, TasksArgs, TasksVerb,
};
pub(crate) use self::upkeep::{BackupArgs, CleanArgs, DoctorArgs, RestoreArgs};

/// Run coding agents as a supervised crew
///
/// Agents share tasks, notes and mail through MCP tools. You watch and steer the crew from here.
/// Each command finds the server of this project, or starts one in the background.
#[derive(Debug, Parser)]
#[command(
    name = "adjutant",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    max_term_width = 80,
    after_help = "\
Start here:
  adjutant demo                         run a demonstration crew, without a model
  adjutant init                         create a home in your project
  adjutant run --role coder 'Fix it'    run an agent and wait for it
  adjutant enlist --role worker         register an agent that you run yourself
  adjutant open                         watch and steer the crew in your browser

Exit codes: 0 done, 1 the agent failed, 2 bad input, 3 not allowed,
4 not found, 5 conflict, 6 no server, 70 a bug."
)]
pub(crate) struct Cli {
    /// Options of every command
    #[command(flatten)]
    pub(crate) global: Global,
    /// Use this folder for the record and the run folders (default: in the repository's `.git`, else in the home)
    // Not for every command: some have a `--state` of their own.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Everywhere")]
    pub(crate) state: Option<PathBuf>,
    /// Action
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

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Use this home, the home of this project, or a home of homes.yaml by its name (default: searched upwards from
    /// here, as git does)
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Everywhere")]
    pub(crate) home: Option<PathBuf>,
    /// Print JSON; errors too, on stderr
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) json: bool,
    /// Print more on stderr; twice for everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Everywhere")]
    pub(crate) verbose: u8,
}

/// Every command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a home in this project: a commented config.yaml and example roles
    #[command(after_help = "\
Example:
  adjutant init                  in the project's folder
  adjutant init --home ~/work/x  for another project

Existing files are kept.")]
    Init,
    /// Start the server
    #[command(after_help = "\
Example:
  adjutant up                 in the foreground, until Ctrl-C
  adjutant up --detach        in the background, until `adjutant down`
  adjutant up --port 0        on any free port")]
    Up(UpArgs),
    /// Serve all homes of a PostgreSQL, together with the other hosts that do so
    #[command(after_help = "\
Example:
  adjutant serve --database postgres://crew@db/adjutant
  adjutant serve --database postgres://crew@db/crews --url http://crew-1:3000
  adjutant serve status       homes of this host, and the other hosts

Run one on each host. A home is at URL/homes/NAME of any of them. The password
of the database comes from PGPASSWORD or PGPASSFILE. SIGTERM hands all homes
over; `adjutant home create` makes a home.")]
    Serve(ServeHomesArgs),
    /// Stop the server; refused while agents run
    #[command(after_help = "\
Example:
  adjutant down
  adjutant down --kill        end the agents first
  adjutant down --leave       leave them running; the next server finds them again")]
    Down(DownArgs),
    /// Show whether the server runs, without starting it; exits with 6 if it does not
    #[command(after_help = "\
Example:
  adjutant status || adjutant up --detach")]
    Status,
    /// Print the operator's token, which allows everything
    #[command(after_help = "\
Example:
  curl -H \"Authorization: Bearer $(adjutant token)\" http://127.0.0.1:3001/api/status")]
    Token,
    /// Open the page in your browser, or create a link to it
    #[command(after_help = "\
Example:
  adjutant open                          in your browser, with a link that works once
  adjutant open --print                  print the link, to paste
  adjutant open --read-only --days 2     a read-only link to share
  adjutant open --links
  adjutant open --revoke all")]
    Open(OpenArgs),
    /// Run an agent and wait until it ends; exits with 1 if it fails
    #[command(after_help = "\
Example:
  adjutant run --role coder 'Make the tests pass'
  adjutant run --role coder --task fix-the-parser --budget 2.50 - < prompt.md
  adjutant run --role reviewer --json 'Look at HEAD' | jq -r .result.summary
  adjutant run --quiet --role coder 'Fix the typo' > report.txt

At a terminal you see what it says and does, one line each.
Ctrl-C stops waiting, not the agent.")]
    Run(RunAndWaitArgs),
    /// Start an agent without waiting for it
    #[command(after_help = "\
Example:
  adjutant draft --role coder 'Make the tests pass'
  adjutant await $(adjutant draft --role coder --json 'Fix it' | jq -r .agentId)")]
    Draft(RunArgs),
    /// Wait until agents end; exits with 1 if one fails
    #[command(after_help = "\
Example:
  adjutant await last
  adjutant await sp_0123456789abcdef sp_fedcba9876543210 --timeout 600
  adjutant await cdef --json     one line for each agent, in the order given")]
    Await(AwaitArgs),
    /// Kill agents and everything they started; exits with 5 if one had already ended
    #[command(after_help = "\
Example:
  adjutant kill last
  adjutant kill sp_0123456789abcdef")]
    Kill(KillArgs),
    /// Resume an ended agent's conversation as a new agent
    #[command(after_help = "\
Example:
  adjutant resume last
  adjutant resume sp_0123456789abcdef 'The tests still fail' --detach")]
    Resume(ResumeArgs),
    /// Register an agent that you run yourself, and print its MCP configuration
    #[command(after_help = "\
Example:
  adjutant enlist --role worker
  adjutant enlist --role worker --task fix-the-parser
  adjutant enlist --role worker --json | jq .mcpConfig > mcp.json")]
    Enlist(EnlistArgs),
    /// End an agent that you run yourself; revokes its token and frees its tasks
    #[command(after_help = "\
Example:
  adjutant discharge sp_0123456789abcdef --reason 'the window is closed'")]
    Discharge(DischargeArgs),
    /// List the agents
    #[command(after_help = "\
Example:
  adjutant ps
  adjutant ps --all       with ended agents
  adjutant ps --watch     refresh until Ctrl-C")]
    Ps(PsArgs),
    /// Watch and steer the crew on a full screen: tree, streams, mail, costs
    #[command(after_help = "\
Example:
  adjutant top
  ssh host -t 'cd project && adjutant top'

In it, `?` lists the keys. NO_COLOR is obeyed.")]
    Top,
    /// Show an agent's output and tool calls; -f follows
    #[command(after_help = "\
Example:
  adjutant logs last
  adjutant logs -f sp_0123456789abcdef
  adjutant logs last --raw > output.jsonl
  adjutant logs last --json | jq -r 'select(.stream == \"err\").text'")]
    Logs(LogsArgs),
    /// Watch an agent and send it input, until it ends
    #[command(after_help = "\
Example:
  adjutant attach last
  echo 'Leave the docs alone' | adjutant attach sp_0123456789abcdef")]
    Attach(AttachArgs),
    /// Show costs and tool usage of agents
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
    /// Create, list and show epics
    #[command(after_help = "\
Example:
  adjutant epic create 'Prices in euros'
  adjutant epic list
  adjutant epic show epic_0123456789abcdef")]
    Epic(EpicArgs),
    /// Run one agent after the other on a specification until it is done
    #[command(after_help = "\
Example:
  adjutant loop auth --spec SPEC.md --iterations 10
  adjutant loop auth --spec SPEC.md --agent codex --commit --budget 20
  adjutant loop say auth 'Leave the old interface as it is'
  adjutant loop pause auth
  adjutant loop auth --iterations 5        five more

Exits with 0 if the session was completed or used its iterations, with 1 if it
failed, was stopped, is paused, or has spent its budget.")]
    Loop(LoopArgs),
    /// Run a plan step by step with a crew, and show its progress
    #[command(after_help = "\
Example:
  adjutant plan check PLAN.md
  adjutant plan run PLAN.md --budget 5
  adjutant plan status")]
    Plan(PlanArgs),
    /// List, start and replace supervisors of epics
    #[command(after_help = "\
Example:
  adjutant supervisors
  adjutant supervisors create epic_0123456789abcdef --prompt 'Tests first'
  adjutant supervisors recover sp_0123456789abcdef --reason 'it hangs'")]
    Supervisors(SupervisorsArgs),
    /// Read and answer mail from agents
    #[command(after_help = "\
Example:
  adjutant mail
  adjutant mail read mail_0123456789abcdef
  adjutant mail reply mail_0123456789abcdef 'Go ahead'
  adjutant mail send --to sp_0123456789abcdef --subject 'Stop' 'Wait for the review'")]
    Mail(MailArgs),
    /// List work to approve, open reviews, and agents at their review limit
    #[command(after_help = "\
Example:
  adjutant reviews
  adjutant reviews --all      with ended reviews
  adjutant reviews --json | jq -r '.tasks[].slug'")]
    Reviews(ReviewsArgs),
    /// Decide about work in review: approve, request changes or abandon
    #[command(after_help = "\
Example:
  adjutant review show TAS-12
  adjutant review approve TAS-12
  adjutant review request-changes TAS-12 'Cover the empty case with a test'
  adjutant review allow-more sp_0123456789abcdef
  adjutant review abandon sp_0123456789abcdef --reason 'we do it another way'")]
    Review(ReviewArgs),
    /// List and remove agents' worktrees
    #[command(after_help = "\
Example:
  adjutant worktrees
  adjutant worktrees --all        with removed worktrees
  adjutant worktrees prune --ended
  adjutant worktrees check        compare git with the record")]
    Worktrees(WorktreesArgs),
    /// List and retry merges of approved work
    #[command(after_help = "\
Example:
  adjutant merge-queue
  adjutant merge-queue --all      with merged and sent back work
  adjutant merge-queue retry merge_0123456789abcdef")]
    MergeQueue(MergeQueueArgs),
    /// Show events; -f follows
    #[command(after_help = "\
Example:
  adjutant events
  adjutant events -f
  adjutant events --kind task.updated --after 120")]
    Events(EventsArgs),
    /// Show decisions that agents logged
    #[command(after_help = "\
Example:
  adjutant decisions
  adjutant decisions --agent sp_0123456789abcdef")]
    Decisions(DecisionsArgs),
    /// List, verify and export the record of every call
    #[command(after_help = "\
Example:
  adjutant audit verify
  adjutant audit list --tool mail_send
  adjutant audit export record.jsonl")]
    Audit(AuditArgs),
    /// Remove old data; --dry-run only counts it
    Clean(CleanArgs),
    /// Share this home with other servers through PostgreSQL
    #[command(after_help = "\
Example:
  adjutant home import --database postgres://crew@db/adjutant
  adjutant home list
  adjutant home check")]
    Home(HomeArgs),
    /// Back up the record, the configuration, roles and templates into one file
    Backup(BackupArgs),
    /// Restore a backup into a home without a running server
    Restore(RestoreArgs),
    /// List, test, retry and enable webhooks
    #[command(after_help = "\
Example:
  adjutant webhooks
  adjutant webhooks test n8n
  adjutant webhooks dead
  adjutant webhooks retry n8n --all
  adjutant webhooks enable n8n")]
    Webhooks(WebhooksArgs),
    /// Show Slack status, list threads, retry failed messages
    #[command(after_help = "\
Example:
  adjutant slack
  adjutant slack threads
  adjutant slack retry")]
    Slack(SlackArgs),
    /// Call a tool, as yourself or as an agent; without a name, list the tools
    Tool(ToolArgs),
    /// Serve MCP on stdin and stdout, for clients that start their servers
    #[command(after_help = "\
Example:
  adjutant mcp install --client claude   let Claude Code start it, as yourself
  adjutant mcp uninstall --client claude
  adjutant mcp                           every tool the caller may use
  adjutant mcp --toolset mail            one toolset, under its own names
  adjutant mcp --as worker               as a new agent")]
    Mcp(McpArgs),
    /// Reload config.yaml, roles and templates
    #[command(after_help = "\
Example:
  adjutant reload")]
    Reload,
    /// Check everything that Adjutant depends on, and suggest fixes
    #[command(after_help = "\
Example:
  adjutant doctor
  adjutant doctor --online    also call each provider once, which costs a little")]
    Doctor(DoctorArgs),
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
    /// Run a demonstration crew in a temporary folder, without a model
    #[command(after_help = "\
Example:
  adjutant demo
  adjutant demo --keep    keep the folder to look around")]
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
  adjutant play crew.yaml      as an agent's supervisor process runs it"
    )]
    Play(PlayArgs),
}

/// `up`.
#[derive(Debug, Args)]
pub(crate) struct UpArgs {
    /// Listen on this port; 0 is any free port, and if it is taken the next free one is used
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Listen on this address
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) host: Option<String>,
    /// Use this folder for the record and the run folders, like `adjutant --state DIR`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) state: Option<PathBuf>,
    /// Run in the background, and restart after a crash
    #[arg(long)]
    pub(crate) detach: bool,
    /// Reason for the start; set by Adjutant itself
    #[arg(long, hide = true, value_enum, value_name = "HOW")]
    pub(crate) background: Option<Background>,
}

/// `down`.
#[derive(Debug, Args)]
pub(crate) struct DownArgs {
    /// Kill the agents and everything they started first
    #[arg(long, conflicts_with = "leave")]
    pub(crate) kill: bool,
    /// Leave the agents running
    #[arg(long)]
    pub(crate) leave: bool,
}

/// Origin of a background server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Background {
    /// Started by a command; ends by itself when it is no longer needed
    Needed,
    /// The watcher of `up --detach`, which restarts the server after a crash
    Keeper,
    /// The server under that watcher
    Kept,
    /// The server of one home under `adjutant serve`, which ends with it
    Hosted,
}

/// `config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Action
    #[command(subcommand)]
    pub(crate) verb: ConfigVerb,
}

/// Actions of `config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Show the current values: flags and environment override the file, which overrides the defaults
    #[command(after_help = "\
Example:
  adjutant config get
  adjutant config get limits
  adjutant config get limits.depth")]
    Get {
        /// Show this key, such as `limits.depth`, or this section, such as `limits` (default: all)
        #[arg(value_name = "KEY")]
        key: Option<String>,
    },
    /// Set a key in config.yaml and apply it at once; the rest of the file stays
    #[command(after_help = "\
Example:
  adjutant config set review.max_iterations 5
  adjutant config set worktrees.fresh '[coding, worker]'
  adjutant config set check 'make test'
  adjutant config set budget.default.usd null
  adjutant config set 'prices.models.\"gpt-5.1\"' '{input: 1, output: 10}'

Comments in the file are kept, and an invalid value is not written.")]
    Set {
        /// Key, such as `limits.depth`
        #[arg(value_name = "KEY")]
        key: String,
        /// Value in YAML, such as 3, true, null, [a, b] or a text
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a key from config.yaml, so that its default applies
    #[command(after_help = "\
Example:
  adjutant config unset review.max_iterations")]
    Unset {
        /// Key, such as `limits.depth`
        #[arg(value_name = "KEY")]
        key: String,
    },
    /// Print the path of config.yaml
    #[command(after_help = "\
Example:
  $EDITOR \"$(adjutant config path)\" && adjutant reload")]
    Path,
}

/// `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep the folder, and print its path
    #[arg(long)]
    pub(crate) keep: bool,
}

/// `play`.
#[derive(Debug, Args)]
pub(crate) struct PlayArgs {
    /// Scenario to play
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) scenario: PathBuf,
}

/// `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to print completions for
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// A shell with completions.
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
