//! Tools that answer at once, with every type of content.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

use super::tools::{Fixture, fail, say};

/// A PNG of one red pixel.
pub(super) const PIXEL_PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";
/// A WAV file without a sample.
const SILENT_WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

pub(super) static TOOLS: &[Fixture] = &[
    Fixture::new("test_simple_text", "Answer with a text", |_| {
        Box::pin(async { Ok(say("This is a simple text response for testing.")) })
    }),
    Fixture::new("test_image_content", "Answer with an image", |_| {
        Box::pin(async {
            Ok(CallToolResult::success(vec![ContentBlock::image(PIXEL_PNG, "image/png")]).into())
        })
    }),
    Fixture::new("test_audio_content", "Answer with a sound", |_| {
        Box::pin(async {
            Ok(CallToolResult::success(vec![ContentBlock::audio(SILENT_WAV, "audio/wav")]).into())
        })
    }),
    Fixture::new("test_embedded_resource", "Answer with a resource", |_| {
        Box::pin(async {
            let resource = ResourceContents::text(
                "This is an embedded resource content.",
                "test://embedded-resource",
            );
            Ok(CallToolResult::success(vec![ContentBlock::resource(resource)]).into())
        })
    }),
    Fixture::new("test_multiple_content_types", "Answer with text, image and resource", |_| {
        Box::pin(async {
            let data = json!({ "test": "data", "value": 123 }).to_string();
            let resource = ResourceContents::text(data, "test://mixed-content-resource")
                .with_mime_type("application/json");
            Ok(CallToolResult::success(vec![
                ContentBlock::text("Multiple content types test:"),
                ContentBlock::image(PIXEL_PNG, "image/png"),
                ContentBlock::resource(resource),
            ])
            .into())
        })
    }),
    Fixture::new("test_error_handling", "Fail", |_| {
        Box::pin(async { Ok(fail("This tool intentionally returns an error for testing")) })
    }),
    Fixture::new(
        "json_schema_2020_12_tool",
        "Have a schema with all that JSON Schema offers",
        |_| Box::pin(async { Ok(say("The schema was kept.")) }),
    )
    .taking(rich_schema),
    Fixture::new("test_custom_header", "Mirror an argument in a header", |call| {
        Box::pin(async move {
            call.text("value")
                .map(say)
                .ok_or_else(|| ErrorData::invalid_params("`value` must be a string", None))
        })
    })
    .taking(|| {
        json!({
            "type": "object",
            "properties": { "value": { "type": "string", "x-mcp-header": "Value" } },
            "required": ["value"],
        })
    }),
];

fn rich_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}
