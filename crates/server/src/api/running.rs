//! The server itself: how it does, how it reads its configuration again, how it ends.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use engine::{OperatorAct, Principal, ToolError};
use http::StatusCode;
use serde_json::json;
use wire::server::{ReloadReport, ServerStatus};

use crate::answer::Answer;
use crate::app::reload_event;
use crate::shared::Shared;

pub(crate) async fn status(
    State(shared): State<Arc<Shared>>,
    Extension(principal): Extension<Principal>,
) -> Answer<Json<ServerStatus>> {
    let app = &shared.app;
    let live = app.engine.live_agents()?;
    Ok(Json(ServerStatus {
        url: app.url.clone(),
        pid: std::process::id(),
        version: app.version.clone(),
        started_at: app.started_at,
        home: app.home.clone(),
        agents: live.all,
        running: live.running,
        waiting: live.waiting,
        calls: shared.metrics.calls(),
        record: app.engine.record_counts()?,
        operator: principal == Principal::Operator,
    }))
}

pub(crate) async fn reload(State(shared): State<Arc<Shared>>) -> Answer<Json<ReloadReport>> {
    let reload = Arc::clone(&shared.app.reload);
    let report =
        tokio::task::spawn_blocking(move || reload()).await.map_err(ToolError::internal)??;
    let event = reload_event(&report);
    let output = event.to_json();
    let act = OperatorAct { tool: "operator__reload", input: json!({}), output };
    shared.app.engine.record_act(act, event).await?;
    Ok(Json(report))
}

pub(crate) async fn shutdown(State(shared): State<Arc<Shared>>) -> StatusCode {
    shared.app.shutdown.cancel();
    StatusCode::ACCEPTED
}
