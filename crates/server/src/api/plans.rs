//! Plans: views, and actions of the operator.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::{Again, PlanStart};
use http::StatusCode;
use model::{Cursor, Line};
use wire::plans::{PlanView, Plans};

use wire::plans::{PlanRequest, ResumePlanRequest};

use super::paging::{NewestQuery, page_limit};
use crate::answer::{Answer, Input, Params};
use crate::shared::Shared;

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<NewestQuery>,
) -> Answer<Json<Plans>> {
    let (before, limit) = (asked.after.map_or(i64::MAX, Cursor::number), page_limit(asked.limit)?);
    let page = shared.app.engine.plans(before, limit)?;
    Ok(Json(Plans { plans: page.items, next_cursor: page.next }))
}

pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<PlanView>> {
    Ok(Json(shared.app.engine.plan(&name)?))
}

pub(crate) async fn run(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<PlanRequest>,
) -> Answer<(StatusCode, Json<PlanView>)> {
    let request = PlanStart {
        path: asked.path.into_inner(),
        text: asked.text.into_inner(),
        name: asked.name.map(Line::into_inner),
        role: asked.role.map(Line::into_inner),
        kind: asked.kind.map(Line::into_inner),
        budget: asked.budget,
        again: if asked.again { Again::Yes } else { Again::No },
    };
    Ok((StatusCode::CREATED, Json(shared.app.engine.plan_run(request).await?)))
}

pub(crate) async fn stop(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<PlanView>> {
    Ok(Json(shared.app.engine.plan_stop(&name).await?))
}

pub(crate) async fn resume(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<ResumePlanRequest>,
) -> Answer<Json<PlanView>> {
    Ok(Json(shared.app.engine.plan_resume(&name, asked.budget).await?))
}
