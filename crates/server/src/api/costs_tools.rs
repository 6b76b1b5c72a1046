//! How tools were used in a time: how often, how it went, how long it took.

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

/// So many rows are counted one by one; of more, a part stands for all.
const COUNTED: i64 = 60 * 1024;
/// A time is cut into so many parts.
const PARTS: u32 = 24;
/// So many of the agents' own tools are shown.
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

/// How tools were used.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolsUsed {
    /// When the first part begins
    from: Timestamp,
    /// How many milliseconds a part has
    step: i64,
    /// Adjutant's tools, the most used first
    tools: Vec<ToolFigure>,
    /// The agents' own tools, of those that were at work in this time, since each of them began
    own: Vec<OwnTool>,
    /// Whether there were so many calls that a part of them stands for all
    estimate: bool,
}

/// How one of Adjutant's tools was used.
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
    /// How often in each part of the time
    spark: Vec<u64>,
}

/// How one of the agents' own tools was used.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OwnTool {
    /// Its name
    tool: String,
    /// How often
    calls: u64,
    /// How often in vain
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
