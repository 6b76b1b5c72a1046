//! Forwarding to the owner of a home: a request goes out as it came, and the answer comes back as it is given.
//!
//! Nothing is collected on the way: a body, a stream or a WebSocket passes piece by piece. A client that goes away
//! ends the request at the owner.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use engine::ToolError;
use http::header::{HeaderValue, UPGRADE};
use http::{StatusCode, Uri, Version};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::HomeRole;
use super::cut::{Cut, Download, End, cut};
use super::headers::{FORWARDED, Owner, remove_hop_by_hop, set_upgrade, upgrade_of};
use super::no_owner::{AnswerLoss, NoOwner, Repeat, Unanswered};
use super::upload::Upload;
use crate::activity::Count;
use crate::answer::{Answer, Refusal, is_stream};
use crate::auth::{self, is_open, is_too_long, token_of};
use crate::connections::{AdmittedRequest, LAST_CONNECTIONS};
use crate::server::LAST_ANSWERS;

/// Time for a connection to the owner, its name and its certificate included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Lifetime of an idle connection to the owner: well below the time after which the owner closes it, so that none
/// is used that is about to be closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);
/// Idle connections to the owner, each of which takes a place there.
const MAX_IDLE: usize = 64;
/// Interval of probes of a silent connection: they find an owner that has vanished.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// Whom a request is forwarded to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// The server that owns the home, elsewhere: it forwards the request to nobody else
    Owner(String),
    /// A server of the home under this host, which may forward it where this host could
    Inside(String),
}

impl Next {
    fn into_url(self) -> String {
        let (Self::Owner(url) | Self::Inside(url)) = self;
        url
    }
}

/// Forwards requests.
pub(super) struct Forwarder {
    client: Client<Connector, Upload>,
    server_id: HeaderValue,
    /// Forwarded requests that are not answered yet
    pending: Count,
    /// Ends whatever is still forwarded
    ended: CancellationToken,
    /// Owns the connections that were switched to another protocol
    switched: TaskTracker,
}

impl Forwarder {
    /// A forwarder for a server. It must be made inside a runtime.
    pub(super) fn new(server_id: &str) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(MAX_IDLE)
            .build(Connector::new());
        let server_id = HeaderValue::from_str(&server_id.escape_default().to_string())
            .unwrap_or(HeaderValue::from_static("-"));
        let (ended, switched) = (CancellationToken::new(), TaskTracker::new());
        Self { client, server_id, pending: Count::default(), ended, switched }
    }

    /// Forwards a request that has passed the checks of this server, and says what came back.
    pub(super) async fn forward(
        &self,
        next: Next,
        role: watch::Receiver<HomeRole>,
        request: Request,
    ) -> Response {
        // Whether the token is valid is for the owner to say, which answers at once if it is not.
        let may_be_let_in = !is_open(&request) && token_of(&request).is_some();
        let let_in = if may_be_let_in { AdmittedRequest::note(&request) } else { None };
        match self.send(next, role, request).await {
            Ok(answer) if answer.status() == StatusCode::UNAUTHORIZED => answer,
            Ok(answer) => auth::hold(let_in, answer),
            Err(refusal) => refusal.into_response(),
        }
    }

    async fn send(
        &self,
        next: Next,
        role: watch::Receiver<HomeRole>,
        mut request: Request,
    ) -> Answer<Response> {
        let forwarder = matches!(next, Next::Owner(_)).then_some(&self.server_id);
        if forwarder.is_some() && request.headers().contains_key(FORWARDED) {
            return Err(refused(NoOwner::Forwarded));
        }
        let owner_url = next.into_url();
        if is_too_long(request.headers()) {
            return Err(Refusal::too_long());
        }
        let Some(owner) = Owner::parse(&owner_url) else {
            tracing::error!(owner_url, "the address of the home's owner is invalid");
            return Err(refused(NoOwner::Unreachable));
        };
        let switch = upgrade_of(request.headers())
            .map(|protocol| (protocol, hyper::upgrade::on(&mut request)));
        let (mut parts, body) = request.into_parts();
        let repeat = Repeat::of(&parts);
        parts.uri = owner.uri(&parts.uri)?;
        parts.version = Version::HTTP_11;
        parts.extensions.clear();
        owner.address(&mut parts.headers, forwarder);
        if let Some((protocol, _)) = &switch {
            set_upgrade(&mut parts.headers, protocol.clone());
        }
        let (body, upload) = Upload::new(body);
        let mut cut = cut(owner_url, role, self.ended.clone());
        let pending = self.pending.enter();
        // Lets the end of a connection that has arrived be noticed before the connection is used again.
        tokio::task::yield_now().await;
        let answered = tokio::select! {
            biased;
            answered = self.client.request(Request::from_parts(parts, body)) => answered,
            loss = &mut cut => return Err(unanswered(loss, repeat)),
        };
        drop(pending);
        let answer = answered.map_err(|error| match upload.error() {
            Some(error) => error.into(),
            None => lost(&error, repeat),
        })?;
        if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
            let Some((_, client)) = switch else {
                return Err(unanswered(AnswerLoss::Broken, repeat));
            };
            return Ok(self.switch(client, answer, cut));
        }
        Ok(pass_on(answer, cut))
    }

    /// Connects the two sides of a connection that is no HTTP any more, until either ends.
    fn switch(
        &self,
        client: OnUpgrade,
        mut answer: http::Response<Incoming>,
        cut: Cut,
    ) -> Response {
        let owner = hyper::upgrade::on(&mut answer);
        let (mut parts, _) = answer.into_parts();
        let protocol = parts.headers.get(UPGRADE).cloned();
        remove_hop_by_hop(&mut parts.headers);
        if let Some(protocol) = protocol {
            set_upgrade(&mut parts.headers, protocol);
        }
        parts.extensions.clear();
        self.switched.spawn(async move {
            let Ok((client, owner)) = tokio::try_join!(client, owner) else { return };
            let (mut client, mut owner) = (TokioIo::new(client), TokioIo::new(owner));
            tokio::select! {
                copied = tokio::io::copy_bidirectional(&mut client, &mut owner) => {
                    if let Err(error) = copied {
                        tracing::trace!(%error, "forwarded connection ended with an error");
                    }
                }
                _ = cut => {}
            }
        });
        Response::from_parts(parts, Body::empty())
    }

    /// Waits for the shutdown, gives what is forwarded a moment to be answered, and ends the rest.
    pub(super) async fn end_after(&self, shutdown: &CancellationToken) {
        shutdown.cancelled().await;
        self.pending.wait_until_none(LAST_ANSWERS).await;
        self.ended.cancel();
        self.switched.close();
        if timeout(LAST_CONNECTIONS, self.switched.wait()).await.is_err() {
            tracing::warn!("forwarded connections were still open when the server stopped");
        }
    }
}

