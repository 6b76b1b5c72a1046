//! The grammar of the commands about tasks and mail.

use clap::{Args, Subcommand};

/// `tasks`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TasksArgs {
    /// Show only tasks in this state, such as `pending`, `in_progress` or `review`
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<String>,
    /// Show only tasks of this epic
    #[arg(long, value_name = "EPIC")]
    pub(crate) epic: Option<String>,
    /// Show at most this many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
    /// Action
    #[command(subcommand)]
    pub(crate) verb: Option<TasksVerb>,
}

/// Actions of `tasks`.
#[derive(Debug, Subcommand)]
pub(crate) enum TasksVerb {
    /// Show a task in full
    #[command(after_help = "\
Example:
  adjutant tasks show TAS-12
  adjutant tasks show fix-the-parser --json | jq -r .state")]
    Show {
        /// Task: an id, a slug or a number
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
    /// Title, in one line
    #[arg(value_name = "TITLE")]
    pub(crate) title: String,
    /// Describe the task; - reads stdin
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Add it to this epic
    #[arg(long, value_name = "EPIC")]
    pub(crate) epic: Option<String>,
    /// Set the priority, from 0 (first) to 4
    #[arg(long, short, value_name = "N")]
    pub(crate) priority: Option<u8>,
    /// Depend on this task; repeatable
    #[arg(long, value_name = "TASK")]
    pub(crate) depends_on: Vec<String>,
    /// Set the name in paths and commands (default: derived from the title)
    #[arg(long, value_name = "SLUG")]
    pub(crate) slug: Option<String>,
}

/// `mail`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MailArgs {
    /// Include mail that has been read
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Wait this many seconds for new mail, up to 240
    #[arg(long, value_name = "SECONDS")]
    pub(crate) wait: Option<u32>,
    /// Action
    #[command(subcommand)]
    pub(crate) verb: Option<MailVerb>,
}

/// Actions of `mail`.
#[derive(Debug, Subcommand)]
pub(crate) enum MailVerb {
    /// Show a message and mark it as read
    #[command(after_help = "\
Example:
  adjutant mail read mail_0123456789abcdef")]
    Read {
        /// Id of the message
        #[arg(value_name = "MAIL")]
        id: String,
    },
    /// Reply to a message
    #[command(after_help = "\
Example:
  adjutant mail reply mail_0123456789abcdef 'Go ahead'
  adjutant mail reply mail_0123456789abcdef - < answer.md")]
    Reply {
        /// Id of the message to answer
        #[arg(value_name = "MAIL")]
        id: String,
        /// Text of the message; - reads stdin
        #[arg(value_name = "BODY")]
        body: String,
    },
    /// Send mail to an agent
    #[command(after_help = "\
Example:
  adjutant mail send --to sp_0123456789abcdef --subject Stop 'Wait for me'")]
    Send {
        /// Send to this agent
        #[arg(long, value_name = "AGENT")]
        to: String,
        /// Set the subject
        #[arg(long, short, value_name = "TEXT")]
        subject: String,
        /// Text of the message; - reads stdin
        #[arg(value_name = "BODY")]
        body: String,
    },
}

/// `epic`.
#[derive(Debug, Args)]
pub(crate) struct EpicArgs {
    /// Action
    #[command(subcommand)]
    pub(crate) verb: EpicVerb,
}

/// Actions of `epic`.
#[derive(Debug, Subcommand)]
pub(crate) enum EpicVerb {
    /// Create an epic
    #[command(after_help = "\
Example:
  adjutant epic create 'Prices in euros'
  adjutant epic create 'Prices in euros' --description - < epic.md

Tasks join it with `adjutant tasks add TITLE --epic EPIC`.")]
    Create {
        /// Title, in one line
        #[arg(value_name = "TITLE")]
        title: String,
        /// Describe the epic; - reads stdin
        #[arg(long, short, value_name = "TEXT")]
        description: Option<String>,
    },
    /// List epics, newest first, with the progress of their tasks
    #[command(after_help = "\
Example:
  adjutant epic list
  adjutant epic list --json | jq -r '.epics[].id'")]
    List,
    /// Show an epic and its tasks
    #[command(after_help = "\
Example:
  adjutant epic show epic_0123456789abcdef")]
    Show {
        /// Id of the epic
        #[arg(value_name = "EPIC")]
        epic: String,
    },
}
