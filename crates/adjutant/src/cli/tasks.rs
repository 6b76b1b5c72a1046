//! The grammar of the commands about tasks and mail.

use clap::{Args, Subcommand};

/// `tasks`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TasksArgs {
    /// Only those in this state, as `pending` or `in_progress`
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<String>,
    /// Only those of this epic
    #[arg(long, value_name = "EPIC")]
    pub(crate) epic: Option<String>,
    /// At most so many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
    /// What else to do
    #[command(subcommand)]
    pub(crate) verb: Option<TasksVerb>,
}

/// What to do with tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum TasksVerb {
    /// Show a task whole
    #[command(after_help = "\
Example:
  adjutant tasks show TAS-12
  adjutant tasks show fix-the-parser --json | jq -r .state")]
    Show {
        /// The task: an id, a slug or a number
        #[arg(value_name = "TASK")]
        task: String,
    },
    /// Add a task
    #[command(after_help = "\
Example:
  adjutant tasks add 'Fix the parser' --priority 1
  adjutant tasks add 'Write the docs' --depends-on fix-the-parser
  adjutant tasks add 'Keep it quick' --description - < notes.md")]
    Add(TaskAddArgs),
}

/// `tasks add`.
#[derive(Debug, Args)]
pub(crate) struct TaskAddArgs {
    /// What is to be done, in a line
    #[arg(value_name = "TITLE")]
    pub(crate) title: String,
    /// What it is about; - reads it from stdin
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// The epic it belongs to
    #[arg(long, value_name = "EPIC")]
    pub(crate) epic: Option<String>,
    /// From 0 (first) to 4
    #[arg(long, short, value_name = "N")]
    pub(crate) priority: Option<u8>,
    /// A task that must be done before; may be given again
    #[arg(long, value_name = "TASK")]
    pub(crate) depends_on: Vec<String>,
    /// Its name in paths and commands (default: made from the title)
    #[arg(long, value_name = "SLUG")]
    pub(crate) slug: Option<String>,
}

/// `mail`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MailArgs {
    /// Also letters that have been read
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Wait so many seconds for a letter, up to 240
    #[arg(long, value_name = "SECONDS")]
    pub(crate) wait: Option<u32>,
    /// What else to do
    #[command(subcommand)]
    pub(crate) verb: Option<MailVerb>,
}

/// What to do with mail.
#[derive(Debug, Subcommand)]
pub(crate) enum MailVerb {
    /// Show a letter and mark it as read
    #[command(after_help = "\
Example:
  adjutant mail read mail_0123456789abcdef")]
    Read {
        /// The letter
        #[arg(value_name = "MAIL")]
        id: String,
    },
    /// Answer a letter
    #[command(after_help = "\
Example:
  adjutant mail reply mail_0123456789abcdef 'Go ahead'
  adjutant mail reply mail_0123456789abcdef - < answer.md")]
    Reply {
        /// The letter to answer
        #[arg(value_name = "MAIL")]
        id: String,
        /// What to say; - reads it from stdin
        #[arg(value_name = "BODY")]
        body: String,
    },
    /// Write to an agent
    #[command(after_help = "\
Example:
  adjutant mail send --to sp_0123456789abcdef --subject Stop 'Wait for me'")]
    Send {
        /// The agent to write to
        #[arg(long, value_name = "AGENT")]
        to: String,
        /// What it is about
        #[arg(long, short, value_name = "TEXT")]
        subject: String,
        /// What to say; - reads it from stdin
        #[arg(value_name = "BODY")]
        body: String,
    },
}
