//! What an agent changed.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use wire::agents::AgentDiff;

use crate::answer::{Answer, ErrorBody};
use crate::api::reviews::agent_of;
use crate::server::Shared;

/// Show what an agent changed
///
/// Its branch against the branch it is meant for, and while its worktree is there also what is not committed. Of
/// one without a worktree of its own there is nothing to show, and `why` says so.
#[utoipa::path(
    get, path = "/api/agents/{id}/diff", tag = "agents",
    params(("id" = String, Path, description = "The agent, as for `/api/agents/{id}`")),
    responses(
        (status = 200, body = ref("#/components/schemas/AgentDiff")),
        (status = "4XX", body = ErrorBody)
    )
)]
pub(crate) async fn diff(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<AgentDiff>> {
    let agent = agent_of(&shared, name).await?;
    Ok(Json(shared.app.engine.agent_diff(agent).await?))
}
