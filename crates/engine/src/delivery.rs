//! Work on its way into a branch: worktrees, the outbox, reviews, the merge queue, GitHub, and the jobs of the outbox,
//! which use all of them.

pub(crate) mod check_environment;
pub(crate) mod command_environment;
pub(crate) mod consistency;
mod git_errors;
pub(crate) mod github;
pub(crate) mod jobs;
pub(crate) mod merge_queue;
pub(crate) mod outbox;
pub(crate) mod reviews;
pub(crate) mod service;
pub(crate) mod supervised;
pub(crate) mod worktree_provision;
pub(crate) mod worktree_release;
pub(crate) mod worktree_setup;
pub(crate) mod worktrees;
