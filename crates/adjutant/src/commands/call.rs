//! Commands about calls: tools, MCP, access to the page, and the record of it all.

pub(crate) mod audit;
pub(crate) mod decisions;
pub(crate) mod events;
pub(crate) mod mcp;
pub(crate) mod open;
pub(crate) mod tool;
