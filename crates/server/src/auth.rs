//! The gate: where a request comes from, how long it is, and whose it is.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use engine::{Code, Principal, ToolError};
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderMap};

use crate::answer::{Answer, BODY_LIMIT, Refusal};
use crate::server::Shared;

/// What needs no token: whether the server is there,
pub(crate) const HEALTH: &str = "/healthz";
/// and what GitHub tells, which is signed.
pub(crate) const GITHUB: &str = "/api/github/webhook";

/// Lets a request in, with its principal, or refuses it.
pub(crate) async fn gate(
    State(shared): State<Arc<Shared>>,
    mut request: Request,
    next: Next,
) -> Response {
    match admit(&shared, &request) {
        Ok(None) => next.run(request).await,
        Ok(Some(principal)) => {
            request.extensions_mut().insert(principal);
            shared.app.activity.touch(shared.app.engine.now());
            let _counted = (shared.app.activity.open.enter(), shared.answers.enter());
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    }
}

fn admit(shared: &Shared, request: &Request) -> Answer<Option<Principal>> {
    if let Some(problem) = shared.guard.refuse(request.uri(), request.headers()) {
        return Err(ToolError::denied(problem).into());
    }
    let path = request.uri().path();
    if path == HEALTH {
        return Ok(None);
    }
    if path == GITHUB {
        return if is_too_long(request.headers()) { Err(Refusal::too_long()) } else { Ok(None) };
    }
    let principal = match bearer(request.headers()) {
        Some(token) => shared.app.engine.authenticate(token)?,
        None => None,
    };
    let principal = principal.ok_or_else(|| {
        ToolError::new(Code::Unauthenticated, "a valid token is needed")
            .hint("send `Authorization: Bearer <token>`; `adjutant token` prints the operator's")
    })?;
    // Whoever may come in is told before sending all of it; the rest is counted as it comes.
    if is_too_long(request.headers()) {
        return Err(Refusal::too_long());
    }
    Ok(Some(principal))
}

/// Whether a body is announced that is too long.
fn is_too_long(headers: &HeaderMap) -> bool {
    let announced = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    announced
        .and_then(|length| length.parse().ok())
        .is_some_and(|length: usize| length > BODY_LIMIT)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (Some(only), None) = (all.next(), all.next()) else { return None };
    let (scheme, token) = only.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// Lets only the operator pass.
pub(crate) async fn operator_only(request: Request, next: Next) -> Response {
    if request.extensions().get() == Some(&Principal::Operator) {
        next.run(request).await
    } else {
        Refusal::from(ToolError::denied("only the operator may do this")).into_response()
    }
}
