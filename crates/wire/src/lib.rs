//! Shapes that cross a boundary: views, event payloads, request bodies and error bodies.
//!
//! Each JSON shape is declared here once, with `Serialize`, `Deserialize` and `JsonSchema`. The engine produces them;
//! the server, the command line, webhooks and the generated TypeScript consume them.

pub mod agent_details;
pub mod agents;
pub mod audit;
pub mod cleanup;
pub mod costs;
pub mod crew;
pub mod decisions;
pub mod enlist;
pub mod environment;
pub mod epics;
pub mod error;
pub mod event;
pub mod files;
pub mod git;
pub mod hosts;
pub mod login;
pub mod loops;
pub mod mail;
pub mod merges;
pub mod operation;
pub mod overview;
pub mod paging;
pub mod plans;
pub mod record;
pub mod reviews;
pub mod runs;
pub mod server;
pub mod session;
pub mod settings;
pub mod slack;
pub mod supervisors;
pub mod tasks;
pub mod tools;
pub mod usage;
pub mod webhooks;
pub mod worktrees;
