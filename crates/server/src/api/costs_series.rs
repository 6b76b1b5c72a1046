//! Spending over time by group.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::Period;
use model::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::costs::CostSeries;

use crate::answer::{Answer, Params};
use crate::shared::Shared;

/// Query for costs over time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CostSeriesQuery {
    /// From this hour on (default: a day before the end)
    since: Option<Timestamp>,
    /// Before this time (default: now)
    until: Option<Timestamp>,
    /// By `role` (the default), `model`, `task` or `lineage`: who stands above all
    by: Option<String>,
}

pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<CostSeriesQuery>,
) -> Answer<Json<CostSeries>> {
    let period = Period { since: asked.since, until: asked.until };
    Ok(Json(shared.app.engine.costs_series(asked.by.as_deref(), period).await?))
}
