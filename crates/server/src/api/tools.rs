//! The tools, for programs that do not speak MCP: those that there always are, and the templates.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use engine::Principal;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::server::Shared;

/// The tools.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tools {
    /// Each of them, in the order of all lists
    tools: Vec<Tool>,
}

/// A tool.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tool {
    /// Its name where all toolsets are together
    name: String,
    /// Its canonical name
    canonical_name: &'static str,
    /// The toolset it belongs to
    toolset: &'static str,
    /// Purpose, one line
    title: &'static str,
    /// Purpose
    description: &'static str,
    /// The schema of what goes in
    #[schemars(with = "serde_json::Map<String, Value>")]
    input_schema: &'static Map<String, Value>,
}

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Extension(principal): Extension<Principal>,
) -> Answer<Json<Tools>> {
    if principal == Principal::Viewer {
        return Ok(Json(Tools { tools: Vec::new() }));
    }
    let engine = &shared.app.engine;
    let (caller, settings) = (engine.caller(principal, None)?, engine.settings());
    let tools = engine::tools_of(&settings)
        .into_iter()
        .filter(|tool| caller.is_offered(&settings, tool))
        .map(|tool| {
            let described = tool.described();
            Tool {
                name: tool.joined(),
                canonical_name: tool.name,
                toolset: tool.toolset(),
                title: &described.title,
                description: &described.description,
                input_schema: &described.input,
            }
        })
        .collect();
    Ok(Json(Tools { tools }))
}
