//! The record: events as they come, and the chain of calls.
#![expect(unused_qualifications, reason = "utoipa writes them")]

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use engine::ToolError;
use engine::store::{AuditFilter, AuditRow, Event, EventFilter, StoreError, Tx};
use model::event::EventKind;
use model::{AgentId, TaskId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use utoipa::{IntoParams, ToSchema};

use super::page_limit;
use crate::answer::{Answer, ErrorBody, Params};
use crate::server::Shared;

/// Nobody waits longer in one request.
const LONGEST_WAIT: u64 = 240;

/// Which events to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichEvents {
    /// Only those after this number
    #[serde(default)]
    after: i64,
    /// How many, at most 1000
    limit: Option<u32>,
    /// Only of this kind
    kind: Option<String>,
    /// How long to wait where there is none yet, at most 240
    #[serde(default)]
    wait_seconds: u64,
}

/// A page of events.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Events {
    /// The events, oldest first
    events: Vec<EventView>,
    /// Where to go on: everything up to here has been looked at
    last: i64,
}

/// Something that happened.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventView {
    /// Its place in the sequence
    number: i64,
    /// What
    #[schema(value_type = String, example = "mail.sent")]
    kind: EventKind,
    /// When
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// To or by which agent
    #[schema(value_type = Option<String>)]
    agent_id: Option<AgentId>,
    /// With which task
    #[schema(value_type = Option<String>)]
    task_id: Option<TaskId>,
    /// The rest
    #[schema(value_type = Object)]
    data: Value,
}

impl From<Event> for EventView {
    fn from(event: Event) -> Self {
        let Event { number, kind, at, agent, task, data } = event;
        Self { number, kind, at, agent_id: agent, task_id: task, data }
    }
}

/// List events, and wait for them
#[utoipa::path(
    get, path = "/api/events", tag = "record", params(WhichEvents),
    responses((status = 200, body = Events), (status = "4XX", body = ErrorBody))
)]
pub(crate) async fn events(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<WhichEvents>,
) -> Answer<Json<Events>> {
    if asked.wait_seconds > LONGEST_WAIT {
        let error = ToolError::invalid(format!("`waitSeconds` must be at most {LONGEST_WAIT}"));
        return Err(error.detail("field", "waitSeconds").detail("limit", LONGEST_WAIT).into());
    }
    let limit = page_limit(asked.limit)?;
    let kind = asked.kind.as_deref().map(kind_of).transpose()?;
    let deadline = Instant::now() + Duration::from_secs(asked.wait_seconds);
    let store = shared.app.engine.store();
    let mut news = store.last_event();
    let mut filter = EventFilter { after: asked.after, kind };
    loop {
        let seen = *news.borrow_and_update();
        let wanted = filter.clone();
        let events = store.scan(move |tx| tx.event_list(&wanted, limit)).await?;
        let full = u32::try_from(events.len()).is_ok_and(|n| n == limit);
        let newest = events.last().map(|event| event.number);
        let last =
            newest.filter(|_| full).unwrap_or_else(|| seen.max(newest.unwrap_or(asked.after)));
        if !events.is_empty() {
            return Ok(Json(Events {
                events: events.into_iter().map(EventView::from).collect(),
                last,
            }));
        }
        // What has been looked at need not be looked at again.
        filter.after = filter.after.max(seen);
        let over = tokio::select! {
            changed = news.changed() => changed.is_err(),
            () = tokio::time::sleep_until(deadline) => true,
            () = shared.app.shutdown.cancelled() => true,
        };
        if over {
            return Ok(Json(Events { events: Vec::new(), last }));
        }
    }
}

fn kind_of(name: &str) -> Result<EventKind, ToolError> {
    EventKind::parse(name).ok_or_else(|| {
        let shown: String = name.chars().take(80).collect();
        let error = ToolError::invalid(format!("there is no kind of event `{shown}`"));
        let known = EventKind::ALL.iter().map(|kind| kind.name());
        match model::nearest::nearest(name, known) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        }
        .detail("field", "kind")
    })
}

/// Which calls to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichCalls {
    /// Only those after this number
    #[serde(default)]
    after: i64,
    /// How many, at most 1000
    limit: Option<u32>,
    /// Only this agent's
    #[param(value_type = Option<String>)]
    agent_id: Option<AgentId>,
    /// Only of this tool, by its canonical name
    tool: Option<String>,
}

/// A page of the record.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Calls {
    /// The calls, oldest first
    rows: Vec<CallView>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<i64>,
}

/// A recorded call.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallView {
    /// Its place in the chain
    number: i64,
    /// When
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// Who, or as whom
    #[schema(value_type = Option<String>)]
    agent_id: Option<AgentId>,
    /// Which tool
    tool: String,
    /// The code it failed with
    code: Option<String>,
    /// Everything, as JSON in the very text that the hash covers
    body: String,
    /// The hash of the hash before, a newline and the body
    hash: String,
}

impl From<AuditRow> for CallView {
    fn from(row: AuditRow) -> Self {
        let AuditRow { number, at, agent, tool, code, body, hash } = row;
        Self { number, at, agent_id: agent, tool, code, body, hash }
    }
}

/// List recorded calls
#[utoipa::path(
    get, path = "/api/audit", tag = "record", params(WhichCalls),
    responses((status = 200, body = Calls), (status = "4XX", body = ErrorBody))
)]
pub(crate) async fn audit(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<WhichCalls>,
) -> Answer<Json<Calls>> {
    let limit = page_limit(asked.limit)?;
    let filter = AuditFilter { after: asked.after, agent: asked.agent_id, tool: asked.tool };
    let store = shared.app.engine.store();
    let page = store.scan(move |tx| tx.audit_page(&filter, limit)).await?.map(CallView::from);
    Ok(Json(Calls { rows: page.items, next_cursor: page.next }))
}

/// Whether the chain of calls holds.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verified {
    /// Whether it does
    ok: bool,
    /// How many rows are good, from the first
    rows: i64,
    /// The hash of the last good one
    head: String,
    /// The first bad row
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_at: Option<i64>,
    /// What is wrong with it
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Follow the whole chain of calls
#[utoipa::path(get, path = "/api/audit/verify", tag = "record", responses((status = 200, body = Verified)))]
pub(crate) async fn verify(State(shared): State<Arc<Shared>>) -> Answer<Json<Verified>> {
    let verdict = shared.app.engine.store().scan(|tx: &Tx<'_>| tx.audit_verify()).await;
    let verdict = verdict.map_err(|error: StoreError| ToolError::from(error))?;
    let (broken_at, problem) = verdict.broken.unzip();
    Ok(Json(Verified {
        ok: broken_at.is_none(),
        rows: verdict.rows,
        head: verdict.head,
        broken_at,
        problem,
    }))
}
