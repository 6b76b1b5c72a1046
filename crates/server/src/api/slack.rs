//! Slack: how it stands, its threads, and what the operator has said again.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{SlackThreadsView, SlackView};
use model::Cursor;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Newest, page_limit};
use crate::answer::{Answer, ErrorBody, Params};
use crate::server::Shared;

/// Tell how it stands with Slack
#[utoipa::path(
    get, path = "/api/slack", tag = "slack",
    responses((status = 200, body = ref("#/components/schemas/Slack")))
)]
pub(crate) async fn status(State(shared): State<Arc<Shared>>) -> Answer<Json<SlackView>> {
    Ok(Json(shared.app.engine.slack_status().await?))
}

/// List the threads in Slack that are tasks here, newest first
#[utoipa::path(
    get, path = "/api/slack/threads", tag = "slack", params(Newest),
    responses(
        (status = 200, body = ref("#/components/schemas/SlackThreads")),
        (status = "4XX", body = ErrorBody)
    )
)]
pub(crate) async fn threads(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<Newest>,
) -> Answer<Json<SlackThreadsView>> {
    let limit = page_limit(asked.limit)?;
    Ok(Json(shared.app.engine.slack_threads(asked.after.map(Cursor::number), limit).await?))
}

/// How much is said again.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SaidAgain {
    /// How many messages and reactions
    retried: u64,
}

/// Say again what Slack did not take
#[utoipa::path(
    post, path = "/api/slack/retry", tag = "slack",
    responses((status = 200, body = SaidAgain), (status = "4XX", body = ErrorBody))
)]
pub(crate) async fn retry(State(shared): State<Arc<Shared>>) -> Answer<Json<SaidAgain>> {
    Ok(Json(SaidAgain { retried: shared.app.engine.slack_retry().await? }))
}
