//! Summary of spending, and the budgets of a lineage.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::Period;
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::costs::{CostSummary, Lineage};

use crate::answer::{Answer, Params};
use crate::shared::Shared;

/// Over which time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CostSummaryQuery {
    /// From this hour on (default: a day before the end)
    since: Option<Timestamp>,
    /// Before this time (default: now)
    until: Option<Timestamp>,
}

pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<CostSummaryQuery>,
) -> Answer<Json<CostSummary>> {
    let period = Period { since: asked.since, until: asked.until };
    Ok(Json(shared.app.engine.costs_summary(period).await?))
}

/// Query for a lineage.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LineageQuery {
    /// From this agent on down (default: the one without a parent that has spent the most of those that
    /// live, else the one that ended last)
    agent: Option<AgentId>,
}

pub(crate) async fn lineage(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<LineageQuery>,
) -> Answer<Json<Lineage>> {
    Ok(Json(shared.app.engine.costs_lineage(asked.agent).await?))
}
