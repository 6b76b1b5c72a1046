//! The path of a call: caller, tool, door, rates and repeats.

pub(crate) mod activity;
pub(crate) mod cx;
pub(crate) mod door;
pub(crate) mod escalate;
pub(crate) mod identity;
pub(crate) mod input;
pub(crate) mod mcp_sessions;
pub(crate) mod observer;
pub(crate) mod paging;
pub mod proof;
pub(crate) mod rate;
pub(crate) mod service;
pub(crate) mod tool;
pub mod toolsets;
pub(crate) mod web_access;
