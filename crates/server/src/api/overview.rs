//! The frame of every page: counts, and items that need a person.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use engine::{About, Principal};
use model::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::overview::Overview;

use crate::answer::{Answer, Params};
use crate::shared::Shared;

/// Start of the current day.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OverviewQuery {
    /// When the reader's day began (default: at midnight in UTC)
    day: Option<Timestamp>,
}

pub(crate) async fn overview(
    State(shared): State<Arc<Shared>>,
    Extension(principal): Extension<Principal>,
    Params(asked): Params<OverviewQuery>,
) -> Answer<Json<Overview>> {
    let app = &shared.app;
    let about = About {
        version: app.version.clone(),
        home: app.home.clone(),
        started_at: app.started_at,
        read_only: principal == Principal::Viewer,
    };
    Ok(Json(app.engine.overview(about, asked.day).await?))
}
