//! One listener for a server that shares its home with others.
//!
//! While another server owns the home, every request is forwarded to it, be it for a stream or a WebSocket. Once
//! this server owns the home, the same listener answers from the owner's router. What the server is when a request
//! comes decides who answers it; a later change does not move it.
//!
//! `/healthz`, `/readyz`, `/metrics`, `/api/shutdown` and the proof of who it is are about this server and never
//! forwarded.

mod cut;
mod forward;
mod headers;
pub(crate) mod homes;
mod local;
mod no_owner;
mod upload;

use std::fmt;
use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use engine::ToolError;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::answer::Refusal;
use crate::connections::{self, ConnectionLimits};
use crate::guard::Guard;
use crate::paths::{HEALTH, METRICS, READY, SHUTDOWN};
use crate::proof::PROOF;
use forward::{Forwarder, Next};
use no_owner::NoOwner;

/// What a server is to its home at a moment.
#[derive(Debug, Clone)]
pub enum HomeRole {
    /// Nobody is known to own the home, or PostgreSQL cannot be reached
    Waiting {
        /// Reason, for people
        why: String,
    },
    /// Another server owns it
    Following {
        /// Where that server is reached
        owner_url: String,
    },
    /// This server owns it, and this router answers
    Owning(Router),
    /// This server owns it, but its lease ran out because PostgreSQL is away: nothing may be answered
    Suspended {
        /// Reason, for people
        why: String,
    },
}

/// Facts that only the rest of the program knows.
pub trait GatewayProbe: Send + Sync {
    /// Hash of the operator's token, once it is known.
    fn operator_hash(&self) -> Option<String>;

    /// Metrics of the server beside those of the engine, in Prometheus text format.
    fn metrics(&self) -> String;
}

/// What a gateway needs.
#[derive(Clone)]
pub struct GatewayOptions {
    /// Id of this server, which requests that it forwards carry
    pub server_id: String,
    /// Where other servers reach this one, without a slash at the end
    pub url: String,
    /// Where this machine reaches it
    pub own_url: String,
    /// Version
    pub version: String,
    /// Names beside loopback's under which this server may be asked for
    pub hosts: Vec<String>,
    /// Bounds on connections
    pub limits: ConnectionLimits,
    /// Facts that only the rest of the program knows
    pub probe: Arc<dyn GatewayProbe>,
    /// Ends the server when cancelled; `POST /api/shutdown` cancels it while this server does not own the home
    pub stop: CancellationToken,
}

impl fmt::Debug for GatewayOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayOptions")
            .field("server_id", &self.server_id)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// The listener of a server that shares its home with others.
#[derive(Debug)]
pub struct Gateway {
    face: Arc<GatewayState>,
    limits: ConnectionLimits,
}

/// State shared by all requests.
struct GatewayState {
    role: watch::Receiver<HomeRole>,
    guard: Guard,
    options: GatewayOptions,
    forwarder: Forwarder,
}

impl fmt::Debug for GatewayState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Face").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Gateway {
    /// A gateway that acts by what the server is. It must be made inside a runtime.
    pub fn new(options: GatewayOptions, role: watch::Receiver<HomeRole>) -> Self {
        let (limits, guard) = (options.limits, Guard::new(&options.hosts, &options.url));
        let forwarder = Forwarder::new(&options.server_id);
        Self { face: Arc::new(GatewayState { role, guard, options, forwarder }), limits }
    }

    /// Serves until told to shut down: then what is forwarded has a moment to be answered.
    ///
    /// An owner's router has to be drained on its own, before this or at the same time.
    pub async fn serve(self, listener: TcpListener, shutdown: CancellationToken) -> io::Result<()> {
        let Self { face, limits } = self;
        let router = Router::new().fallback(answer).with_state(Arc::clone(&face));
        let serving = connections::serve(listener, router, limits, shutdown.clone());
        let serving = connections::until_shutdown(serving, &shutdown);
        tokio::join!(serving, face.forwarder.end_after(&shutdown));
        Ok(())
    }
}

/// Answers a request, or has the owner of the home answer it.
async fn answer(State(face): State<Arc<GatewayState>>, request: Request) -> Response {
    let role = face.role.borrow().clone();
    if let HomeRole::Owning(router) = role {
        return local::own(&face, router, request).await;
    }
    if let Some(problem) = face.guard.refuse(request.uri(), request.headers()) {
        return Refusal::from(ToolError::denied(problem)).into_response();
    }
    if let HEALTH | READY | METRICS | PROOF | SHUTDOWN = request.uri().path() {
        return local::answer(&face, &role, request).await;
    }
    let refusal = match role {
        HomeRole::Following { owner_url } if owner_url != face.options.url => {
            let next = Next::Owner(owner_url);
            let forwarding = face.forwarder.forward(next, face.role.clone(), request);
            return Box::pin(forwarding).await;
        }
        // What is known of the owner is of the time before this server was started again.
        HomeRole::Following { .. } => NoOwner::Nobody("it is being taken over".to_owned()),
        HomeRole::Waiting { why } | HomeRole::Suspended { why } => NoOwner::Nobody(why),
        HomeRole::Owning(_) => NoOwner::Nobody("this server has just taken it".to_owned()),
    };
    Refusal::from(ToolError::from(refusal)).into_response()
}
