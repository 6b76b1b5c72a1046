//! Epics: how far each is, and what it has cost.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::ToolError;
use engine::store::EpicPage;
use model::EpicId;
use wire::epics::{EpicRow, Epics};

use super::{Listing, page_limit};
use crate::answer::{Answer, ErrorBody, Params};
use crate::server::Shared;

/// List epics with how far they are, oldest first
#[utoipa::path(
    get, path = "/api/epics", tag = "tasks", params(Listing),
    responses(
        (status = 200, body = ref("#/components/schemas/Epics")),
        (status = "4XX", body = ErrorBody)
    )
)]
pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<Listing>,
) -> Answer<Json<Epics>> {
    let which = if asked.all { EpicPage::All } else { EpicPage::Open };
    let limit = page_limit(asked.limit)?;
    Ok(Json(shared.app.engine.epics(which, asked.after.number(), limit).await?))
}

/// Show one epic with how far it is
#[utoipa::path(
    get, path = "/api/epics/{id}", tag = "tasks",
    params(("id" = String, Path, description = "The epic")),
    responses(
        (status = 200, body = ref("#/components/schemas/Epic")),
        (status = "4XX", body = ErrorBody)
    )
)]
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
