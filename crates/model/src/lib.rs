//! The domain: its types and state machines. Pure: no async, no I/O, no clock, no SQL.
//!
//! See ARCHITECTURE.md, “model”.
#![deny(clippy::wildcard_enum_match_arm)]

pub mod age;
pub mod agent;
pub mod board;
pub mod cursor;
pub mod epic;
pub mod event;
pub mod event_kinds;
pub mod glob;
pub mod graph;
pub mod habits;
pub mod id;
mod markdown;
pub mod money;
pub mod nearest;
pub mod note;
pub mod path_glob;
pub mod placement;
pub mod plan;
pub mod plan_issues;
pub mod policy;
pub mod redact;
pub mod review;
pub mod session;
pub mod slack;
pub mod slug;
pub mod task;
pub mod text;
pub mod time;
pub mod webhook;
mod words;

pub use age::Age;
pub use agent::{AgentState, AgentStateName, AgentType};
pub use board::Column;
pub use cursor::Cursor;
pub use epic::EpicState;
pub use event_kinds::EventKinds;
pub use id::{
    AgentId, DeliveryId, EpicId, FeedbackId, IncidentId, LogId, MailId, MergeId, OutboxJobId,
    PassId, ReservationId, TaskId,
};
pub use note::NoteType;
pub use path_glob::PathGlob;
pub use plan::PlanState;
pub use policy::{Category, Policy, Reach};
pub use task::{Claim, Priority, TaskRef, TaskState, TaskStateName};
pub use text::{Line, Text};
pub use time::Timestamp;
