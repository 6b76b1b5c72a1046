//! The suite's resources: a text, a picture and a template.

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::json;

use super::Answer;
use super::content::PIXEL_PNG;

const TEXT_URI: &str = "test://static-text";
const IMAGE_URI: &str = "test://static-binary";
const WATCHED_URI: &str = "test://watched-resource";

pub(super) fn list() -> ListResourcesResult {
    let resource = |uri, name, kind| {
        Resource::new(uri, name).with_description("A resource of the suite").with_mime_type(kind)
    };
    ListResourcesResult::with_all_items(vec![
        resource(TEXT_URI, "text", "text/plain"),
        resource(IMAGE_URI, "picture", "image/png"),
        resource(WATCHED_URI, "watched", "text/plain"),
    ])
    .with_ttl_ms(1_000)
    .with_cache_scope(CacheScope::Private)
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new("test://template/{id}/data", "data")
        .with_description("The data of an id")
        .with_mime_type("application/json");
    ListResourceTemplatesResult::with_all_items(vec![template])
        .with_ttl_ms(1_000)
        .with_cache_scope(CacheScope::Private)
}

pub(super) fn read(uri: &str) -> Answer<ReadResourceResult> {
    let contents = match uri {
        TEXT_URI => ResourceContents::text("This is the content of the static text resource.", uri),
        IMAGE_URI => ResourceContents::blob(PIXEL_PNG, uri).with_mime_type("image/png"),
        WATCHED_URI => ResourceContents::text("Nothing has happened.", uri),
        _ => data(uri).ok_or_else(|| missing(uri))?,
    };
    Ok(ReadResourceResult::new(vec![contents])
        .with_ttl_ms(1_000)
        .with_cache_scope(CacheScope::Private))
}

fn data(uri: &str) -> Option<ResourceContents> {
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    let text = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
    Some(ResourceContents::text(text.to_string(), uri).with_mime_type("application/json"))
}

fn missing(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("resource not found", Some(json!({ "uri": uri })))
}
