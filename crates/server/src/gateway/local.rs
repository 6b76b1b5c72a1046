//! What a server answers about itself, whoever owns the home; and what its own router answers.

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, Request};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, body};
use engine::ToolError;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{Method, StatusCode};
use tower::ServiceExt as _;
use wire::server::{HealthStatus, ServerHealth, ServerProof, ServerRole};

use super::no_owner::NoOwner;
use super::{Face, GatewayOptions, HomeRole};
use crate::answer::Refusal;
use crate::auth::{token_of, unauthenticated};
use crate::metrics::METRICS_TYPE;
use crate::paths::{METRICS, READY};
use crate::proof::{PROOF, ProofQuery};
use crate::server::wrong_method;

/// Answers from the owner's router.
pub(super) async fn own(face: &Face, router: Router, mut request: Request) -> Response {
    let is_metrics = request.uri().path() == METRICS && *request.method() == Method::GET;
    request.extensions_mut().insert(ServerRole::Owner);
    let answer = router.oneshot(request).await.unwrap_or_else(|never| match never {});
    if is_metrics && answer.status() == StatusCode::OK {
        return with_metrics(answer, &face.options.probe.metrics()).await;
    }
    answer
}

/// Adds the metrics of the server to those of the engine.
async fn with_metrics(answer: Response, more: &str) -> Response {
    let (mut parts, text) = answer.into_parts();
    let text = match body::to_bytes(text, usize::MAX).await {
        Ok(text) => text,
        Err(error) => return Refusal::from(ToolError::internal(error)).into_response(),
    };
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from([&text, more.as_bytes()].concat()))
}

/// Answers `/healthz`, `/readyz`, `/metrics` and the request for a proof of a server that does not answer for its home.
pub(super) async fn answer(face: &Face, role: &HomeRole, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return wrong_method(request).await;
    }
    match request.uri().path() {
        METRICS => metrics(face, &request),
        READY => readiness(face, role).into_response(),
        PROOF => proof(face, &request),
        _ => (StatusCode::OK, health(face, role, None)).into_response(),
    }
}

fn metrics(face: &Face, request: &Request) -> Response {
    let probe = &face.options.probe;
    let is_operator = |token: &str| probe.operator_hash() == Some(engine::hash_token(token));
    if !token_of(request).is_some_and(is_operator) {
        return Refusal::from(unauthenticated()).into_response();
    }
    ([(CONTENT_TYPE, METRICS_TYPE)], probe.metrics()).into_response()
}

/// Proves to the operator who this server is: another server's proof would be for another address.
fn proof(face: &Face, request: &Request) -> Response {
    let GatewayOptions { own_url, version, probe, .. } = &face.options;
    let Some(operator) = probe.operator_hash() else {
        let why = "the home has not been read yet".to_owned();
        return Refusal::from(ToolError::from(NoOwner::Nobody(why))).into_response();
    };
    let asked = Query::<ProofQuery>::try_from_uri(request.uri()).map(|asked| asked.0);
    let ProofQuery { key, nonce } = asked.unwrap_or_default();
    match engine::proof::prove_operator(&operator, &key, &nonce, own_url) {
        Ok(proof) => {
            let (url, version) = (own_url.clone(), version.clone());
            Json(ServerProof { url, version, proof }).into_response()
        }
        Err(error) => Refusal::from(error).into_response(),
    }
}

/// A server that knows the owner can have requests answered.
fn readiness(face: &Face, role: &HomeRole) -> (StatusCode, Json<ServerHealth>) {
    match role {
        HomeRole::Waiting { why } | HomeRole::Suspended { why } => {
            (StatusCode::SERVICE_UNAVAILABLE, health(face, role, Some(why.clone())))
        }
        HomeRole::Following { .. } | HomeRole::Owning(_) => {
            (StatusCode::OK, health(face, role, None))
        }
    }
}

fn health(face: &Face, role: &HomeRole, unready: Option<String>) -> Json<ServerHealth> {
    let role = match role {
        HomeRole::Waiting { .. } | HomeRole::Suspended { .. } => ServerRole::Waiting,
        HomeRole::Following { .. } => ServerRole::Follower,
        HomeRole::Owning(_) => ServerRole::Owner,
    };
    let status = if unready.is_some() { HealthStatus::Unready } else { HealthStatus::Ok };
    let version = face.options.version.clone();
    Json(ServerHealth { status, reason: unready, role: Some(role), version })
}
