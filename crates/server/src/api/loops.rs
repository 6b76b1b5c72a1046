//! Loops: how each stands, and what the operator does with them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::{LoopChange, LoopStart, PauseWhen};
use http::StatusCode;
use model::{Cursor, Line, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::loops::{LoopDetails, LoopList, LoopMessageView, LoopView};

use super::{Newest, page_limit};
use crate::answer::{Answer, Input, Params};
use crate::server::Shared;

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<Newest>,
) -> Answer<Json<LoopList>> {
    let limit = page_limit(asked.limit)?;
    Ok(Json(shared.app.engine.loops(asked.after.map(Cursor::number), limit).await?))
}

pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<LoopDetails>> {
    Ok(Json(shared.app.engine.loop_whole(&name).await?))
}

/// A loop to be begun, or to be given more to do. What is absent stays as it was, or is as the configuration says.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewLoop {
    /// Its name
    name: String,
    /// The specification; a new loop needs one
    spec: Option<String>,
    /// Where the specification was read: an absolute path, from which it is read again when the loop is resumed
    spec_path: Option<Line<4096>>,
    /// Iterations, or further ones; 0 is no limit
    iterations: Option<u32>,
    /// The kind that runs its agents
    agent: Option<Line<64>>,
    /// Their role
    role: Option<Line<200>>,
    /// Text added to the prompt of each iteration
    extra: Option<String>,
    /// The text of their prompt
    template: Option<String>,
    /// True if each iteration's changes are committed
    commit: Option<bool>,
    /// Total budget in dollars
    budget: Option<f64>,
    /// Where its agents work
    cwd: Option<Line<4096>>,
}

pub(crate) async fn start(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<NewLoop>,
) -> Answer<(StatusCode, Json<LoopView>)> {
    let change = LoopChange {
        spec: asked.spec,
        spec_path: asked.spec_path.map(Line::into_inner),
        iterations: asked.iterations,
        kind: asked.agent.map(Line::into_inner),
        role: asked.role.map(Line::into_inner),
        extra: asked.extra,
        template: asked.template,
        commit: asked.commit,
        budget: asked.budget,
        cwd: asked.cwd.map(Line::into_inner),
    };
    let started = shared.app.engine.loop_start(LoopStart { name: asked.name, change }).await?;
    Ok((StatusCode::CREATED, Json(started)))
}

/// When to wait.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Pause {
    /// True to end its agent; otherwise it finishes its iteration
    #[serde(default)]
    now: bool,
}

pub(crate) async fn pause(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<Pause>,
) -> Answer<Json<LoopView>> {
    let when = if asked.now { PauseWhen::Now } else { PauseWhen::After };
    Ok(Json(shared.app.engine.loop_pause(&name, when).await?))
}

pub(crate) async fn resume(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<LoopView>> {
    Ok(Json(shared.app.engine.loop_resume(&name).await?))
}

pub(crate) async fn stop(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<LoopView>> {
    Ok(Json(shared.app.engine.loop_stop(&name).await?))
}

/// Message to a loop.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Say {
    /// The words
    text: Text<32_768>,
}

pub(crate) async fn say(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<Say>,
) -> Answer<(StatusCode, Json<LoopMessageView>)> {
    let said = shared.app.engine.loop_say(&name, asked.text.into_inner()).await?;
    Ok((StatusCode::CREATED, Json(said)))
}