/// Hands an answer on as it is given.
fn pass_on(answer: http::Response<Incoming>, cut: Cut) -> Response {
    let end = if is_stream(&answer) { End::Whole } else { End::Broken };
    let (mut parts, body) = answer.into_parts();
    remove_hop_by_hop(&mut parts.headers);
    parts.version = Version::HTTP_11;
    parts.extensions.clear();
    Response::from_parts(parts, Body::new(Download::new(body, cut, end)))
}

fn refused(reason: NoOwner) -> Refusal {
    ToolError::from(reason).into()
}

fn unanswered(loss: AnswerLoss, repeat: Repeat) -> Refusal {
    refused(NoOwner::Unanswered(Unanswered { loss, repeat }))
}

/// Tells a request that never left from one whose outcome nobody knows.
fn lost(error: &ClientError, repeat: Repeat) -> Refusal {
    tracing::debug!(error = error as &dyn Error, "forwarded request failed");
    if was_sent(error) {
        unanswered(AnswerLoss::Broken, repeat)
    } else {
        refused(NoOwner::Unreachable)
    }
}

fn was_sent(error: &ClientError) -> bool {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let mut causes = causes.filter_map(|cause| cause.downcast_ref::<hyper::Error>());
    !error.is_connect() && !causes.any(hyper::Error::is_canceled)
}

/// Connects to an owner within [`CONNECT_TIMEOUT`], with TLS where its address says so.
#[derive(Clone)]
struct Connector(HttpsConnector<HttpConnector>);

impl Connector {
    /// A connector that trusts whom the machine trusts; where that is nobody, only plain connections succeed.
    fn new() -> Self {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_keepalive(Some(KEEPALIVE));
        let provider = rustls::crypto::ring::default_provider();
        let builder = HttpsConnectorBuilder::new().with_provider_and_native_roots(provider);
        let builder = builder.unwrap_or_else(|error| {
            tracing::warn!(%error, "no certificates; an owner with an `https` address is unreachable");
            let config = ClientConfig::builder().with_root_certificates(RootCertStore::empty());
            HttpsConnectorBuilder::new().with_tls_config(config.with_no_client_auth())
        });
        Self(builder.https_or_http().enable_http1().wrap_connector(http))
    }
}

impl tower::Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, owner: Uri) -> Self::Future {
        let connecting = self.0.call(owner);
        Box::pin(async move { timeout(CONNECT_TIMEOUT, connecting).await? })
    }
}
