//! Prepared texts for agents: roles, templates, and the front matter that both begin with.

pub(crate) mod front_matter;
pub(crate) mod mcp_servers;
pub(crate) mod roles;
pub(crate) mod templates;
