//! The grammar of the commands about reviews, worktrees and the merge queue.

use clap::{Args, Subcommand};

/// `reviews`.
#[derive(Debug, Args)]
pub(crate) struct ReviewsArgs {
    /// Also those that are over
    #[arg(long, short)]
    pub(crate) all: bool,
}

/// `review`.
#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) verb: ReviewVerb,
}

/// What to do with work in review.
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewVerb {
    /// Show all reviews of one agent's work, with what was said
    #[command(after_help = "\
Example:
  adjutant review show sp_0123456789abcdef
  adjutant review show fix-the-parser")]
    Show {
        /// The agent, by id, four or more digits of it, or `last`; or its task, by id, slug or number
        #[arg(value_name = "AGENT|TASK")]
        name: String,
    },
    /// Approve tasks and wait until they are merged; exits with 1 where one does not fit
    #[command(after_help = "\
Example:
  adjutant review approve TAS-12
  adjutant review approve fix-the-parser write-the-docs

Each is merged on its own, in the order given, and checked with the command
`check` of the configuration. What does not fit goes back to who did it.")]
    Approve {
        /// The tasks: ids, slugs or numbers
        #[arg(value_name = "TASK", required = true)]
        tasks: Vec<String>,
    },
    /// Send a task back to who did it, with what is to be changed
    #[command(after_help = "\
Example:
  adjutant review request-changes TAS-12 'Cover the empty case with a test'
  adjutant review request-changes TAS-12 - < notes.md")]
    RequestChanges {
        /// The task: an id, a slug or a number
        #[arg(value_name = "TASK")]
        task: String,
        /// What is to be changed; - reads it from stdin
        #[arg(value_name = "FEEDBACK")]
        feedback: String,
    },
    /// Give an agent's work up: it ends, and what it did is kept on branches
    #[command(after_help = "\
Example:
  adjutant review abandon sp_0123456789abcdef --reason 'we do it another way'

What it committed stays on its branch, and what it did not on a rescue branch:
`adjutant worktrees --all` names them.")]
    Abandon {
        /// The agent: its id, four or more digits of its beginning or its end, or `last`
        #[arg(value_name = "AGENT")]
        agent: String,
        /// Why; it is recorded
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Allow an agent more reviews than `review.max_iterations` says
    #[command(after_help = "\
Example:
  adjutant review allow-more sp_0123456789abcdef
  adjutant review allow-more last 3")]
    AllowMore {
        /// The agent: its id, four or more digits of its beginning or its end, or `last`
        #[arg(value_name = "AGENT")]
        agent: String,
        /// How many more
        #[arg(value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
        more: u32,
    },
}

/// `worktrees`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct WorktreesArgs {
    /// Also those that are gone
    #[arg(long, short)]
    pub(crate) all: bool,
    /// What else to do
    #[command(subcommand)]
    pub(crate) verb: Option<WorktreesVerb>,
}

/// What to do with worktrees.
#[derive(Debug, Subcommand)]
pub(crate) enum WorktreesVerb {
    /// Take the worktrees of agents that have ended away; what is in them is kept on branches
    #[command(after_help = "\
Example:
  adjutant worktrees prune --ended
  adjutant worktrees prune sp_0123456789abcdef

What was not committed is committed to a rescue branch first.")]
    Prune(PruneArgs),
    /// Say whether git and the record agree; exits with 5 where they do not
    #[command(after_help = "\
Example:
  adjutant worktrees check")]
    Check,
}

/// `worktrees prune`.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PruneArgs {
    /// The agents: ids, four or more digits of their beginnings or ends, or `last`
    #[arg(value_name = "AGENT")]
    pub(crate) agents: Vec<String>,
    /// Those of all agents that have ended
    #[arg(long)]
    pub(crate) ended: bool,
}

/// `merge-queue`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MergeQueueArgs {
    /// Also what is merged or was sent back
    #[arg(long, short)]
    pub(crate) all: bool,
    /// What else to do
    #[command(subcommand)]
    pub(crate) verb: Option<MergeQueueVerb>,
}

/// What to do with the merge queue.
#[derive(Debug, Subcommand)]
pub(crate) enum MergeQueueVerb {
    /// Try again to merge what is held, once you have seen to what was in its way
    #[command(after_help = "\
Example:
  adjutant merge-queue retry merge_0123456789abcdef")]
    Retry {
        /// The merge, as `adjutant merge-queue` names it
        #[arg(value_name = "MERGE")]
        merge: String,
    },
}
