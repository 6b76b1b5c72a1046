//! The router with everything on it, and how it is served.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router, middleware};
use engine::ToolError;
use engine::toolsets::TOOLSETS;
use http::StatusCode;
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wire::server::{HealthStatus, ServerHealth, ServerRole};

use crate::activity::Count;
use crate::answer::{Refusal, hold_while_streaming};
use crate::app::App;
use crate::connections::{self, ConnectionLimits};
use crate::counters::Counters;
use crate::guard::Guard;
use crate::mcp::endpoint::{Endpoint, RequestRoute};
use crate::mcp::handler::McpHandler;
use crate::mcp::sessions::{self, Sessions};
use crate::mcp::subscriptions::{self, Subscriptions};
use crate::registry::{Mount, no_toolset};
use crate::shared::Shared;
use crate::tail::Tail;
use crate::{api, auth, execute, metrics, page, paths, proof};

/// Time for waiting calls to notice that the server ends.
pub(crate) const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// A server that is not listening yet.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    router: Router<Arc<Shared>>,
    limits: ConnectionLimits,
}

/// The production router. It must be made inside a runtime, for it follows the events from now on.
pub fn router(app: App) -> Router {
    Server::new(app).into_router()
}

impl Server {
    /// A server of an engine. It must be made inside a runtime, for it follows the events from now on.
    pub fn new(app: App) -> Self {
        let shared = Arc::new(Shared {
            guard: Guard::new(&app.hosts, &app.url),
            counters: Counters::new(),
            answers: Count::default(),
            sessions: Sessions::new(app.engine.clone()),
            subscriptions: Subscriptions::default(),
            tail: Tail::default(),
            streams: CancellationToken::new(),
            tasks: TaskTracker::new(),
            app,
        });
        shared.tasks.spawn(subscriptions::follow(Arc::clone(&shared)));
        shared.tasks.spawn(end_streams(Arc::clone(&shared)));
        shared.tasks.spawn(sessions::keep_house(Arc::clone(&shared)));
        let face = Endpoint::new(&shared, RequestRoute::Short, {
            let shared = Arc::clone(&shared);
            move || McpHandler::new(&shared)
        });
        let mut router = Router::new()
            .route(paths::HEALTH, get(health))
            .route(paths::READY, get(health))
            .route(proof::PROOF, get(proof::prove))
            .route(paths::METRICS, get(metrics::metrics))
            .route("/mcp/execute", post(execute::execute))
            .route_layer(middleware::from_fn_with_state(
                Arc::clone(&shared),
                api::running::read_changes_for_tab,
            ))
            .route("/mcp", face.route(None))
            .merge(api::routes(&shared));
        for (set, name) in TOOLSETS.iter().enumerate() {
            router = router.route(&format!("/mcp/{name}"), face.route(Some(Mount::Alone(set))));
        }
        Self { shared, router, limits: ConnectionLimits::default() }
    }

    /// Serves another MCP server at a path, behind the same checks and with the same sessions.
    #[must_use]
    pub fn mount<H: ServerHandler>(
        mut self,
        path: &str,
        handler: impl Fn() -> H + Send + Sync + 'static,
    ) -> Self {
        let endpoint = Endpoint::new(&self.shared, RequestRoute::Long, handler);
        self.router = self.router.route(path, endpoint.route(Some(Mount::ALL)));
        self
    }

    /// Bounds its connections otherwise than by default.
    #[must_use]
    pub const fn with_limits(mut self, limits: ConnectionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The router, to be served in another way.
    pub fn into_router(self) -> Router {
        let Self { shared, router, .. } = self;
        router
            .fallback(nothing_there)
            .method_not_allowed_fallback(wrong_method)
            .layer(middleware::from_fn_with_state(Arc::clone(&shared), auth::gate))
            .with_state(shared)
    }

    /// The router, and what ends it, to be served in another way: see [`Gateway`](crate::Gateway).
    pub fn into_parts(self) -> (Router, Drain) {
        let (shared, requests) = (Arc::clone(&self.shared), TaskTracker::new());
        let counted = middleware::from_fn_with_state(requests.clone(), count_request);
        // Made ready once, as every request has a copy of it.
        let router = self.into_router().layer(counted).with_state(());
        (router, Drain { shared, requests })
    }

    /// Serves until the application is told to shut down and everybody has been answered.
    pub async fn serve(self, listener: TcpListener) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let shutdown = shared.app.shutdown.clone();
        let limits = self.limits;
        let serving = connections::serve(listener, self.into_router(), limits, shutdown.clone());
        connections::until_shutdown(serving, &shutdown).await;
        end_tasks(&shared).await;
        Ok(())
    }
}

/// Ends a server whose router is served elsewhere.
#[derive(Debug)]
#[must_use = "the server goes on until it is drained"]
pub struct Drain {
    shared: Arc<Shared>,
    /// Requests and streams on the router
    requests: TaskTracker,
}

impl Drain {
    /// Tells the application to shut down, and waits until everybody has been answered.
    ///
    /// Waiting calls are answered, then the streams end. Later requests to the router are answered as long as it
    /// lasts, so its place is to be taken before.
    pub async fn finish(self) {
        let Self { shared, requests } = self;
        shared.app.shutdown.cancel();
        requests.close();
        if timeout(connections::LAST_CONNECTIONS, requests.wait()).await.is_err() {
            tracing::warn!("requests were still open when the server stopped");
        }
        end_tasks(&shared).await;
    }
}

/// Has a drain wait for the request, and for its answer where that is a stream.
async fn count_request(
    State(requests): State<TaskTracker>,
    request: Request,
    next: Next,
) -> Response {
    let open = requests.token();
    hold_while_streaming(open, next.run(request).await)
}

/// Waits for what still runs beside the requests.
async fn end_tasks(shared: &Shared) {
    shared.app.shutdown.cancel();
    shared.tasks.close();
    if timeout(connections::LAST_CONNECTIONS, shared.tasks.wait()).await.is_err() {
        tracing::warn!("calls were still running when the server stopped");
    }
}

/// Lets what waits be answered, and then ends the streams.
async fn end_streams(shared: Arc<Shared>) {
    shared.app.shutdown.cancelled().await;
    shared.answers.wait_until_none(LAST_ANSWERS).await;
    shared.streams.cancel();
}

/// `GET /healthz` and `GET /readyz`: a server that is healthy is ready.
async fn health(
    State(shared): State<Arc<Shared>>,
    role: Option<Extension<ServerRole>>,
) -> (StatusCode, Json<ServerHealth>) {
    let (status, code, reason) = match shared.app.engine.unhealthy() {
        None => (HealthStatus::Ok, StatusCode::OK, None),
        Some(reason) => (HealthStatus::Unhealthy, StatusCode::SERVICE_UNAVAILABLE, Some(reason)),
    };
    let role = role.map(|Extension(role)| role);
    let version = shared.app.version.clone();
    (code, Json(ServerHealth { status, reason, role, version }))
}

async fn nothing_there(request: Request) -> Response {
    if let Some(file) = page::answer(&request) {
        return file;
    }
    let path = request.uri().path();
    let error = match path.strip_prefix("/mcp/") {
        Some(name) => no_toolset(name),
        None => ToolError::not_found(format!("there is nothing at `{path}`")),
    };
    Refusal::from(error).into_response()
}

/// Refuses a method that the path does not take.
pub(crate) async fn wrong_method(request: Request) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    let error = ToolError::invalid(format!("`{path}` does not take {method}"));
    Refusal::with(StatusCode::METHOD_NOT_ALLOWED, error).into_response()
}
