//! Between the gate and `rmcp`: sessions belong to their principal, and leaving clients are noticed.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, any};
use engine::{Principal, ToolError};
use http::header::{HeaderMap, HeaderName};
use http::{Method, StatusCode};
use rmcp::ServerHandler;
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::answer::{Answer, BODY_LIMIT, Refusal, hold_while_streaming, is_stream, read_bytes};
use crate::mcp::sessions::{OPENER, OpenRequest, SessionRecord};
use crate::mcp::short;
use crate::mcp::visit::Visit;
use crate::registry::Mount;
use crate::shared::Shared;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Keep-alive interval of a stream.
const PING: Duration = Duration::from_secs(15);

/// Route of a request: past `rmcp` or through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestRoute {
    /// All of them
    Long,
    /// All but calls of our own tools that are beyond doubt
    Short,
}

/// An MCP server behind the gate.
pub(crate) struct Endpoint<H> {
    shared: Arc<Shared>,
    way: RequestRoute,
    service: Arc<StreamableHttpService<H, LocalSessionManager>>,
}

impl<H> Clone for Endpoint<H> {
    fn clone(&self) -> Self {
        let (shared, service) = (Arc::clone(&self.shared), Arc::clone(&self.service));
        Self { shared, way: self.way, service }
    }
}

impl<H: ServerHandler> Endpoint<H> {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        way: RequestRoute,
        handler: impl Fn() -> H + Send + Sync + 'static,
    ) -> Self {
        // The gate has checked `Host` and `Origin` already.
        let mut config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_sse_keep_alive(Some(PING))
            .with_json_response(true)
            .with_max_request_body_bytes(BODY_LIMIT)
            .with_cancellation_token(shared.streams.clone());
        config.session_store = Some(Arc::new(SessionRecord(Arc::clone(shared))));
        let manager = shared.sessions.manager();
        let service = StreamableHttpService::new(move || Ok(handler()), manager, config);
        Self { shared: Arc::clone(shared), way, service: Arc::new(service) }
    }

    /// The route to it; without a mount the client may choose toolsets.
    pub(crate) fn route(&self, mount: Option<Mount>) -> MethodRouter<Arc<Shared>> {
        let endpoint = self.clone();
        any(move |request: Request| {
            let endpoint = endpoint.clone();
            async move {
                match endpoint.answer(request, mount).await {
                    Ok(response) => response,
                    Err(refusal) => refusal.into_response(),
                }
            }
        })
    }

    async fn answer(&self, mut request: Request, mount: Option<Mount>) -> Answer<Response> {
        let Some(principal) = request.extensions().get::<Principal>().copied() else {
            return Err(ToolError::denied("the request has no caller").into());
        };
        let mount = match mount {
            Some(mount) => mount,
            None => Mount::chosen(request.uri().query())?,
        };
        let open = self.check_session(request.headers_mut(), principal)?;
        if request.method() == Method::POST {
            let is_short = self.way == RequestRoute::Short
                && short::may_be(request.method(), request.headers());
            let (parts, body) = request.into_parts();
            let bytes = read_bytes(body).await?;
            let _due = self.shared.answers.enter();
            if is_short {
                let answer = short::answer(&self.shared, principal, mount, &parts, &bytes).await;
                if let Some(answer) = answer {
                    return Ok(answer);
                }
            }
            if is_initialize(&bytes) {
                self.shared.app.engine.pace(principal)?;
            }
            request = Request::from_parts(parts, Body::from(bytes));
        }
        let left =
            (open.is_some() && request.method() == Method::POST).then(CancellationToken::new);
        request.extensions_mut().insert(Visit { principal, mount, left: left.clone() });
        // Dropped with this future or with the body, whichever holds it: the client has left.
        let leaving = left.map(CancellationToken::drop_guard);
        let due = (request.method() == Method::POST).then(|| self.shared.answers.enter());
        let settling = match &open {
            Some(open) => self.shared.sessions.settle(&open.id).await,
            None => None,
        };
        let answer = OPENER.scope(principal, Box::pin(self.service.handle(request))).await;
        if let Some(settling) = settling.filter(|_| answer.status().is_success()) {
            settling.done();
        }
        Ok(self.watched(answer.map(Body::new), (leaving, due, open)))
    }

    /// The session of the request, if it is one of a session and that the caller's own.
    fn check_session(
        &self,
        headers: &mut HeaderMap,
        principal: Principal,
    ) -> Answer<Option<OpenRequest>> {
        let mut named = headers.get_all(SESSION).iter();
        let Some(id) = named.next() else { return Ok(None) };
        let own = match (id.to_str(), named.next()) {
            (Ok(id), None) => OpenRequest::enter(&self.shared, id, principal)?,
            _ => None,
        };
        if own.is_some() {
            return Ok(own);
        }
        // The newer era has no sessions and ignores the header; `rmcp` must not see it either.
        if headers.get(VERSION).is_some_and(is_newer_era) {
            headers.remove(SESSION);
            return Ok(None);
        }
        let error =
            ToolError::not_found("the session does not exist").hint("initialize a new session");
        Err(Refusal::with(StatusCode::NOT_FOUND, error))
    }

    /// Watches an answer that is a stream: as long as it is open, the client counts as present.
    fn watched<G: Send + 'static>(&self, answer: Response, guards: G) -> Response {
        if !is_stream(&answer) {
            return answer;
        }
        hold_while_streaming((guards, self.shared.app.activity.open.enter()), answer)
    }
}

fn is_newer_era(version: &http::HeaderValue) -> bool {
    version.to_str().is_ok_and(|version| version >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Returns whether a message opens a session. What cannot be read opens none.
fn is_initialize(message: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
    }
    serde_json::from_slice(message).is_ok_and(|named: Named<'_>| named.method == "initialize")
}
