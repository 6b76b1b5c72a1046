//! Names of the toolsets, which patterns of tools and routes use.

/// Every toolset, in the order in which they are listed.
pub const TOOLSETS: [&str; 13] = [
    "harness",
    "agents",
    "mail",
    "agent",
    "system",
    "task",
    "epic",
    "supervisor",
    "orchestrator",
    "git",
    "files",
    "review",
    "session",
];

/// True if a toolset's names need its own as a prefix in a combined list.
pub(crate) fn is_generic(toolset: &str) -> bool {
    !matches!(toolset, "harness" | "agents" | "review" | "session")
}
