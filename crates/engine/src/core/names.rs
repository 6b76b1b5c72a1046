//! Names as people and tools know them.

use model::AgentId;

/// The group of a canonical name.
pub(crate) fn toolset_of(name: &str) -> &str {
    name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map_or("", |(set, _)| set)
}

/// A tool's name within its group, from the canonical one.
pub fn bare_of(name: &str) -> &str {
    name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map_or(name, |(_, bare)| bare)
}

/// The end of an id: its beginning is the time, so that it is the end that tells two apart.
pub(crate) fn short(id: AgentId) -> String {
    let id = id.to_string();
    id.get(id.len().saturating_sub(5)..).unwrap_or_default().to_owned()
}
