//! The merge queue, and work that waits for approval.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::{ListScope, ReviewScope, ToolError};
use model::{Cursor, EpicId, MergeId};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::merges::{Merges, ReviewDesk, WatchedMerge};

use super::paging::page_limit;
use crate::answer::{Answer, Params};
use crate::shared::Shared;

/// Page of merges to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct MergesQuery {
    /// Those that are over, too
    #[serde(default)]
    all: bool,
    /// Only those after this cursor
    #[serde(default)]
    after: Cursor,
    /// Page size, at most 1000
    limit: Option<u32>,
    /// Number of finished ones to add, at most 100
    #[serde(default)]
    over: u32,
}

/// Maximum number of finished ones added.
const MAX_ENDED: u32 = 100;

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<MergesQuery>,
) -> Answer<Json<Merges>> {
    if asked.over > MAX_ENDED {
        let message = format!("`over` must be from 0 to {MAX_ENDED}");
        return Err(ToolError::invalid(message).detail("field", "over").into());
    }
    let scope = ListScope::from(asked.all);
    let limit = page_limit(asked.limit)?;
    let engine = shared.app.engine.clone();
    let look = tokio::task::spawn_blocking(move || {
        let merges = engine.merge_queue(scope, asked.after.number(), limit)?;
        let over = if asked.over > 0 { engine.merges_over(asked.over)? } else { Vec::new() };
        Ok::<_, ToolError>(Merges { over, ..merges })
    });
    Ok(Json(look.await.map_err(ToolError::internal)??))
}

/// The merge that a path names.
fn id_of(given: &str) -> Result<MergeId, ToolError> {
    given.parse().map_err(|error| {
        ToolError::invalid(format!("{error}"))
            .hint("`adjutant merge-queue --all` lists them")
            .detail("field", "id")
    })
}

pub(crate) async fn one(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
) -> Answer<Json<WatchedMerge>> {
    let id = id_of(&id)?;
    // What a check says is read from a file.
    let look = tokio::task::spawn_blocking(move || shared.app.engine.merge_one(id));
    Ok(Json(look.await.map_err(ToolError::internal)??))
}

pub(crate) async fn retry(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
) -> Answer<Json<WatchedMerge>> {
    let id = id_of(&id)?;
    shared.app.engine.merge_retry(id).await?;
    Ok(Json(shared.app.engine.merge_one(id)?))
}

/// Filter for listing tasks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReviewQueueQuery {
    /// Only tasks of this epic
    epic_id: Option<EpicId>,
    /// `nextCursor` of the page before
    cursor: Option<String>,
    /// Page size, at most 1000
    limit: Option<u32>,
}

pub(crate) async fn reviewed(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<ReviewQueueQuery>,
) -> Answer<Json<ReviewDesk>> {
    let after = asked.cursor.map_or(Ok(0), |cursor| {
        let number = cursor.strip_prefix('c').and_then(|number| number.parse().ok());
        number.map(Cursor::number).ok_or_else(|| {
            ToolError::invalid("invalid `cursor`: pass `nextCursor` unchanged")
                .detail("field", "cursor")
        })
    })?;
    let scope = ReviewScope { epic: asked.epic_id, after, limit: page_limit(asked.limit)? };
    Ok(Json(shared.app.engine.review_desk(scope).await?))
}
