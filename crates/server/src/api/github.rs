//! What GitHub tells by itself. It has no token of ours: its signature is what lets it in.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use engine::Hearing;
use http::StatusCode;
use http::header::{HeaderMap, HeaderName};
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::{Answer, ErrorBody, read_bytes};
use crate::server::Shared;

const EVENT: HeaderName = HeaderName::from_static("x-github-event");
const SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature-256");

/// What came of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Heard {
    /// `changed`, `unchanged` or `ignored`
    #[schema(example = "changed")]
    status: &'static str,
}

/// Hear what GitHub tells of a pull request
///
/// For a webhook of GitHub's with the content type `application/json`, a secret, and the event `pull_request`.
#[utoipa::path(
    post, path = "/api/github/webhook", tag = "server", security(()),
    request_body(content = Object, description = "As GitHub sends it"),
    params(
        ("X-GitHub-Event" = String, Header, description = "What it is about"),
        ("X-Hub-Signature-256" = String, Header, description = "The body's signature with the webhook's secret"),
    ),
    responses(
        (status = 200, body = Heard, description = "It is about a pull request of ours"),
        (status = 202, body = Heard, description = "It is about nothing of ours"),
        (status = 401, body = ErrorBody, description = "The signature does not fit"),
        (status = 404, body = ErrorBody, description = "The server has no secret for webhooks"),
    )
)]
pub(crate) async fn webhook(
    State(shared): State<Arc<Shared>>,
    request: Request,
) -> Answer<(StatusCode, Json<Heard>)> {
    let (head, body) = request.into_parts();
    let body = read_bytes(body).await?;
    let text = |name: &HeaderName| only(&head.headers, name);
    let event = text(&EVENT).unwrap_or_default();
    let heard = shared.app.engine.github_told(event, text(&SIGNATURE), &body).await?;
    let (code, status) = match heard {
        Hearing::Changed => (StatusCode::OK, "changed"),
        Hearing::Unchanged => (StatusCode::OK, "unchanged"),
        Hearing::Ignored => (StatusCode::ACCEPTED, "ignored"),
    };
    Ok((code, Json(Heard { status })))
}

/// A header that comes once, and is text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let (Some(value), None) = (all.next(), all.next()) else { return None };
    value.to_str().ok()
}
