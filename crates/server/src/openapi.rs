//! The description of what is not MCP, as programs read it: `OpenAPI`.

use std::sync::LazyLock;

use engine::settings::Settings;
use serde_json::{Value, json};
use utoipa::OpenApi;

use crate::api::{
    agents, costs, decisions, github, merge_queue, record, reviews, running, runs, tools, worktrees,
};
use crate::{answer, execute};

#[derive(OpenApi)]
#[openapi(
    info(title = "Adjutant", description = "A crew of coding agents, for programs that steer it."),
    paths(
        agents::discharge, agents::enlist, agents::list, agents::one::show, costs::costs,
        costs::usage, decisions::decisions, execute::execute, github::webhook, merge_queue::list, merge_queue::one,
        merge_queue::retry, merge_queue::reviewed, record::audit, record::events, record::verify,
        reviews::abandon, reviews::allow_more, reviews::list, reviews::story, running::reload,
        running::shutdown, running::status, runs::input, runs::output, runs::start, tools::list,
        worktrees::check, worktrees::list, worktrees::prune,
    ),
    components(schemas(answer::ErrorBody)),
    tags(
        (name = "tools", description = "What agents use"),
        (name = "agents", description = "Who works; for the operator"),
        (name = "reviews", description = "Work that is looked at and merged; for the operator"),
        (name = "record", description = "What happened; for the operator"),
        (name = "server", description = "The server itself"),
    )
)]
struct Document;

/// The `OpenAPI` document with the tools that there always are, as JSON.
pub fn document() -> String {
    document_for(&Settings::default())
}

/// The `OpenAPI` document with every tool there is under these settings, as JSON.
pub(crate) fn document_for(settings: &Settings) -> String {
    static DOCUMENT: LazyLock<Value> =
        LazyLock::new(|| serde_json::to_value(Document::openapi()).unwrap_or_default());
    complete(DOCUMENT.clone(), settings)
}

/// Adds what is derived: the token, what the engine shows, and what goes into each tool.
fn complete(mut document: Value, settings: &Settings) -> String {
    document["components"]["securitySchemes"] =
        json!({ "token": { "type": "http", "scheme": "bearer" } });
    document["security"] = json!([{ "token": [] }]);
    for (name, schema) in engine::views::schemas() {
        document["components"]["schemas"][name] = Value::Object(schema);
    }
    let mut calls = Vec::new();
    for tool in engine::tools_of(settings) {
        let (name, described) = (tool.name, tool.described());
        let mut input = Value::Object((*described.input).clone());
        input["description"] = described.description.as_str().into();
        document["components"]["schemas"][name] = input;
        calls.push(json!({
            "type": "object",
            "properties": {
                "agentId": { "type": "string" },
                "toolName": { "const": name },
                "input": { "$ref": format!("#/components/schemas/{name}") },
            },
            "required": ["toolName"],
        }));
    }
    document["components"]["schemas"]["Execute"]["oneOf"] = calls.into();
    document.to_string()
}
