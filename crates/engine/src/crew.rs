//! Agents: drafting, starting, supervising and ending them, and their context.

pub(crate) mod context;
pub(crate) mod enlist;
pub(crate) mod hooks;
pub(crate) mod mcp_servers;
pub(crate) mod probe;
pub(crate) mod projection;
pub(crate) mod result;
pub(crate) mod run;
pub(crate) mod service;
pub(crate) mod templates;
pub(crate) mod transition;
