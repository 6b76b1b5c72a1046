//! Loops: views, and actions of the operator.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::{LoopChange, LoopStart, PauseWhen};
use http::StatusCode;
use model::{Cursor, Line};
use wire::loops::{LoopDetails, LoopList, LoopMessageView, LoopView};

use wire::loops::{LoopMessageRequest, PauseLoopRequest, StartLoopRequest};

use super::paging::{NewestQuery, page_limit};
use crate::answer::{Answer, Input, Params};
use crate::shared::Shared;

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<NewestQuery>,
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

pub(crate) async fn start(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<StartLoopRequest>,
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

pub(crate) async fn pause(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<PauseLoopRequest>,
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

pub(crate) async fn say(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<LoopMessageRequest>,
) -> Answer<(StatusCode, Json<LoopMessageView>)> {
    let message = shared.app.engine.loop_say(&name, asked.text.into_inner()).await?;
    Ok((StatusCode::CREATED, Json(message)))
}
