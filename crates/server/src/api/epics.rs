//! Epics with their progress and costs.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::{ListScope, ToolError};
use model::EpicId;
use wire::epics::{EpicRow, Epics};

use super::paging::{ListQuery, page_limit};
use crate::answer::{Answer, Params};
use crate::shared::Shared;

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<ListQuery>,
) -> Answer<Json<Epics>> {
    let scope = ListScope::from(asked.all);
    let limit = page_limit(asked.limit)?;
    Ok(Json(shared.app.engine.epics(scope, asked.after.number(), limit).await?))
}

pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
) -> Answer<Json<EpicRow>> {
    let id: EpicId = id.parse().map_err(|error| {
        ToolError::invalid(format!("{error}"))
            .hint("`GET /api/epics?all=true` lists them")
            .detail("field", "id")
    })?;
    Ok(Json(shared.app.engine.epic(id).await?))
}
