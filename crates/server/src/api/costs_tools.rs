//! Tool use in a period: counts, outcomes and durations.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::Period;
use model::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::usage::ToolFigures;

use crate::answer::{Answer, Params};
use crate::shared::Shared;

/// Over which time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ToolFiguresQuery {
    /// From this time on (default: an hour before the end)
    since: Option<Timestamp>,
    /// Before this time (default: now)
    until: Option<Timestamp>,
}

pub(crate) async fn tools(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<ToolFiguresQuery>,
) -> Answer<Json<ToolFigures>> {
    let period = Period { since: asked.since, until: asked.until };
    Ok(Json(shared.app.engine.tools_used(period).await?))
}
