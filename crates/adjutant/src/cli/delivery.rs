//! The grammar of the commands about reviews, worktrees and the merge queue.

use clap::{Args, Subcommand};

/// `reviews`.
#[derive(Debug, Args)]
pub(crate) struct ReviewsArgs {
    /// Include ended reviews
    #[arg(long, short)]
    pub(crate) all: bool,
}

/// `review`.
#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    /// Action
    #[command(subcommand)]
    pub(crate) verb: ReviewVerb,
}

/// Actions of `review`.
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewVerb {
    /// Show work in review: its branch, its changes, and all reviews with their feedback
    #[command(after_help = "\
Example:
  adjutant review show TAS-12
  adjutant review show TAS-12 --patch
  adjutant review show sp_0123456789abcdef")]
    Show {
        /// Task, by id, slug or number; or its agent, by id, at least four digits of it, or `last`
        #[arg(value_name = "AGENT|TASK")]
        name: String,
        /// Print the changed lines too
        #[arg(long, short)]
        patch: bool,
    },
    /// Approve tasks and wait for their merges; exits with 1 if one is not merged
    #[command(after_help = "\
Example:
  adjutant review approve TAS-12
  adjutant review approve fix-the-parser write-the-docs

Tasks are merged one by one, in the order given, into the branch that each came
from, and checked with the command `check` of the configuration. A task that is
not merged goes back to its agent.")]
    Approve {
        /// Tasks: ids, slugs or numbers
        #[arg(value_name = "TASK", required = true)]
        tasks: Vec<String>,
        /// Merge each task as one commit (default: `review.squash` of the configuration)
        #[arg(long, overrides_with = "no_squash")]
        squash: bool,
        /// Keep the commits of each task
        #[arg(long, overrides_with = "squash")]
        no_squash: bool,
    },
    /// Send a task back to its agent with the changes to make
    #[command(after_help = "\
Example:
  adjutant review request-changes TAS-12 'Cover the empty case with a test'
  adjutant review request-changes TAS-12 - < notes.md")]
    RequestChanges {
        /// Task: an id, a slug or a number
        #[arg(value_name = "TASK")]
        task: String,
        /// Changes to make; - reads stdin
        #[arg(value_name = "FEEDBACK")]
        feedback: String,
    },
    /// Abandon an agent's work; ends the agent and keeps its branches
    #[command(after_help = "\
Example:
  adjutant review abandon sp_0123456789abcdef --reason 'we do it another way'

Its commits stay on its branch, and uncommitted changes go to a rescue branch:
`adjutant worktrees --all` names them.")]
    Abandon {
        /// Agent: its id, at least four first or last digits of it, or `last`
        #[arg(value_name = "AGENT")]
        agent: String,
        /// Record this reason
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Allow an agent more reviews than `review.max_iterations`
    #[command(after_help = "\
Example:
  adjutant review allow-more sp_0123456789abcdef
  adjutant review allow-more last 3")]
    AllowMore {
        /// Agent: its id, at least four first or last digits of it, or `last`
        #[arg(value_name = "AGENT")]
        agent: String,
        /// Number of additional reviews
        #[arg(value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
        more: u32,
    },
}

/// `worktrees`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct WorktreesArgs {
    /// Include removed worktrees
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Action
    #[command(subcommand)]
    pub(crate) verb: Option<WorktreesVerb>,
}

/// Actions of `worktrees`.
#[derive(Debug, Subcommand)]
pub(crate) enum WorktreesVerb {
    /// Remove worktrees of ended agents; their content is kept on branches
    #[command(after_help = "\
Example:
  adjutant worktrees prune --ended
  adjutant worktrees prune sp_0123456789abcdef

Uncommitted changes are first committed to a rescue branch.")]
    Prune(PruneArgs),
    /// Check that git and the record agree; exits with 5 if they do not
    #[command(after_help = "\
Example:
  adjutant worktrees check
  adjutant worktrees check --settle

--settle is for commits that you removed yourself, for example with git
reset: it changes nothing in git, and they are not reported again.")]
    Check {
        /// Accept that commits which no branch reaches any more are gone
        #[arg(long)]
        settle: bool,
    },
}

/// `worktrees prune`.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PruneArgs {
    /// Agents: ids, at least four first or last digits of ids, or `last`
    #[arg(value_name = "AGENT")]
    pub(crate) agents: Vec<String>,
    /// Remove those of all ended agents
    #[arg(long)]
    pub(crate) ended: bool,
}

/// `merge-queue`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MergeQueueArgs {
    /// Include merged and sent back work
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Action
    #[command(subcommand)]
    pub(crate) verb: Option<MergeQueueVerb>,
}

/// Actions of `merge-queue`.
#[derive(Debug, Subcommand)]
pub(crate) enum MergeQueueVerb {
    /// Retry a held merge after you fixed its cause
    #[command(after_help = "\
Example:
  adjutant merge-queue retry merge_0123456789abcdef")]
    Retry {
        /// Id of the merge, from `adjutant merge-queue`
        #[arg(value_name = "MERGE")]
        merge: String,
    },
}
