//! Slack: how it stands, its threads, and what the operator has said again.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{SlackThreadsView, SlackView};
use model::Cursor;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Newest, page_limit};
use crate::answer::{Answer, Params};
use crate::server::Shared;

pub(crate) async fn status(State(shared): State<Arc<Shared>>) -> Answer<Json<SlackView>> {
    Ok(Json(shared.app.engine.slack_status().await?))
}

pub(crate) async fn threads(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<Newest>,
) -> Answer<Json<SlackThreadsView>> {
    let limit = page_limit(asked.limit)?;
    Ok(Json(shared.app.engine.slack_threads(asked.after.map(Cursor::number), limit).await?))
}

/// Number of retried messages.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SaidAgain {
    /// Number of messages and reactions
    retried: u64,
}

pub(crate) async fn retry(State(shared): State<Arc<Shared>>) -> Answer<Json<SaidAgain>> {
    Ok(Json(SaidAgain { retried: shared.app.engine.slack_retry().await? }))
}
