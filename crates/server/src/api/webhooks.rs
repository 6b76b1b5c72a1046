//! Webhooks: how each does, the messages to it, and what the operator does about them.
#![expect(unused_qualifications, reason = "utoipa writes them")]

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::views::{DeliveriesView, WebhooksView};
use engine::{DeliveryView, Resume, SentView, ToolError, WebhookView, WhichDeliveries};
use model::webhook::DeliveryState;
use model::{Cursor, DeliveryId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::page_limit;
use crate::answer::{Answer, ErrorBody, Input, Params};
use crate::server::Shared;

/// List the webhooks, and how each does
#[utoipa::path(
    get, path = "/api/webhooks", tag = "webhooks",
    responses((status = 200, body = ref("#/components/schemas/Webhooks")))
)]
pub(crate) async fn list(State(shared): State<Arc<Shared>>) -> Answer<Json<WebhooksView>> {
    Ok(Json(WebhooksView { webhooks: shared.app.engine.webhooks().await? }))
}

/// Which messages to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only those that are `pending`, `delivered` or `dead`
    #[param(value_type = Option<String>)]
    state: Option<DeliveryState>,
    /// `nextCursor` of the page before
    #[param(value_type = Option<i64>, minimum = 0)]
    after: Option<Cursor>,
    /// How many, at most 1000
    limit: Option<u32>,
}

/// List the messages to a webhook, newest first
///
/// Those that wait, those that were given up, and the last ones that were taken.
#[utoipa::path(
    get, path = "/api/webhooks/{name}/deliveries", tag = "webhooks",
    params(("name" = String, Path, description = "The webhook"), Which),
    responses(
        (status = 200, body = ref("#/components/schemas/Deliveries")),
        (status = "4XX", body = ErrorBody)
    )
)]
pub(crate) async fn deliveries(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Params(asked): Params<Which>,
) -> Answer<Json<DeliveriesView>> {
    let limit = page_limit(asked.limit)?;
    let which =
        WhichDeliveries { state: asked.state, before: asked.after.map(Cursor::number), limit };
    let page = shared.app.engine.webhook_deliveries(&name, which).await?;
    Ok(Json(DeliveriesView { deliveries: page.items, next_cursor: page.next }))
}

/// Send a message that was given up again, once
#[utoipa::path(
    post, path = "/api/webhooks/{name}/deliveries/{id}/retry", tag = "webhooks",
    params(
        ("name" = String, Path, description = "The webhook"),
        ("id" = String, Path, description = "The message")
    ),
    responses(
        (status = 200, body = ref("#/components/schemas/Delivery")),
        (status = "4XX", body = ErrorBody)
    )
)]
pub(crate) async fn retry(
    State(shared): State<Arc<Shared>>,
    Path((name, id)): Path<(String, String)>,
) -> Answer<Json<DeliveryView>> {
    let id: DeliveryId = id.parse().map_err(|error| {
        ToolError::invalid(format!("{error}"))
            .hint("`adjutant webhooks dead` lists those that were given up")
            .detail("field", "id")
    })?;
    Ok(Json(shared.app.engine.webhook_retry(&name, id).await?))
}

/// How much is sent again.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Retried {
    /// The webhook
    webhook: String,
    /// How many messages
    retried: u64,
}

/// Send everything that was given up again, once
#[utoipa::path(
    post, path = "/api/webhooks/{name}/retry", tag = "webhooks",
    params(("name" = String, Path, description = "The webhook")),
    responses((status = 200, body = Retried), (status = "4XX", body = ErrorBody))
)]
pub(crate) async fn retry_all(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<Retried>> {
    let retried = shared.app.engine.webhook_retry_all(&name).await?;
    Ok(Json(Retried { webhook: name, retried }))
}

/// Send a message of no meaning now, and tell what came back
#[utoipa::path(
    post, path = "/api/webhooks/{name}/test", tag = "webhooks",
    params(("name" = String, Path, description = "The webhook")),
    responses(
        (status = 200, body = ref("#/components/schemas/WebhookSent")),
        (status = "4XX", body = ErrorBody)
    )
)]
pub(crate) async fn test(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<SentView>> {
    Ok(Json(shared.app.engine.webhook_test(&name).await?))
}

/// Where to go on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Enable {
    /// Whether what happened meanwhile is left out
    #[serde(default)]
    skip_missed: bool,
}

/// Go on with a webhook that is disabled
#[utoipa::path(
    post, path = "/api/webhooks/{name}/enable", tag = "webhooks", request_body = Enable,
    params(("name" = String, Path, description = "The webhook")),
    responses(
        (status = 200, body = ref("#/components/schemas/Webhook")),
        (status = "4XX", body = ErrorBody)
    )
)]
pub(crate) async fn enable(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<Enable>,
) -> Answer<Json<WebhookView>> {
    let from = if asked.skip_missed { Resume::Now } else { Resume::Missed };
    Ok(Json(shared.app.engine.webhook_enable(&name, from).await?))
}
