//! Tool use in a period: counts, outcomes and durations.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::store::{self, AuditSearch, StoreError, ToolUse, Tx};
use model::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use wire::usage::{OwnToolFigure, ToolFigure, ToolFigures};

use super::audit_query::refusals;
use super::record::{call_counts, span_of};
use crate::answer::{Answer, Params};
use crate::server::Shared;

/// Rows counted exactly; beyond that a sample is used.
const COUNTED: i64 = 60 * 1024;
/// A time is cut into so many parts.
const PARTS: u32 = 24;
/// Agents' own tools shown.
const OWN: u32 = 100;

/// Over which time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ToolFiguresQuery {
    /// From this time on (default: an hour before the end)
    since: Option<Timestamp>,
    /// Before this time (default: now)
    until: Option<Timestamp>,
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn ms(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

fn tool_figure(figures: store::ToolFigures) -> ToolFigure {
    ToolFigure {
        tool: figures.tool,
        counted: call_counts(figures.count),
        p50_ms: ms(figures.p50_micros),
        p95_ms: ms(figures.p95_micros),
        spark: figures.parts,
    }
}

fn own_tool_figure(used: ToolUse) -> OwnToolFigure {
    OwnToolFigure { tool: used.tool, calls: used.calls, failed: used.errors }
}

pub(crate) async fn tools(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<ToolFiguresQuery>,
) -> Answer<Json<ToolFigures>> {
    let span = span_of(asked.since, asked.until, PARTS, shared.app.engine.now())?;
    let ((figures, estimate), own) = shared
        .app
        .engine
        .store()
        .scan(move |tx: &Tx<'_>| {
            let all = AuditSearch::default();
            let figures = tx.audit_tool_figures(&all, &span, &refusals(), COUNTED)?;
            Ok::<_, StoreError>((figures, tx.tool_use_own(span.from, OWN)?))
        })
        .await?;
    Ok(Json(ToolFigures {
        from: span.from,
        step: span.step,
        tools: figures.into_iter().map(tool_figure).collect(),
        own: own.into_iter().map(own_tool_figure).collect(),
        estimate,
    }))
}
