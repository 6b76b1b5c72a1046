//! What the product does: the tools, the one door through which they are called, and the reactions.
//!
//! See ARCHITECTURE.md, “engine”.

mod context;
mod cx;
mod door;
mod engine;
mod enlist;
mod error;
mod escalate;
mod identity;
mod input;
mod mirror;
mod projection;
mod rate;
mod redact;
mod resources;
mod result;
mod run;
pub mod settings;
pub mod templates;
mod tool;
mod tools;
pub mod toolsets;
mod topics;

pub use cx::Caller;
pub use door::{Call, Failure, Progress};
pub use engine::{Engine, Options};
pub use enlist::{Enlisted, Recruit};
pub use error::{Code, ToolError};
pub use host::run::{OutputLine, Stream};
pub use identity::{Principal, hash_token};
pub use input::parse as parse_input;
pub use mirror::{Mirror, MirrorError};
pub use redact::redact;
pub use resources::{RESOURCE_TEMPLATES, ResourceInfo, resources_touched};
pub use run::{Draft, Keeping, OnCap, OutputPage, OutputWish, Wish};
pub use store;
pub use store::SCHEMA_VERSION;
pub use templates::{template_tools, tools_of};
pub use tool::{Described, Effect, Output, ToolDef, by_name, joined_of};
pub use tools::TOOLS;
pub use topics::Waits;
