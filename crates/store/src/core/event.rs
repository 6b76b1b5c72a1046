//! Events: every state change, numbered in commit order.

use model::event::EventKind;
use model::redact::redact;
use model::{AgentId, TaskId, Timestamp};
use rusqlite::{Row, params};
use serde_json::Value;
use wire::event::EventData;

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// An event to be recorded. Its payload decides its kind.
#[derive(Debug, Clone)]
pub struct EventDraft {
    /// Agent that the event is about or that caused it
    pub agent: Option<AgentId>,
    /// Task that the event is about
    pub task: Option<TaskId>,
    /// Payload
    pub data: EventData,
}

/// A recorded event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Place in the sequence of all events
    pub number: i64,
    /// Kind
    pub kind: EventKind,
    /// Time of the change
    pub at: Timestamp,
    /// Agent that the event is about or that caused it
    pub agent: Option<AgentId>,
    /// Task that the event is about
    pub task: Option<TaskId>,
    /// Payload exactly as it was written, for those who pass it on. [`Event::decode`] reads it.
    pub data: Value,
}

impl Event {
    /// Reads the payload. One that is not of its kind is logged and left out, so that a damaged row stops nobody who
    /// follows the events behind it.
    pub fn decode(&self) -> Option<EventData> {
        match EventData::from_json(self.kind, &self.data) {
            Ok(data) => Some(data),
            Err(error) => {
                let (number, kind) = (self.number, self.kind.name());
                tracing::error!(number, kind, %error, "event payload cannot be read; skipping it");
                None
            }
        }
    }
}

/// Filter for listing events.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// Only those after this number
    pub after: i64,
    /// Only of this kind
    pub kind: Option<EventKind>,
}

/// Search criteria for events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventSearch {
    /// Only of one of these kinds; none is all
    pub kinds: Vec<EventKind>,
    /// Only to or by this agent
    pub agent: Option<AgentId>,
    /// Only with this task
    pub task: Option<TaskId>,
}

impl EventSearch {
    /// True if an event matches.
    pub fn takes(&self, kind: EventKind, agent: Option<AgentId>, task: Option<TaskId>) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&kind))
            && self.agent.is_none_or(|wanted| agent == Some(wanted))
            && self.task.is_none_or(|wanted| task == Some(wanted))
    }

    fn condition(&self) -> String {
        let mut condition = String::new();
        if !self.kinds.is_empty() {
            condition = format!(" AND {}", is_one_of(&self.kinds));
        }
        if self.agent.is_some() {
            condition.push_str(" AND agent_id = $4");
        }
        if self.task.is_some() {
            condition.push_str(" AND task_id = $5");
        }
        condition
    }
}

/// Range of the sequence to search, with limits on the result.
#[derive(Debug, Clone, Copy)]
pub struct EventSpan {
    /// From behind this number
    pub after: i64,
    /// Up to this one
    pub until: i64,
    /// At most so many events
    pub limit: u32,
    /// About so many bytes at the most; one event is given however long it is
    pub bytes: usize,
}

/// Result of searching a range.
#[derive(Debug, Clone, PartialEq)]
pub struct EventStep {
    /// The events, oldest first
    pub events: Vec<Event>,
    /// Last number searched; the next step starts after it
    pub seen: i64,
}

/// One step looks at no more numbers than this, so that a search for what is rare holds neither a
/// snapshot nor a thread for long.
const MAX_STEP_EVENTS: i64 = 10_000;

/// The condition that an event is of one of these kinds, under whatever name it was recorded. The names are our own, so
/// that nothing from outside gets into the text of a query.
fn is_one_of(kinds: &[EventKind]) -> String {
    let names: Vec<String> =
        kinds.iter().flat_map(|kind| kind.names()).map(|name| format!("'{name}'")).collect();
    match names.as_slice() {
        // An equality, and not a list of one: the rows come out of the index in the order of their numbers.
        [name] => format!("kind = {name}"),
        _ => format!("kind IN ({})", names.join(", ")),
    }
}

