//! Commands about work on its way out: reviews, worktrees, the merge queue, the guard of commits.

pub(crate) mod changes;
pub(crate) mod guard;
pub(crate) mod merge_queue;
pub(crate) mod reviews;
pub(crate) mod worktrees;
