//! Worktrees: which there are, taking one away, and whether git and the record agree.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use engine::{ListScope, ToolError};
use wire::worktrees::{Agreement, PrunedWorktree, SettledCommits, Worktrees};

use super::paging::{ListQuery, page_limit};
use crate::answer::{Answer, Params};
use crate::shared::Shared;

/// Nobody waits longer until a worktree is gone.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<ListQuery>,
) -> Answer<Json<Worktrees>> {
    let scope = ListScope::from(asked.all);
    let limit = page_limit(asked.limit)?;
    Ok(Json(shared.app.engine.worktree_views(scope, asked.after.number(), limit).await?))
}

pub(crate) async fn prune(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<PrunedWorktree>> {
    let agent = shared.app.engine.agent_named(name).await?;
    let engine = &shared.app.engine;
    let job = engine.worktree_prune(agent).await?;
    let pruned = tokio::select! {
        pruned = engine.worktree_pruned(agent, job, REMOVAL_TIMEOUT) => pruned?,
        () = shared.app.shutdown.cancelled() => {
            engine.worktree_pruned(agent, job, Duration::ZERO).await?
        }
    };
    Ok(Json(pruned))
}

pub(crate) async fn check(State(shared): State<Arc<Shared>>) -> Answer<Json<Agreement>> {
    let engine = shared.app.engine.clone();
    let compared = tokio::task::spawn_blocking(move || engine.disagreements()).await;
    let disagreements = compared.map_err(ToolError::internal)??;
    Ok(Json(Agreement { ok: disagreements.is_empty(), disagreements }))
}

pub(crate) async fn settle(State(shared): State<Arc<Shared>>) -> Answer<Json<SettledCommits>> {
    let commits = shared.app.engine.settle_lost_commits().await?;
    Ok(Json(SettledCommits { commits }))
}
