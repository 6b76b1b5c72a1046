//! What the domain is and how it moves. Pure: no async, no I/O, no clock, no SQL.
//!
//! See ARCHITECTURE.md, “model”.
#![deny(clippy::wildcard_enum_match_arm)]

pub mod agent;
pub mod epic;
pub mod event;
pub mod glob;
pub mod graph;
pub mod habits;
pub mod id;
pub mod money;
pub mod nearest;
pub mod note;
pub mod policy;
pub mod slug;
pub mod task;
pub mod text;
pub mod time;

pub use agent::{AgentState, AgentStateName, AgentType};
pub use epic::EpicState;
pub use id::{AgentId, EpicId, FeedbackId, IncidentId, LogId, MailId, TaskId};
pub use note::NoteType;
pub use policy::{Category, Policy, Reach};
pub use task::{Claim, Priority, TaskRef, TaskState, TaskStateName};
pub use text::{Line, Text};
pub use time::Timestamp;
