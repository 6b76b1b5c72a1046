//! The record as people look at it: searched, counted over time, and one call opened.

pub(crate) mod call;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::ToolError;
use engine::store::{
    AuditBody, AuditCall, AuditCount, AuditSearchOrder, AuditSearchResult, AuditSpan,
};
use model::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use wire::record::{
    CallCounts, CallHistogram, RecordCaller, RecordOutcome, RecordRow, Records, SearchedTo,
};

use super::audit_query::{AuditQuery, SCAN, refusals};
use super::page_limit;
use crate::answer::{Answer, Params};
use crate::server::Shared;

/// Characters of an input shown in a list.
const INPUT_SHOWN: usize = 200;
/// Rows counted exactly; beyond that a sample is used.
const COUNTED: i64 = 40 * 1024;
/// A histogram has so many bars unless told otherwise.
const BARS: u32 = 120;
const MOST_BARS: u32 = 500;

fn outcome_of(code: Option<&str>, body: Option<&AuditBody>) -> RecordOutcome {
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

fn caller_of(call: &AuditCall, body: Option<&AuditBody>) -> RecordCaller {
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
        who: caller_of(&call, body),
        outcome: outcome_of(call.row.code.as_deref(), body),
        input: body.map_or("", |body| &body.input).chars().take(INPUT_SHOWN).collect(),
        duration_ms: milliseconds(body),
        tool: call.row.tool,
        code: call.row.code,
        task_id: call.task,
    }
}

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<AuditQuery>,
) -> Answer<Json<Records>> {
    let limit = page_limit(asked.limit)?;
    let order = asked.order(AuditSearchOrder::Newest)?;
    let (found, last) = shared
        .app
        .engine
        .store()
        .scan(move |tx| {
            let search = asked.search(tx)?;
            let found = tx.audit_search(&search, order, limit, SCAN)?;
            Ok::<_, ToolError>((found, tx.audit_last()?))
        })
        .await?;
    let AuditSearchResult { calls, next, searched_to } = found;
    Ok(Json(Records {
        rows: calls.into_iter().map(record_row).collect(),
        next_cursor: next,
        searched_to: searched_to.map(|(number, at)| SearchedTo { number, at }),
        last,
    }))
}

/// Query for a histogram of calls.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HistogramQuery {
    /// From this time on (default: an hour before the end)
    since: Option<Timestamp>,
    /// Before this time (default: now)
    until: Option<Timestamp>,
    /// Into how many parts, from 1 to 500
    buckets: Option<u32>,
    /// Only those of this agent, role or part of an id; `operator` is the operator
    agent: Option<String>,
    /// Only of this tool, by its canonical name; `*` stands for anything
    tool: Option<String>,
    /// Only those with all these words in tool, input, output or caller
    q: Option<String>,
    /// Only those that ended so: `done`, `failed` or `denied`
    outcome: Option<String>,
    /// Only with this task: its id, `TAS-12` or its slug
    task_id: Option<String>,
    /// Only with this commit checked out: the beginning of its hash
    commit: Option<String>,
}

pub(super) const fn call_counts(count: AuditCount) -> CallCounts {
    CallCounts { calls: count.calls, failed: count.failed, denied: count.refused }
}

/// A time cut into parts: whole milliseconds each, so that the end may be a little later than asked.
pub(super) fn span_of(
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    parts: u32,
    now: Timestamp,
) -> Result<AuditSpan, ToolError> {
    const HOUR: i64 = 3_600_000;
    let until = until.unwrap_or_else(|| now.after_millis(1));
    let from = since.unwrap_or_else(|| until.after_millis(-HOUR));
    if from >= until {
        return Err(ToolError::invalid("`until` must be after `since`").detail("field", "until"));
    }
    let length = until.millis_since(from);
    let step = (length + i64::from(parts) - 1) / i64::from(parts);
    Ok(AuditSpan { from, step, parts: usize::try_from(parts).unwrap_or(1) })
}

pub(crate) async fn histogram(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<HistogramQuery>,
) -> Answer<Json<CallHistogram>> {
    let parts = asked.buckets.unwrap_or(BARS);
    if !(1..=MOST_BARS).contains(&parts) {
        let error = ToolError::invalid(format!("`buckets` must be from 1 to {MOST_BARS}"));
        return Err(error.detail("field", "buckets").into());
    }
    let span = span_of(asked.since, asked.until, parts, shared.app.engine.now())?;
    let filter = AuditQuery {
        agent: asked.agent,
        tool: asked.tool,
        q: asked.q,
        outcome: asked.outcome,
        task_id: asked.task_id,
        commit: asked.commit,
        ..AuditQuery::default()
    };
    let (counts, estimate) = shared
        .app
        .engine
        .store()
        .scan(move |tx| {
            let search = filter.search(tx)?;
            Ok::<_, ToolError>(tx.audit_histogram(&search, &span, &refusals(), COUNTED)?)
        })
        .await?;
    let mut all = CallCounts::default();
    for count in &counts {
        all.calls += count.calls;
        all.failed += count.failed;
        all.denied += count.refused;
    }
    Ok(Json(CallHistogram {
        from: span.from,
        to: span.from.after_millis(span.step * i64::from(parts)),
        step: span.step,
        buckets: counts.into_iter().map(call_counts).collect(),
        all,
        estimate,
    }))
}
