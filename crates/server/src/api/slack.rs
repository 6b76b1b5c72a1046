//! Slack: its state, its threads, and retries.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use model::Cursor;

use wire::slack::{RetriedSlackMessages, SlackStatus, SlackThreads};

use super::paging::{NewestQuery, page_limit};
use crate::answer::{Answer, Params};
use crate::shared::Shared;

pub(crate) async fn status(State(shared): State<Arc<Shared>>) -> Answer<Json<SlackStatus>> {
    Ok(Json(shared.app.engine.slack_status().await?))
}

pub(crate) async fn threads(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<NewestQuery>,
) -> Answer<Json<SlackThreads>> {
    let limit = page_limit(asked.limit)?;
    Ok(Json(shared.app.engine.slack_threads(asked.after.map(Cursor::number), limit).await?))
}

pub(crate) async fn retry(State(shared): State<Arc<Shared>>) -> Answer<Json<RetriedSlackMessages>> {
    Ok(Json(RetriedSlackMessages { retried: shared.app.engine.slack_retry().await? }))
}
