//! Events: pages, waits and streams.

mod follow;
mod sse;
pub(crate) mod ws;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use engine::{EventBounds, EventRange, EventSelection, Tab, ToolError};
use http::StatusCode;
use http::header::{ACCEPT, HeaderMap};
use model::Cursor;
use model::event::EventKind;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;
use wire::event::EventPage;

use super::paging::page_limit;
use crate::answer::{Answer, Params, Refusal};
use crate::shared::Shared;

/// Nobody waits longer in one request.
const MAX_WAIT_SECONDS: u64 = 240;
/// Header of a browser that resumes a stream.
const LAST_EVENT_ID: &str = "last-event-id";

/// Query for events.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EventsQuery {
    /// Only those after this number; `now` is only what is to come
    after: Option<String>,
    /// Page size, at most 1000; not for a stream
    limit: Option<u32>,
    /// Only of these kinds, with commas between them; `agent.*` is all that begin so
    kind: Option<String>,
    /// Only to or by this agent
    agent_id: Option<String>,
    /// Only with this task: its id, number or slug
    task_id: Option<String>,
    /// Seconds to wait if there is none yet, at most 240; not for a stream
    wait_seconds: Option<u64>,
    /// `sse` is a stream, as is `Accept: text/event-stream`
    stream: Option<Form>,
}

/// Filter of a stream.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EventStreamQuery {
    /// Only those after this number; `now` is only what is to come
    after: Option<String>,
    /// Only of these kinds, with commas between them; `agent.*` is all that begin so
    kind: Option<String>,
    /// Only to or by this agent
    agent_id: Option<String>,
    /// Only with this task: its id, number or slug
    task_id: Option<String>,
}

/// In which form events are told.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "EventsForm")]
enum Form {
    Sse,
}

/// Requested events.
struct Wanted {
    query: EventSelection,
    /// After which number; nothing is from now on
    after: Option<i64>,
    /// True if that number was asked for; where not, it begins with the oldest event there is
    exact: bool,
}

impl Wanted {
    /// After which number, where the last one is this. A number that was never given out belongs to
    /// another record: what comes here next would not be told for long.
    fn after(&self, last: i64) -> i64 {
        self.after.unwrap_or(last).min(last)
    }

    /// Where to begin, and the number of the last event. A client that comes with a number behind which events
    /// were removed is refused: it would miss them without a word.
    fn begin(&self, shared: &Shared) -> Answer<(i64, i64)> {
        let EventBounds { floor, last } = shared.app.engine.event_bounds()?;
        let after = self.after(last);
        if after < floor && self.exact {
            return Err(Refusal::with(StatusCode::GONE, removed(after, floor)));
        }
        Ok((after.max(floor), last))
    }
}

/// Events that were asked for have been removed.
fn removed(after: i64, floor: i64) -> ToolError {
    let message =
        format!("events after {after} were removed; the oldest that are kept follow {floor}");
    ToolError::not_found(message)
        .hint(format!("reload your data, then follow with `after={floor}` or `after=now`"))
        .detail("field", "after")
        .detail("oldest", floor)
}

pub(crate) async fn events(
    State(shared): State<Arc<Shared>>,
    tab: Option<Extension<Tab>>,
    headers: HeaderMap,
    Params(asked): Params<EventsQuery>,
) -> Answer<Response> {
    let EventsQuery { after, limit, kind, agent_id, task_id, wait_seconds, stream } = asked;
    let mut which = EventStreamQuery { after, kind, agent_id, task_id };
    if stream.is_none() && !takes_only_streams(&headers) {
        let wanted = wanted(&shared, which).await?;
        let page = page(&shared, wanted, page_limit(limit)?, wait_seconds.unwrap_or(0)).await?;
        return Ok(Json(page).into_response());
    }
    if limit.is_some() || wait_seconds.is_some() {
        let error = ToolError::invalid("`limit` and `waitSeconds` are for pages, not for a stream");
        return Err(error
            .detail("field", if limit.is_some() { "limit" } else { "waitSeconds" })
            .into());
    }
    // A browser that comes back asks as it did at first, and says here how far it came.
    if let Some(last) = headers.get(LAST_EVENT_ID).and_then(|last| last.to_str().ok()) {
        which.after = Some(last.to_owned());
    }
    let wanted = wanted(&shared, which).await?;
    let (follow, head) = follow::Follow::new(&shared, wanted, tab.map(|tab| tab.0))?;
    Ok(sse::respond(follow, &head))
}

