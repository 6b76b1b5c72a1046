//! Webhooks from GitHub, admitted by their signature.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use engine::GithubHookEffect;
use http::StatusCode;
use http::header::{HeaderMap, HeaderName};

use wire::server::{GithubHookOutcome, GithubHookStatus};

use crate::answer::{Answer, read_bytes};
use crate::shared::Shared;

const EVENT: HeaderName = HeaderName::from_static("x-github-event");
const SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature-256");

pub(crate) async fn webhook(
    State(shared): State<Arc<Shared>>,
    request: Request,
) -> Answer<(StatusCode, Json<GithubHookOutcome>)> {
    let (head, body) = request.into_parts();
    let body = read_bytes(body).await?;
    let text = |name: &HeaderName| only(&head.headers, name);
    let event = text(&EVENT).unwrap_or_default();
    let heard = shared.app.engine.github_told(event, text(&SIGNATURE), &body).await?;
    let (code, status) = match heard {
        GithubHookEffect::Changed => (StatusCode::OK, GithubHookStatus::Changed),
        GithubHookEffect::Unchanged => (StatusCode::OK, GithubHookStatus::Unchanged),
        GithubHookEffect::Ignored => (StatusCode::ACCEPTED, GithubHookStatus::Ignored),
    };
    Ok((code, Json(GithubHookOutcome { status })))
}

/// A header that comes once, and is text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let (Some(value), None) = (all.next(), all.next()) else { return None };
    value.to_str().ok()
}
