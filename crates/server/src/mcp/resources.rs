//! `resources/*`: resources beside the tools.

use engine::{Principal, RESOURCE_TEMPLATES, ToolError};
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};

use crate::mcp::listing::FRESH_MILLIS;
use crate::shared::Shared;

pub(super) fn list(
    shared: &Shared,
    principal: Principal,
) -> Result<ListResourcesResult, ToolError> {
    let all = shared.app.engine.resource_list(principal)?;
    let all = all.into_iter().map(|info| {
        Resource::new(info.uri, info.name)
            .with_description(info.description)
            .with_mime_type(info.mime)
    });
    Ok(ListResourcesResult::with_all_items(all.collect())
        .with_ttl_ms(FRESH_MILLIS)
        .with_cache_scope(CacheScope::Private))
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    let all = RESOURCE_TEMPLATES.iter().map(|(uri, name, description, mime)| {
        ResourceTemplate::new(*uri, *name).with_description(*description).with_mime_type(*mime)
    });
    ListResourceTemplatesResult::with_all_items(all.collect())
        .with_ttl_ms(FRESH_MILLIS)
        .with_cache_scope(CacheScope::Private)
}

pub(super) async fn read(
    shared: &Shared,
    principal: Principal,
    uri: &str,
) -> Result<ReadResourceResult, ToolError> {
    let text = shared.app.engine.resource_read(principal, uri).await?;
    // Resources are pages for people or facts for programs, and look it.
    let mime = if text.starts_with('{') { "application/json" } else { "text/markdown" };
    let contents = ResourceContents::text(text, uri).with_mime_type(mime);
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}
