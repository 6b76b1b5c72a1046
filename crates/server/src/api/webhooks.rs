//! Webhooks: their state, their messages, and actions of the operator.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::{DeliveryQuery, Resume, ToolError};
use model::webhook::DeliveryState;
use model::{Cursor, DeliveryId};
use schemars::JsonSchema;
use serde::Deserialize;

use wire::webhooks::{
    Deliveries, DeliveryView, EnableWebhookRequest, RetriedDeliveries, TestDelivery, WebhookView,
    Webhooks,
};

use super::paging::page_limit;
use crate::answer::{Answer, Input, Params};
use crate::shared::Shared;

pub(crate) async fn list(State(shared): State<Arc<Shared>>) -> Answer<Json<Webhooks>> {
    Ok(Json(Webhooks { webhooks: shared.app.engine.webhooks().await? }))
}

/// Filter for listing deliveries.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeliveriesQuery {
    /// Only those that are `pending`, `delivered` or `dead`
    state: Option<DeliveryState>,
    /// `nextCursor` of the page before
    after: Option<Cursor>,
    /// Page size, at most 1000
    limit: Option<u32>,
}

pub(crate) async fn deliveries(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Params(asked): Params<DeliveriesQuery>,
) -> Answer<Json<Deliveries>> {
    let limit = page_limit(asked.limit)?;
    let which =
        DeliveryQuery { state: asked.state, before: asked.after.map(Cursor::number), limit };
    let page = shared.app.engine.webhook_deliveries(&name, which).await?;
    Ok(Json(Deliveries { deliveries: page.items, next_cursor: page.next }))
}

pub(crate) async fn retry(
    State(shared): State<Arc<Shared>>,
    Path((name, id)): Path<(String, String)>,
) -> Answer<Json<DeliveryView>> {
    let id: DeliveryId = id.parse().map_err(|error| {
        ToolError::invalid(format!("{error}"))
            .hint("`adjutant webhooks dead` lists failed messages")
            .detail("field", "id")
    })?;
    Ok(Json(shared.app.engine.webhook_retry(&name, id).await?))
}

pub(crate) async fn retry_all(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<RetriedDeliveries>> {
    let retried = shared.app.engine.webhook_retry_all(&name).await?;
    Ok(Json(RetriedDeliveries { webhook: name, retried }))
}

pub(crate) async fn test(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<TestDelivery>> {
    Ok(Json(shared.app.engine.webhook_test(&name).await?))
}

pub(crate) async fn enable(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<EnableWebhookRequest>,
) -> Answer<Json<WebhookView>> {
    let from = if asked.skip_missed { Resume::Now } else { Resume::Missed };
    Ok(Json(shared.app.engine.webhook_enable(&name, from).await?))
}
