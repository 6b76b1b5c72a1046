//! Changes of an agent.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use wire::agents::AgentDiff;

use crate::answer::Answer;
use crate::shared::Shared;

pub(crate) async fn diff(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<AgentDiff>> {
    let agent = shared.app.engine.agent_named(name).await?;
    Ok(Json(shared.app.engine.agent_diff(agent).await?))
}
