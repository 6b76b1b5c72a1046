//! An agent's story.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use wire::agents::AgentStory;

use crate::answer::{Answer, ErrorBody};
use crate::api::reviews::agent_of;
use crate::server::Shared;

/// Tell an agent's story
///
/// Who stands above it, how it stood from when to when, what happened to it, what it spent and what it was given.
#[utoipa::path(
    get, path = "/api/agents/{id}/story", tag = "agents",
    params(("id" = String, Path, description = "The agent, as for `/api/agents/{id}`")),
    responses(
        (status = 200, body = ref("#/components/schemas/AgentStory")),
        (status = "4XX", body = ErrorBody)
    )
)]
pub(crate) async fn story(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<AgentStory>> {
    let agent = agent_of(&shared, name).await?;
    Ok(Json(shared.app.engine.agent_story(agent).await?))
}
