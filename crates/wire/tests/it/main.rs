//! Every shape reads what it writes, and its schema says what that is.

mod agents;
mod crew;
mod decisions;
mod epics;
mod files;
mod git;
mod loops;
mod mail;
mod merges;
mod overview;
mod paging;
mod plans;
mod reviews;
mod sample;
mod session;
mod supervisors;
mod tasks;
mod worktrees;
