//! The frame around every page: how much there is of everything, and who needs a person.
#![expect(unused_qualifications, reason = "utoipa writes them")]

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use engine::{About, Principal};
use model::Timestamp;
use serde::Deserialize;
use utoipa::IntoParams;
use wire::overview::Overview;

use crate::answer::{Answer, ErrorBody, Params};
use crate::server::Shared;

/// What counts as today.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Day {
    /// When the reader's day began (default: at midnight in UTC)
    #[param(value_type = Option<String>, format = DateTime)]
    day: Option<Timestamp>,
}

/// How much there is of everything, and what a person is needed for
#[utoipa::path(
    get, path = "/api/overview", tag = "server", params(Day),
    responses(
        (status = 200, body = ref("#/components/schemas/Overview")),
        (status = "4XX", body = ErrorBody)
    )
)]
pub(crate) async fn overview(
    State(shared): State<Arc<Shared>>,
    Extension(principal): Extension<Principal>,
    Params(asked): Params<Day>,
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
