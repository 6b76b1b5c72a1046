//! Tool use in a period: counts, outcomes and durations.

use store::{AuditSearch, StoreError, ToolUse};
use wire::usage::{OwnToolFigure, ToolFigure, ToolFigures};

use crate::core::error::ToolError;
use crate::views::period::Period;
use crate::views::record::counted;
use crate::views::record::query::{refusals, span_of};
use crate::views::service::Views;

/// Rows counted exactly; beyond that a sample is used.
const COUNTED_ROWS: i64 = 60 * 1024;
/// Parts of a period.
const PARTS: u32 = 24;
/// Agents' own tools shown.
const MAX_OWN_TOOLS: u32 = 100;

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn milliseconds(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

fn figure(figures: store::ToolFigures) -> ToolFigure {
    ToolFigure {
        tool: figures.tool,
        counted: counted(&figures.count),
        p50_ms: milliseconds(figures.p50_micros),
        p95_ms: milliseconds(figures.p95_micros),
        spark: figures.parts,
    }
}

fn own_tool(used: ToolUse) -> OwnToolFigure {
    OwnToolFigure { tool: used.tool, calls: used.calls, failed: used.errors }
}

impl Views {
    /// Counts the calls of each tool in a period; by default the hour before its end.
    pub async fn tools_used(&self, period: Period) -> Result<ToolFigures, ToolError> {
        let span = span_of(period, PARTS, self.now())?;
        let (from, step) = (span.from, span.step);
        let ((figures, estimate), own) = self
            .store
            .scan(move |tx| {
                let all = AuditSearch::default();
                let figures = tx.audit_tool_figures(&all, &span, &refusals(), COUNTED_ROWS)?;
                Ok::<_, StoreError>((figures, tx.tool_use_own(from, MAX_OWN_TOOLS)?))
            })
            .await?;
        Ok(ToolFigures {
            from,
            step,
            tools: figures.into_iter().map(figure).collect(),
            own: own.into_iter().map(own_tool).collect(),
            estimate,
        })
    }
}
