//! Records of calls: the audit chain, answers by key, use of tools, sessions, access to the page.

pub(crate) mod audit;
pub(crate) mod audit_blocks;
pub(crate) mod audit_cut;
pub(crate) mod audit_search;
pub(crate) mod home_file;
pub(crate) mod idempotency;
pub(crate) mod mcp_session;
pub(crate) mod rights;
pub(crate) mod role_snapshot;
pub(crate) mod tool_use;
pub(crate) mod web_access;
