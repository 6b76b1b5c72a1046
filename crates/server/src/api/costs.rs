//! Costs of agents and their tool use.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::costs::Costs;
use wire::usage::ToolUsage;

use crate::answer::{Answer, Params};
use crate::shared::Shared;

/// Query for costs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CostsQuery {
    /// Added up over what: `role` (the default), `model`, `task`, `agent` or `hour`
    by: Option<String>,
    /// Only what was spent in this hour or later (default: everything)
    since: Option<Timestamp>,
}

pub(crate) async fn costs(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<CostsQuery>,
) -> Answer<Json<Costs>> {
    Ok(Json(shared.app.engine.costs(asked.by.as_deref(), asked.since).await?))
}

/// Query for tool use.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UsageQuery {
    /// By `role` or by `agent` (default: by role, unless an agent is named)
    by: Option<String>,
    /// Only this agent's
    agent: Option<AgentId>,
}

pub(crate) async fn usage(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<UsageQuery>,
) -> Answer<Json<ToolUsage>> {
    Ok(Json(shared.app.engine.tool_usage(asked.by.as_deref(), asked.agent).await?))
}
