//! The office's decision log.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use model::{AgentId, Cursor};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::decisions::DecisionLog;

use super::paging::page_limit;
use crate::answer::{Answer, Params};
use crate::shared::Shared;

/// Query for decision-log entries.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DecisionsQuery {
    /// Only those of calls after this number
    #[serde(default)]
    after: Cursor,
    /// Of how many calls, at most 1000
    limit: Option<u32>,
    /// Only this agent's
    agent_id: Option<AgentId>,
}

pub(crate) async fn decisions(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<DecisionsQuery>,
) -> Answer<Json<DecisionLog>> {
    let limit = page_limit(asked.limit)?;
    let page = shared.app.engine.decisions(asked.agent_id, asked.after.number(), limit).await?;
    Ok(Json(page))
}
