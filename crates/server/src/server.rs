//! The router with everything on it, and how it is served.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use engine::ToolError;
use engine::toolsets::TOOLSETS;
use http::StatusCode;
use rmcp::ServerHandler;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::activity::Count;
use crate::answer::Refusal;
use crate::api::events::tail::Tail;
use crate::app::App;
use crate::connections::{self, ConnectionLimits};
use crate::guard::Guard;
use crate::mcp::endpoint::{Endpoint, Way};
use crate::mcp::handler::Face;
use crate::mcp::sessions::{self, Sessions};
use crate::mcp::subscriptions::{self, Subscriptions};
use crate::metrics::Metrics;
use crate::registry::{Mount, no_toolset};
use crate::shared::Shared;
use crate::{api, auth, execute, metrics, page, proof};

/// Time for waiting calls to notice that the server ends.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// Time for open connections to close once the server ends.
const LAST_CONNECTIONS: Duration = Duration::from_secs(5);

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
            metrics: Metrics::new(),
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
        let face = Endpoint::new(&shared, Way::Short, {
            let shared = Arc::clone(&shared);
            move || Face::new(&shared)
        });
        let mut router = Router::new()
            .route(auth::HEALTH, get(health))
            .route(proof::PROOF, get(proof::prove))
            .route(auth::METRICS, get(metrics::metrics))
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
        let endpoint = Endpoint::new(&self.shared, Way::Long, handler);
        self.router = self.router.route(path, endpoint.route(Some(Mount::ALL)));
        self
    }

    /// Bounds its connections otherwise than by default.
    #[must_use]
    pub const fn with_limits(mut self, limits: ConnectionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The router, for whoever serves it in another way.
    pub fn into_router(self) -> Router {
        let Self { shared, router, .. } = self;
        router
            .fallback(nothing_there)
            .method_not_allowed_fallback(wrong_method)
            .layer(middleware::from_fn_with_state(Arc::clone(&shared), auth::gate))
            .with_state(shared)
    }

    /// Serves until the application is told to shut down and everybody has been answered.
    pub async fn serve(self, listener: TcpListener) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let shutdown = shared.app.shutdown.clone();
        let limits = self.limits;
        let serving = connections::serve(listener, self.into_router(), limits, shutdown.clone());
        tokio::select! {
            () = serving => {}
            () = async {
                shutdown.cancelled().await;
                tokio::time::sleep(LAST_CONNECTIONS).await;
            } => {}
        }
        shutdown.cancel();
        shared.tasks.close();
        if timeout(LAST_CONNECTIONS, shared.tasks.wait()).await.is_err() {
            tracing::warn!("calls were still running when the server stopped");
        }
        Ok(())
    }
}

/// Lets what waits be answered, and then ends the streams.
async fn end_streams(shared: Arc<Shared>) {
    shared.app.shutdown.cancelled().await;
    let quiet = async {
        while shared.answers.get() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    // Whoever still runs after that is cut off.
    drop(timeout(LAST_ANSWERS, quiet).await);
    shared.streams.cancel();
}

async fn health(State(shared): State<Arc<Shared>>) -> (StatusCode, Json<Value>) {
    let version = &shared.app.version;
    match shared.app.engine.unhealthy() {
        None => (StatusCode::OK, Json(json!({ "status": "ok", "version": version }))),
        Some(reason) => {
            let body = json!({ "status": "unhealthy", "reason": reason, "version": version });
            (StatusCode::SERVICE_UNAVAILABLE, Json(body))
        }
    }
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

async fn wrong_method(request: Request) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    let error = ToolError::invalid(format!("`{path}` does not take {method}"));
    Refusal::with(StatusCode::METHOD_NOT_ALLOWED, error).into_response()
}
