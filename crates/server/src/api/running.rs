//! The server itself: how it does, how it reads its configuration again, how it ends.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use axum::{Extension, Json};
use engine::{OperatorAct, Principal, Tab, ToolError};
use http::{Method, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use wire::server::{ReloadReport, ServerStatus};

use crate::answer::{Answer, Params};
use crate::app::{ReloadScope, reload_event};
use crate::shared::Shared;

pub(crate) async fn status(
    State(shared): State<Arc<Shared>>,
    Extension(principal): Extension<Principal>,
) -> Answer<Json<ServerStatus>> {
    let app = &shared.app;
    let live = app.engine.live_agents()?;
    let shared_home = match app.shared_home.clone() {
        Some(home) => {
            let probe = home.probe;
            Some(tokio::task::spawn_blocking(move || probe()).await.map_err(ToolError::internal)?)
        }
        None => None,
    };
    Ok(Json(ServerStatus {
        url: app.url.clone(),
        pid: std::process::id(),
        version: app.version.clone(),
        started_at: app.started_at,
        home: app.home.clone(),
        agents: live.all,
        running: live.running,
        waiting: live.waiting,
        calls: shared.counters.calls(),
        record: app.engine.record_counts()?,
        operator: principal == Principal::Operator,
        shared_home,
    }))
}

/// Which files to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReloadQuery {
    /// Only if one of the files has changed since they were read last
    #[serde(default)]
    changed: bool,
}

pub(crate) async fn reload(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<ReloadQuery>,
) -> Answer<Json<ReloadReport>> {
    let scope = if asked.changed { ReloadScope::Changed } else { ReloadScope::All };
    Ok(Json(read_again(&shared, scope).await?))
}

/// Reads the files again, and records it if they were read.
async fn read_again(shared: &Shared, scope: ReloadScope) -> Result<ReloadReport, ToolError> {
    let reload = Arc::clone(&shared.app.reload);
    let report =
        tokio::task::spawn_blocking(move || reload(scope)).await.map_err(ToolError::internal)??;
    if report.read {
        let event = reload_event(&report);
        let output = event.to_json();
        let act = OperatorAct { tool: "operator__reload", input: json!({}), output };
        shared.app.engine.record_act(act, event).await?;
    }
    Ok(report)
}

/// Reads changed files before what a person does on the page. Files that cannot be read change nothing: the page's
/// settings show what is wrong with them.
pub(crate) async fn read_changes_for_tab(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let is_act = request.method() == Method::POST && request.uri().path() != "/api/reload";
    let is_tab = request.extensions().get::<Tab>().is_some();
    if is_act
        && is_tab
        && let Err(error) = read_again(&shared, ReloadScope::Changed).await
    {
        tracing::warn!(error = error.message, "changed settings cannot be read; the old ones stay");
    }
    next.run(request).await
}

pub(crate) async fn shutdown(State(shared): State<Arc<Shared>>) -> StatusCode {
    shared.app.shutdown.cancel();
    StatusCode::ACCEPTED
}
