//! MCP over Streamable HTTP, both protocol versions on one endpoint.

pub(crate) mod endpoint;
pub(crate) mod handler;
mod listing;
mod prompts;
mod resources;
pub(crate) mod sessions;
mod short;
pub(crate) mod subscriptions;
mod visit;
