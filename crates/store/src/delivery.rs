//! Work on its way out: the outbox, reviews, worktrees, the merge queue, pull requests.

pub(crate) mod check_environment;
pub(crate) mod lost_commit;
pub(crate) mod merge_queue;
pub(crate) mod outbox;
pub(crate) mod pull;
pub(crate) mod review;
pub(crate) mod worktree;
