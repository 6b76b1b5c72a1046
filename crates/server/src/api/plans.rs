//! Plans: how each stands, and how the operator begins, ends and goes on with one.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::{Again, PlanWish};
use http::StatusCode;
use model::{Cursor, Line, Text};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::plans::{PlanView, Plans};

use super::{Newest, page_limit};
use crate::answer::{Answer, ErrorBody, Input, Params};
use crate::server::Shared;

/// List the plans, newest first
#[utoipa::path(
    get, path = "/api/plans", tag = "plans", params(Newest),
    responses((status = 200, body = ref("#/components/schemas/Plans")), (status = "4XX", body = ErrorBody))
)]
pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<Newest>,
) -> Answer<Json<Plans>> {
    let (before, limit) = (asked.after.map_or(i64::MAX, Cursor::number), page_limit(asked.limit)?);
    let page = shared.app.engine.plans(before, limit)?;
    Ok(Json(Plans { plans: page.items, next_cursor: page.next }))
}

/// Show a plan whole: its steps, who is at each, and what a person is asked
#[utoipa::path(
    get, path = "/api/plans/{name}", tag = "plans",
    params(("name" = String, Path, description = "The plan")),
    responses((status = 200, body = ref("#/components/schemas/Plan")), (status = "4XX", body = ErrorBody))
)]
pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<PlanView>> {
    Ok(Json(shared.app.engine.plan(&name)?))
}

/// A plan that is to be run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewPlan {
    /// Where its file is, for people; the file itself is not read
    #[schema(value_type = String, max_length = 4096)]
    path: Line<4096>,
    /// What it says, in Markdown
    #[schema(value_type = String, max_length = 1_000_000)]
    text: Text<1_000_000>,
    /// What to call it (default: made from its title)
    #[schema(value_type = Option<String>, max_length = 80)]
    name: Option<Line<80>>,
    /// In which role it is run (default: as the configuration says)
    #[schema(value_type = Option<String>, max_length = 100)]
    role: Option<Line<100>>,
    /// As which kind (default: as the role says)
    #[schema(value_type = Option<String>, max_length = 50)]
    kind: Option<Line<50>>,
    /// What all of it may cost, in dollars (default: as the role or the configuration says)
    budget: Option<f64>,
    /// Whether it may be run once more where it was run already
    #[serde(default)]
    again: bool,
}

/// Run a plan: its steps become tasks, and a coordinator is started
#[utoipa::path(
    post, path = "/api/plans", tag = "plans", request_body = NewPlan,
    responses((status = 201, body = ref("#/components/schemas/Plan")), (status = "4XX", body = ErrorBody))
)]
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

/// End a plan, with whoever runs it and all below; it is over when they are
#[utoipa::path(
    post, path = "/api/plans/{name}/stop", tag = "plans",
    params(("name" = String, Path, description = "The plan")),
    responses((status = 200, body = ref("#/components/schemas/Plan")), (status = "4XX", body = ErrorBody))
)]
pub(crate) async fn stop(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<PlanView>> {
    Ok(Json(shared.app.engine.plan_stop(&name).await?))
}

/// How to go on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Resume {
    /// How much more it may cost, in dollars (default: what is left)
    budget: Option<f64>,
}

/// Go on with a plan that has ended and is not completed
#[utoipa::path(
    post, path = "/api/plans/{name}/resume", tag = "plans", request_body = Resume,
    params(("name" = String, Path, description = "The plan")),
    responses((status = 200, body = ref("#/components/schemas/Plan")), (status = "4XX", body = ErrorBody))
)]
pub(crate) async fn resume(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<Resume>,
) -> Answer<Json<PlanView>> {
    Ok(Json(shared.app.engine.plan_resume(&name, asked.budget).await?))
}
