//! Answers of a server about itself, no matter which server owns the home; and those of its own router.

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
use super::{GatewayOptions, GatewayState, HomeRole};
use crate::answer::Refusal;
use crate::auth::{token_of, unauthenticated};
use crate::metrics::METRICS_TYPE;
use crate::paths::{METRICS, READY, SHUTDOWN};
use crate::proof::{PROOF, ProofQuery};
use crate::server::wrong_method;

/// Answers from the owner's router.
pub(super) async fn own(face: &GatewayState, router: Router, mut request: Request) -> Response {
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

/// Answers `/healthz`, `/readyz`, `/metrics`, the request for a proof and the request to end of a server that does not
/// answer for its home.
pub(super) async fn answer(face: &GatewayState, role: &HomeRole, request: Request) -> Response {
    if (request.uri().path(), request.method()) == (SHUTDOWN, &Method::POST) {
        return shutdown(face, &request);
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return wrong_method(request).await;
    }
    match request.uri().path() {
        METRICS => metrics(face, &request),
        READY => readiness(face, role).into_response(),
        PROOF => proof(face, &request),
        SHUTDOWN => wrong_method(request).await,
        _ => (StatusCode::OK, health(face, role, None)).into_response(),
    }
}

/// Ends this server, which is none of the owner's business.
fn shutdown(face: &GatewayState, request: &Request) -> Response {
    if !is_from_operator(face, request) {
        return Refusal::from(unauthenticated()).into_response();
    }
    face.options.stop.cancel();
    StatusCode::ACCEPTED.into_response()
}

fn is_from_operator(face: &GatewayState, request: &Request) -> bool {
    let known = face.options.probe.operator_hash();
    token_of(request).is_some_and(|token| known == Some(engine::hash_token(token)))
}

fn metrics(face: &GatewayState, request: &Request) -> Response {
    let probe = &face.options.probe;
    if !is_from_operator(face, request) {
        return Refusal::from(unauthenticated()).into_response();
    }
    ([(CONTENT_TYPE, METRICS_TYPE)], probe.metrics()).into_response()
}

/// Proves to the operator who this server is: another server's proof would be for another address.
fn proof(face: &GatewayState, request: &Request) -> Response {
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
fn readiness(face: &GatewayState, role: &HomeRole) -> (StatusCode, Json<ServerHealth>) {
    match role {
        HomeRole::Waiting { why } | HomeRole::Suspended { why } => {
            (StatusCode::SERVICE_UNAVAILABLE, health(face, role, Some(why.clone())))
        }
        HomeRole::Following { .. } | HomeRole::Owning(_) => {
            (StatusCode::OK, health(face, role, None))
        }
    }
}

fn health(face: &GatewayState, role: &HomeRole, unready: Option<String>) -> Json<ServerHealth> {
    let role = match role {
        HomeRole::Waiting { .. } | HomeRole::Suspended { .. } => ServerRole::Waiting,
        HomeRole::Following { .. } => ServerRole::Follower,
        HomeRole::Owning(_) => ServerRole::Owner,
    };
    let status = if unready.is_some() { HealthStatus::Unready } else { HealthStatus::Ok };
    let version = face.options.version.clone();
    Json(ServerHealth { status, reason: unready, role: Some(role), version })
}
