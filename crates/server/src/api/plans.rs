//! Plans: how each stands, and how the operator begins, ends and goes on with one.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::{Again, PlanWish};
use http::StatusCode;
use model::{Cursor, Line, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::plans::{PlanView, Plans};

use super::{Newest, page_limit};
use crate::answer::{Answer, Input, Params};
use crate::server::Shared;

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<Newest>,
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

/// A plan that is to be run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewPlan {
    /// Where its file is, for people; the file itself is not read
    path: Line<4096>,
    /// Body in Markdown
    text: Text<1_000_000>,
    /// Name (default: derived from its title)
    name: Option<Line<80>>,
    /// In which role it is run (default: as the configuration says)
    role: Option<Line<100>>,
    /// As which kind (default: as the role says)
    kind: Option<Line<50>>,
    /// Total budget in dollars (default: the role's or the configuration's)
    budget: Option<f64>,
    /// True to run it again if it was already run
    #[serde(default)]
    again: bool,
}

pub(crate) async fn run(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<NewPlan>,
) -> Answer<(StatusCode, Json<PlanView>)> {
    let wish = PlanWish {
        path: asked.path.into_inner(),
        text: asked.text.into_inner(),
        name: asked.name.map(Line::into_inner),
        role: asked.role.map(Line::into_inner),
        kind: asked.kind.map(Line::into_inner),
        budget: asked.budget,
        again: if asked.again { Again::Yes } else { Again::No },
    };
    Ok((StatusCode::CREATED, Json(shared.app.engine.plan_run(wish).await?)))
}

pub(crate) async fn stop(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<PlanView>> {
    Ok(Json(shared.app.engine.plan_stop(&name).await?))
}

/// Request to resume.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Resume {
    /// Further budget in dollars (default: the rest)
    budget: Option<f64>,
}

pub(crate) async fn resume(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<Resume>,
) -> Answer<Json<PlanView>> {
    Ok(Json(shared.app.engine.plan_resume(&name, asked.budget).await?))
}
