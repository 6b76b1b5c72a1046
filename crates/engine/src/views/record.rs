//! The record of calls as people look at it: searched, counted over time, one call opened, and the chain verified.

mod call;
mod chain;
mod decisions;
pub(super) mod query;

use store::{AuditBody, AuditCall, AuditCount, AuditSearchOrder, AuditSearchResult};
use wire::record::{
    AuditQuery, CallCounts, CallHistogram, HistogramQuery, RecordCaller, RecordOutcome, RecordRow,
    Records, SearchedTo,
};

use crate::core::error::ToolError;
use crate::views::period::Period;
use crate::views::record::query::{SEARCHED_ROWS, refusals, span_of};
use crate::views::service::Views;

pub(crate) use chain::LastVerified;
pub use chain::VerifyFrom;

/// Characters of an input shown in a list.
const INPUT_SHOWN: usize = 200;
/// Rows counted exactly; beyond that a sample is used.
const COUNTED_ROWS: i64 = 40 * 1024;
/// Bars of a histogram unless the query says otherwise.
const DEFAULT_BARS: u32 = 120;
const MAX_BARS: u32 = 500;

fn outcome(code: Option<&str>, body: Option<&AuditBody>) -> RecordOutcome {
    match code {
        Some(code) if refusals().contains(&code) => RecordOutcome::Denied,
        Some(_) => RecordOutcome::Failed,
        None if body.is_some_and(AuditBody::is_begun) => RecordOutcome::Begun,
        None => RecordOutcome::Done,
    }
}

fn milliseconds(body: Option<&AuditBody>) -> Option<f64> {
    let body = body.filter(|body| !body.is_begun())?;
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let micros = body.duration_micros as f64;
    Some(micros / 1000.0)
}

fn who(call: &AuditCall, body: Option<&AuditBody>) -> RecordCaller {
    let agent_id = call.row.agent;
    // Ids begin with the time, so that it is the end that tells two apart.
    let short = agent_id.map(|id| id.to_string().chars().skip(14).collect());
    let operator = body.map_or(agent_id.is_none(), |body| body.by_operator);
    RecordCaller { agent_id, role: call.role.clone(), short, operator }
}

fn record_row(call: AuditCall) -> RecordRow {
    let body = AuditBody::read(&call.row.body);
    let body = body.as_ref();
    RecordRow {
        number: call.row.number,
        at: call.row.at,
        who: who(&call, body),
        outcome: outcome(call.row.code.as_deref(), body),
        input: body.map_or("", |body| &body.input).chars().take(INPUT_SHOWN).collect(),
        duration_ms: milliseconds(body),
        tool: call.row.tool,
        code: call.row.code,
        task_id: call.task,
    }
}

/// Calls, failed and refused ones, counted.
pub(super) fn counted(count: &AuditCount) -> CallCounts {
    CallCounts { calls: count.calls, failed: count.failed, denied: count.refused }
}

impl Views {
    /// Searches the record, the newest calls first unless the query says otherwise.
    pub async fn recorded_calls(
        &self,
        query: AuditQuery,
        limit: u32,
    ) -> Result<Records, ToolError> {
        let order = query::order(&query, AuditSearchOrder::Newest)?;
        let (found, last) = self
            .store
            .scan(move |tx| {
                let search = query::search(tx, &query)?;
                let found = tx.audit_search(&search, order, limit, SEARCHED_ROWS)?;
                Ok::<_, ToolError>((found, tx.audit_last()?))
            })
            .await?;
        let AuditSearchResult { calls, next, searched_to } = found;
        Ok(Records {
            rows: calls.into_iter().map(record_row).collect(),
            next_cursor: next,
            searched_to: searched_to.map(|(number, at)| SearchedTo { number, at }),
            last,
        })
    }

    /// Counts calls over time.
    pub async fn calls_histogram(&self, asked: HistogramQuery) -> Result<CallHistogram, ToolError> {
        let parts = asked.buckets.unwrap_or(DEFAULT_BARS);
        if !(1..=MAX_BARS).contains(&parts) {
            let error = ToolError::invalid(format!("`buckets` must be from 1 to {MAX_BARS}"));
            return Err(error.detail("field", "buckets"));
        }
        let period = Period { since: asked.since, until: asked.until };
        let span = span_of(period, parts, self.now())?;
        let (from, step) = (span.from, span.step);
        let filter = AuditQuery {
            agent: asked.agent,
            tool: asked.tool,
            q: asked.q,
            outcome: asked.outcome,
            task_id: asked.task_id,
            commit: asked.commit,
            ..AuditQuery::default()
        };
        let (counts, estimate) = self
            .store
            .scan(move |tx| {
                let search = query::search(tx, &filter)?;
                Ok::<_, ToolError>(tx.audit_histogram(&search, &span, &refusals(), COUNTED_ROWS)?)
            })
            .await?;
        let mut all = CallCounts::default();
        for count in &counts {
            all.calls += count.calls;
            all.failed += count.failed;
            all.denied += count.refused;
        }
        Ok(CallHistogram {
            from,
            to: from.after_millis(step * i64::from(parts)),
            step,
            buckets: counts.iter().map(counted).collect(),
            all,
            estimate,
        })
    }
}
