//! The description of what is not MCP, as programs read it: `OpenAPI`.

use std::sync::LazyLock;

use engine::settings::Settings;
use serde_json::{Value, json};
use utoipa::OpenApi;

use crate::api::{
    agents, audit, clean, costs, costs_series, costs_summary, costs_tools, crew, decisions, epics,
    events, github, login, loops, mail, merge_queue, overview, plans, record, reviews, running,
    runs, settings, slack, tasks, tools, webhooks, worktrees,
};
use crate::{answer, execute};

#[derive(OpenApi)]
#[openapi(
    info(title = "Adjutant", description = "A crew of coding agents, for programs that steer it."),
    paths(
        agents::discharge, agents::enlist, agents::list, agents::one::show, agents::diff::diff, agents::story::story,
        agents::stream::stream, costs::costs,
        costs::usage, crew::list, crew::roles, crew::rows, decisions::decisions, epics::list, epics::show, events::events, events::ws::follow, execute::execute, github::webhook, login::links, login::log_in, login::log_out, login::make_link, login::revoke_link, loops::list, loops::pause, loops::resume, loops::say, loops::show, loops::start, loops::stop, mail::list, mail::thread, merge_queue::list, merge_queue::one,
        merge_queue::retry, merge_queue::reviewed, overview::overview, audit::audit, audit::verify, clean::clean, clean::snapshot, record::call::one, record::histogram, record::list,
        costs_series::show, costs_summary::lineage, costs_summary::show, costs_tools::tools,
        plans::list, plans::resume, plans::run, plans::show, plans::stop,
        reviews::abandon, reviews::allow_more, reviews::list, reviews::story, running::reload,
        running::shutdown, running::status, runs::input, runs::output, runs::start, settings::check, settings::save, settings::show, tasks::board, tasks::graph,
        tasks::history, tasks::list, tasks::show, tools::list,
        slack::retry, slack::status, slack::threads,
        webhooks::deliveries, webhooks::enable, webhooks::list, webhooks::retry, webhooks::retry_all, webhooks::test,
        worktrees::check, worktrees::list, worktrees::prune,
    ),
    components(schemas(answer::ErrorBody)),
    tags(
        (name = "tools", description = "What agents use"),
        (name = "agents", description = "Who works; for the operator"),
        (name = "reviews", description = "Work that is looked at and merged; for the operator"),
        (name = "tasks", description = "What is to be done; for the operator"),
        (name = "plans", description = "Documents that are run step by step; for the operator"),
        (name = "loops", description = "Sessions that run by themselves; for the operator"),
        (name = "mail", description = "Letters to look through; for the operator"),
        (name = "record", description = "What happened; for the operator"),
        (name = "page", description = "Ways into the page"),
        (name = "settings", description = "The configuration and the roles; for the operator"),
        (name = "slack", description = "People who give orders in Slack; for the operator"),
        (name = "webhooks", description = "Who is told of events; for the operator"),
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
    name_operations(&mut document);
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

/// Gives each operation a name that no other has, made of what it does and where: `getApiAgentsId`.
fn name_operations(document: &mut Value) {
    let Some(paths) = document["paths"].as_object_mut() else { return };
    for (path, operations) in paths {
        let Some(operations) = operations.as_object_mut() else { continue };
        for (method, operation) in operations {
            let mut name = method.clone();
            for word in path.split(|c: char| !c.is_ascii_alphanumeric()) {
                let mut letters = word.chars();
                name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
                name.push_str(letters.as_str());
            }
            operation["operationId"] = name.into();
        }
    }
}