/// True if the client accepts only a stream.
fn takes_only_streams(headers: &HeaderMap) -> bool {
    let accepts = |kind: &str| {
        let all = headers.get_all(ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
        all.flat_map(|accept| accept.split(',')).any(|part| {
            let name = part.split(';').next().unwrap_or_default().trim();
            name.eq_ignore_ascii_case(kind)
        })
    };
    accepts(sse::EVENT_STREAM) && !accepts("application/json")
}

/// A page of events; the wait for its first one, if need be.
async fn page(shared: &Shared, wanted: Wanted, limit: u32, wait: u64) -> Answer<EventPage> {
    if wait > MAX_WAIT_SECONDS {
        let error = ToolError::invalid(format!("`waitSeconds` must be at most {MAX_WAIT_SECONDS}"));
        return Err(error.detail("field", "waitSeconds").detail("limit", MAX_WAIT_SECONDS).into());
    }
    let deadline = Instant::now() + Duration::from_secs(wait);
    let engine = &shared.app.engine;
    let mut news = engine.last_event();
    let (mut seen, _) = wanted.begin(shared)?;
    let mut events = Vec::new();
    loop {
        news.mark_unchanged();
        // Asked of the store: a client must find the events of a call that was answered.
        let last = engine.event_bounds()?.last;
        while seen < last && events.len() < limit as usize {
            let left = limit - u32::try_from(events.len()).unwrap_or(limit);
            let range = EventRange { after: seen, until: last, limit: left, bytes: usize::MAX };
            let found = engine.events(&wanted.query, range).await?;
            events.extend(found.events);
            seen = found.searched_to;
        }
        if !events.is_empty() {
            return Ok(EventPage { events, last: seen });
        }
        let over = tokio::select! {
            changed = news.changed() => changed.is_err(),
            () = tokio::time::sleep_until(deadline) => true,
            () = shared.app.shutdown.cancelled() => true,
        };
        if over {
            return Ok(EventPage { events, last: seen });
        }
    }
}

/// Parses the filter of a subscription.
async fn wanted(shared: &Shared, which: EventStreamQuery) -> Result<Wanted, ToolError> {
    let after = match which.after.as_deref() {
        None => Some(0),
        Some("now") => None,
        Some(number) => Some(number.parse().map(Cursor::number).map_err(|_| {
            let error = ToolError::invalid("`after` is neither a number from 0 on nor `now`");
            error.detail("field", "after")
        })?),
    };
    let kinds = kinds(which.kind.as_deref())?;
    let query = shared.app.engine.events_query(kinds, which.agent_id, which.task_id).await?;
    Ok(Wanted { query, after, exact: which.after.is_some() })
}

/// The kinds that a list of names and beginnings names, each once.
fn kinds(list: Option<&str>) -> Result<Vec<EventKind>, ToolError> {
    let mut kinds = Vec::new();
    for name in list.into_iter().flat_map(|list| list.split(',')).map(str::trim) {
        let found = EventKind::named(name);
        if found.is_empty() {
            return Err(no_kind(name));
        }
        kinds.extend(found.into_iter().filter(|kind| !kinds.contains(kind)).collect::<Vec<_>>());
    }
    Ok(kinds)
}

fn no_kind(name: &str) -> ToolError {
    let shown: String = name.chars().take(80).collect();
    let error = ToolError::invalid(format!("there is no kind of event `{shown}`"));
    let known = EventKind::ALL.iter().map(|kind| kind.name());
    match model::nearest::nearest(name, known) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("`agent.*`, `task.*` and `mail.*` name several at once"),
    }
    .detail("field", "kind")
}
