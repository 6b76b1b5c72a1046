//! What the product does: the tools, the one door through which they are called, and the reactions.
//!
//! See ARCHITECTURE.md, “engine”.

mod cx;
mod door;
mod engine;
mod enlist;
mod error;
mod escalate;
mod identity;
mod input;
mod rate;
mod redact;
pub mod settings;
mod tool;
mod tools;
pub mod toolsets;

pub use cx::Caller;
pub use door::{Call, Failure, Progress};
pub use engine::{Engine, Options};
pub use enlist::{Enlisted, Recruit};
pub use error::{Code, ToolError};
pub use identity::{Principal, hash_token};
pub use redact::redact;
pub use store::SCHEMA_VERSION;
pub use tool::{Described, Effect, Output, ToolDef, by_name};
pub use tools::TOOLS;
