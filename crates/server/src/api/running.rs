//! The server itself: how it does, how it reads its configuration again, how it ends.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use engine::store::{Agent, AuditDraft, EventDraft, StoreError, Tx};
use engine::{Principal, ToolError};
use http::StatusCode;
use model::agent::AgentState;

use wire::server::{ReloadReport, ServerStatus};

use crate::answer::Answer;
use crate::app::reload_event;
use crate::server::Shared;

pub(crate) async fn status(
    State(shared): State<Arc<Shared>>,
    Extension(principal): Extension<Principal>,
) -> Answer<Json<ServerStatus>> {
    let app = &shared.app;
    let (agents, ours) = app
        .engine
        .store()
        .read(|tx: &Tx<'_>| Ok::<_, StoreError>((tx.agents_live_count()?, tx.agents_run()?)))?;
    let at_work =
        |agent: &&Agent| matches!(agent.state, AgentState::Starting | AgentState::Running);
    let running = ours.iter().filter(at_work).count();
    Ok(Json(ServerStatus {
        url: app.url.clone(),
        pid: std::process::id(),
        version: app.version.clone(),
        started_at: app.started_at,
        home: app.home.clone(),
        agents,
        running,
        waiting: ours.len() - running,
        calls: shared.metrics.calls(),
        operator: principal == Principal::Operator,
    }))
}

pub(crate) async fn reload(State(shared): State<Arc<Shared>>) -> Answer<Json<ReloadReport>> {
    let reload = Arc::clone(&shared.app.reload);
    let report =
        tokio::task::spawn_blocking(move || reload()).await.map_err(ToolError::internal)??;
    let engine = &shared.app.engine;
    let now = engine.now();
    let event = EventDraft { agent: None, task: None, data: reload_event(&report) };
    let row = AuditDraft {
        at: now,
        agent: None,
        by_operator: true,
        tool: "operator__reload".to_owned(),
        input: "{}".to_owned(),
        code: None,
        output: event.data.to_json().to_string(),
        duration_micros: 0,
        git_commit: None,
    };
    let told = engine.store().write(move |tx| {
        tx.event_append(now, &event)?;
        tx.audit_append(&row)?;
        Ok::<_, ToolError>(())
    });
    told.await?;
    Ok(Json(report))
}

pub(crate) async fn shutdown(State(shared): State<Arc<Shared>>) -> StatusCode {
    shared.app.shutdown.cancel();
    StatusCode::ACCEPTED
}
