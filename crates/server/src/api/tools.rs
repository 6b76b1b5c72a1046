//! The tools, for programs that do not speak MCP: those that there always are, and the templates.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use engine::Principal;

use wire::tools::{ToolEntry, ToolList};

use crate::answer::Answer;
use crate::shared::Shared;

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Extension(principal): Extension<Principal>,
) -> Answer<Json<ToolList>> {
    if principal == Principal::Viewer {
        return Ok(Json(ToolList { tools: Vec::new() }));
    }
    let engine = &shared.app.engine;
    let (caller, settings) = (engine.caller(principal, None)?, engine.settings());
    let tools = engine::tools_of(&settings)
        .into_iter()
        .filter(|tool| caller.is_offered(&settings, tool))
        .map(|tool| {
            let described = tool.described();
            ToolEntry {
                name: tool.joined(),
                canonical_name: tool.name.to_owned(),
                toolset: tool.toolset().to_owned(),
                title: described.title.clone(),
                description: described.description.clone(),
                input_schema: (*described.input).clone(),
            }
        })
        .collect();
    Ok(Json(ToolList { tools }))
}
