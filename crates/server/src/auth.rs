//! The gate: checks the origin, the size and the token of a request.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use engine::{Admission, Code, Principal, Tab, ToolError};
use futures_util::StreamExt as _;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderMap, SEC_WEBSOCKET_PROTOCOL};
use http::{Method, StatusCode};
use model::Timestamp;
use tokio::time::timeout;

use crate::answer::{Answer, BODY_LIMIT, Refusal, hold_while_streaming, is_stream};
use crate::connections::AdmittedRequest;
use crate::page;
use crate::paths::{GITHUB, HEALTH, LOGIN, LOGOUT, METRICS, READY, WS};
use crate::proof;
use crate::shared::Shared;

/// WebSocket subprotocol.
pub(crate) const WS_PROTOCOL: &str = "adjutant.events.v1";
/// With this before it a token may come as a subprotocol: a browser gives a WebSocket no other header.
const WS_TOKEN: &str = "adjutant.token.";

/// Lets a request in, with its principal, or refuses it.
pub(crate) async fn gate(
    State(shared): State<Arc<Shared>>,
    mut request: Request,
    next: Next,
) -> Response {
    match admit(&shared, &request) {
        Ok(None) => next.run(request).await,
        Ok(Some(Admission { principal, tab })) => {
            request.extensions_mut().insert(principal);
            let now = shared.app.engine.now();
            shared.app.activity.touch(shared.app.engine.elapsed());
            let _counted = (shared.app.activity.open.enter(), shared.answers.enter());
            let let_in = AdmittedRequest::note(&request);
            let Some(tab) = tab else { return hold(let_in, next.run(request).await) };
            request.extensions_mut().insert(tab.clone());
            hold(let_in, until_void(tab, now, next.run(request).await))
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// Exempts a connection from the limit as long as the answer on it is a stream or a WebSocket.
pub(crate) fn hold(let_in: Option<AdmittedRequest>, answer: Response) -> Response {
    let Some(let_in) = let_in else { return answer };
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        // What happens on it now is no HTTP, and the connection never comes back to it.
        let_in.forever();
        return answer;
    }
    hold_while_streaming(let_in, answer)
}

/// Ends a stream with the token of the tab that hears it.
fn until_void(tab: Tab, now: Timestamp, answer: Response) -> Response {
    if !is_stream(&answer) {
        return answer;
    }
    let left = u64::try_from(tab.expires_at.millis_since(now)).unwrap_or_default();
    let over = async move {
        // Either way it is over.
        drop(timeout(Duration::from_millis(left), tab.void.cancelled()).await);
    };
    answer.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(over))))
}

fn admit(shared: &Shared, request: &Request) -> Answer<Option<Admission>> {
    if let Some(problem) = shared.guard.refuse(request.uri(), request.headers()) {
        return Err(ToolError::denied(problem).into());
    }
    if takes_open_body(request) && is_too_long(request.headers()) {
        return Err(Refusal::too_long());
    }
    if is_open(request) {
        return Ok(None);
    }
    let admission = match token_of(request) {
        Some(token) => shared.app.engine.admit(token)?,
        None => None,
    };
    let admission = admission.ok_or_else(unauthenticated)?;
    // An announced length is checked before the body is sent; otherwise bytes are counted as they come.
    if is_too_long(request.headers()) {
        return Err(Refusal::too_long());
    }
    if admission.principal == Principal::Viewer && !is_look(request) {
        return Err(engine::read_only().into());
    }
    Ok(Some(admission))
}

/// True for a route without a token.
pub(crate) fn is_open(request: &Request) -> bool {
    let path = request.uri().path();
    path == HEALTH
        || path == READY
        || path == proof::PROOF
        || page::wanted_by(request)
        || takes_open_body(request)
}

/// True for a route without a token that reads a body.
fn takes_open_body(request: &Request) -> bool {
    let path = request.uri().path();
    path == GITHUB || (path == LOGIN && request.method() == Method::POST)
}

/// Refuses a request without a valid token.
pub(crate) fn unauthenticated() -> ToolError {
    ToolError::new(Code::Unauthenticated, "a valid token is needed")
        .hint("send `Authorization: Bearer <token>`; `adjutant token` prints the operator's")
}

/// True for a read-only request. The rights of viewers are decided here, before any handler runs.
fn is_look(request: &Request) -> bool {
    let path = request.uri().path();
    let looks = matches!(*request.method(), Method::GET | Method::HEAD);
    (looks && (path.starts_with("/api/") || path == METRICS)) || path == LOGOUT
}

/// True if the announced body is too long.
pub(crate) fn is_too_long(headers: &HeaderMap) -> bool {
    let announced = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    announced
        .and_then(|length| length.parse().ok())
        .is_some_and(|length: usize| length > BODY_LIMIT)
}

/// The token that a request carries, where its route reads one.
pub(crate) fn token_of(request: &Request) -> Option<&str> {
    match request.uri().path() {
        WS => socket_token(request.headers()),
        _ => bearer(request.headers()),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (Some(only), None) = (all.next(), all.next()) else { return None };
    let (scheme, token) = only.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// The token that the opening of a WebSocket carries: as every request does, else among what the client
/// offers to speak. Only one may be there.
fn socket_token(headers: &HeaderMap) -> Option<&str> {
    if headers.contains_key(AUTHORIZATION) {
        return bearer(headers);
    }
    let lines = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let offered = lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(','));
    let mut tokens = offered.filter_map(|name| name.trim().strip_prefix(WS_TOKEN));
    let (Some(only), None) = (tokens.next(), tokens.next()) else { return None };
    Some(only)
}

/// Lets only the operator pass.
pub(crate) async fn operator_only(request: Request, next: Next) -> Response {
    match request.extensions().get() {
        Some(Principal::Operator) => next.run(request).await,
        Some(Principal::Viewer) => Refusal::from(engine::read_only()).into_response(),
        _ => for_the_operator(),
    }
}

/// Lets the operator and those pass whom the operator lets look.
pub(crate) async fn no_agents(request: Request, next: Next) -> Response {
    match request.extensions().get() {
        Some(Principal::Operator | Principal::Viewer) => next.run(request).await,
        _ => for_the_operator(),
    }
}

fn for_the_operator() -> Response {
    Refusal::from(ToolError::denied("only the operator may do this")).into_response()
}
