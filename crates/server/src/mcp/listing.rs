//! `tools/list`: the caller's tools, in the order of the registry.

use engine::ToolError;
use rmcp::model::{CacheScope, ListToolsResult};

use crate::mcp::visit::Visit;
use crate::registry;
use crate::shared::Shared;

/// Lifetime of a cached list: permissions change when the operator reloads them.
pub(super) const FRESH_MILLIS: u64 = 5_000;

pub(super) fn tools(shared: &Shared, visit: &Visit) -> Result<ListToolsResult, ToolError> {
    let caller = shared.app.engine.caller(visit.principal, None)?;
    let settings = shared.app.engine.settings();
    let tools = registry::entries(&settings)
        .filter(|entry| visit.mount.lists(entry, &caller))
        .filter(|entry| caller.is_offered(&settings, entry.def))
        .map(|entry| entry.here(visit.mount).clone())
        .collect();
    Ok(ListToolsResult::with_all_items(tools)
        .with_ttl_ms(FRESH_MILLIS)
        .with_cache_scope(CacheScope::Private))
}
