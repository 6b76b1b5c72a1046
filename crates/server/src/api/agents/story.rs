//! An agent's story.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use wire::agents::AgentStory;

use crate::answer::Answer;
use crate::shared::Shared;

pub(crate) async fn story(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<AgentStory>> {
    let agent = shared.app.engine.agent_named(name).await?;
    Ok(Json(shared.app.engine.agent_story(agent).await?))
}
