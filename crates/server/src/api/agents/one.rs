//! Everything about one agent.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use wire::agent_details::AgentDetails;

use crate::answer::Answer;
use crate::shared::Shared;

pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<AgentDetails>> {
    Ok(Json(shared.app.engine.agent_details(name).await?))
}