pub(crate) fn read(row: &Row<'_>) -> Result<Event, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Event {
        number: cells.get()?,
        kind: cells.named(EventKind::parse)?,
        at: cells.time()?,
        agent: cells.parse_opt()?,
        task: cells.parse_opt()?,
        data: cells.parse()?,
    })
}

impl Tx<'_> {
    /// Records an event, and gives its number.
    pub fn event_append(&mut self, now: Timestamp, draft: &EventDraft) -> Result<i64, StoreError> {
        let kind = draft.data.kind();
        let number = self.chain.next_event(kind);
        self.execute(
            "INSERT INTO event (number, kind, at, agent_id, task_id, data)
             VALUES ($1, $2, $3, $4, $5, $6)",
            params![
                number,
                kind.name(),
                now.as_millis(),
                draft.agent.map(|id| id.to_string()),
                draft.task.map(|id| id.to_string()),
                redact(draft.data.to_json().to_string())
            ],
        )?;
        Ok(number)
    }

    /// Lists events, oldest first.
    pub fn event_list(&self, filter: &EventFilter, limit: u32) -> Result<Vec<Event>, StoreError> {
        match filter.kind {
            None => self.all(
                "SELECT number, kind, at, agent_id, task_id, data FROM event
                 WHERE number > $1 ORDER BY number LIMIT $2",
                params![filter.after, limit],
                read,
            ),
            Some(kind) => self.all(
                &format!(
                    "SELECT number, kind, at, agent_id, task_id, data FROM event
                     WHERE {} AND number > $1 ORDER BY number LIMIT $2",
                    is_one_of(&[kind])
                ),
                params![filter.after, limit],
                read,
            ),
        }
    }

    /// The number of the last event; zero where nothing has happened yet.
    pub fn event_last(&self) -> Result<i64, StoreError> {
        self.number("SELECT COALESCE(MAX(number), 0) FROM event", [])
    }

    /// Looks for events a step further, oldest first. A caller that wants the end of the span goes
    /// on from how far it was looked.
    pub fn event_step(
        &self,
        search: &EventSearch,
        span: EventSpan,
    ) -> Result<EventStep, StoreError> {
        // Numbers begin with 1: looking for what lies before it would take steps without end.
        let after = span.after.max(0);
        let until = span.until.min(after.saturating_add(MAX_STEP_EVENTS));
        let sql = format!(
            "SELECT number, kind, at, agent_id, task_id, data, length(data) FROM event
             WHERE number > $1 AND number <= $2{} ORDER BY number LIMIT $3",
            search.condition()
        );
        let mut statement = self.statement(&sql)?;
        // Which parameters there are depends on the search, so each is bound by its number.
        statement.raw_bind_parameter(1, after)?;
        statement.raw_bind_parameter(2, until)?;
        statement.raw_bind_parameter(3, span.limit)?;
        if let Some(agent) = search.agent {
            statement.raw_bind_parameter(4, agent.to_string())?;
        }
        if let Some(task) = search.task {
            statement.raw_bind_parameter(5, task.to_string())?;
        }
        let mut rows = statement.raw_query();
        let (mut events, mut bytes) = (Vec::new(), 0_usize);
        while let Some(row) = rows.next()? {
            let event = read(row)?;
            let length: i64 = row.get(6)?;
            bytes = bytes.saturating_add(usize::try_from(length).unwrap_or_default());
            let number = event.number;
            events.push(event);
            let is_full = u32::try_from(events.len()).map_or(true, |count| count >= span.limit);
            if is_full || bytes >= span.bytes {
                return Ok(EventStep { events, seen: number });
            }
        }
        Ok(EventStep { events, seen: until })
    }

    /// The newest events of a kind, oldest of them first.
    pub fn event_list_newest(&self, kind: EventKind, limit: u32) -> Result<Vec<Event>, StoreError> {
        let mut newest_first = self.all(
            &format!(
                "SELECT number, kind, at, agent_id, task_id, data FROM event
                 WHERE {} ORDER BY number DESC LIMIT $1",
                is_one_of(&[kind])
            ),
            params![limit],
            read,
        )?;
        newest_first.reverse();
        Ok(newest_first)
    }
}
