//! Tool use in a period: counts, outcomes and durations.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::store::{AuditSearch, StoreError, ToolFigures, ToolUse, Tx};
use model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::audit_query::refusals;
use super::record::{Counted, span_of};
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
pub(crate) struct WhichToolUse {
    /// From this time on (default: an hour before the end)
    since: Option<Timestamp>,
    /// Before this time (default: now)
    until: Option<Timestamp>,
}

/// Tool use.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolsUsed {
    /// When the first part begins
    from: Timestamp,
    /// Length of a part, in milliseconds
    step: i64,
    /// Adjutant's tools, the most used first
    tools: Vec<ToolFigure>,
    /// The agents' own tools, of those that were at work in this time, since each of them began
    own: Vec<OwnTool>,
    /// True if the figures are estimated from a sample
    estimate: bool,
}

/// Use of one of Adjutant's tools.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolFigure {
    /// Its name
    tool: String,
    #[serde(flatten)]
    counted: Counted,
    /// Half of the calls took no longer, in milliseconds
    p50_ms: f64,
    /// Of a hundred calls ninety-five took no longer
    p95_ms: f64,
    /// Number of calls in each part of the period
    spark: Vec<u64>,
}

/// Use of one of the agents' own tools.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OwnTool {
    /// Its name
    tool: String,
    /// Number of calls
    calls: u64,
    /// Number of failed calls
    failed: u64,
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn ms(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

impl From<ToolFigures> for ToolFigure {
    fn from(figures: ToolFigures) -> Self {
        Self {
            tool: figures.tool,
            counted: Counted::from(figures.count),
            p50_ms: ms(figures.p50_micros),
            p95_ms: ms(figures.p95_micros),
            spark: figures.parts,
        }
    }
}

impl From<ToolUse> for OwnTool {
    fn from(used: ToolUse) -> Self {
        Self { tool: used.tool, calls: used.calls, failed: used.errors }
    }
}

pub(crate) async fn tools(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<WhichToolUse>,
) -> Answer<Json<ToolsUsed>> {
    let span = span_of((asked.since, asked.until), PARTS, shared.app.engine.now())?;
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
    Ok(Json(ToolsUsed {
        from: span.from,
        step: span.step,
        tools: figures.into_iter().map(ToolFigure::from).collect(),
        own: own.into_iter().map(OwnTool::from).collect(),
        estimate,
    }))
}
