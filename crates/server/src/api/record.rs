//! The record of calls: search, counts over time, and single calls.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::ToolError;
use wire::record::{AuditQuery, CallHistogram, HistogramQuery, RecordedCall, Records};

use super::paging::page_limit;
use crate::answer::{Answer, Params};
use crate::shared::Shared;

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<AuditQuery>,
) -> Answer<Json<Records>> {
    let limit = page_limit(asked.limit)?;
    Ok(Json(shared.app.engine.recorded_calls(asked, limit).await?))
}

pub(crate) async fn histogram(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<HistogramQuery>,
) -> Answer<Json<CallHistogram>> {
    Ok(Json(shared.app.engine.calls_histogram(asked).await?))
}

pub(crate) async fn one(
    State(shared): State<Arc<Shared>>,
    Path(number): Path<String>,
) -> Answer<Json<RecordedCall>> {
    let number: i64 = number
        .parse()
        .map_err(|_| ToolError::invalid("pass the number of a call").detail("field", "number"))?;
    Ok(Json(shared.app.engine.recorded_call(number).await?))
}
