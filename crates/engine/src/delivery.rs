//! Work on its way into a branch: the outbox, worktrees, reviews, the merge queue, GitHub.

pub(crate) mod consistency;
pub(crate) mod ended;
pub(crate) mod github;
pub(crate) mod merge_queue;
pub(crate) mod outbox;
pub(crate) mod reviews;
pub(crate) mod service;
pub(crate) mod supervised;
pub(crate) mod worktree_provision;
pub(crate) mod worktree_setup;
pub(crate) mod worktrees;
