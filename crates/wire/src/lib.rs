//! Shapes that cross a boundary: views, event payloads, request bodies and error bodies.
//!
//! Each JSON shape is declared here once, with `Serialize`, `Deserialize` and `JsonSchema`. The engine produces them;
//! the server, the command line, webhooks and the generated TypeScript consume them.

pub mod agents;
pub mod crew;
pub mod decisions;
pub mod epics;
pub mod error;
pub mod event;
pub mod files;
pub mod git;
pub mod loops;
pub mod mail;
pub mod merges;
pub mod operation;
pub mod overview;
pub mod paging;
pub mod plans;
pub mod reviews;
pub mod session;
pub mod supervisors;
pub mod tasks;
pub mod worktrees;
