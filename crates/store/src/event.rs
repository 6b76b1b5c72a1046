//! Events: every state change, numbered in commit order.

use model::event::EventKind;
use model::{AgentId, TaskId, Timestamp};
use rusqlite::{Row, params};
use serde_json::Value;

use crate::error::StoreError;
use crate::row::Cells;
use crate::tx::Tx;

/// Something that happened, to be told.
#[derive(Debug, Clone)]
pub struct EventDraft {
    /// What
    pub kind: EventKind,
    /// To or by which agent
    pub agent: Option<AgentId>,
    /// With which task
    pub task: Option<TaskId>,
    /// The rest
    pub data: Value,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its place in the sequence
    pub number: i64,
    /// What
    pub kind: EventKind,
    /// When
    pub at: Timestamp,
    /// To or by which agent
    pub agent: Option<AgentId>,
    /// With which task
    pub task: Option<TaskId>,
    /// The rest
    pub data: Value,
}

/// Which events to list.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// Only those after this number
    pub after: i64,
    /// Only of this kind
    pub kind: Option<EventKind>,
}

fn read(row: &Row<'_>) -> Result<Event, StoreError> {
    let mut cells = Cells::of(row);
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
    /// Tells that something happened.
    pub fn event_append(&mut self, now: Timestamp, draft: &EventDraft) -> Result<i64, StoreError> {
        let number = self.chain.next_event();
        self.execute(
            "INSERT INTO event (number, kind, at, agent_id, task_id, data)
             VALUES ($1, $2, $3, $4, $5, $6)",
            params![
                number,
                draft.kind.name(),
                now.as_millis(),
                draft.agent.map(|id| id.to_string()),
                draft.task.map(|id| id.to_string()),
                draft.data.to_string()
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
                "SELECT number, kind, at, agent_id, task_id, data FROM event
                 WHERE kind = $3 AND number > $1 ORDER BY number LIMIT $2",
                params![filter.after, limit, kind.name()],
                read,
            ),
        }
    }

    /// The newest events of a kind, oldest of them first.
    pub fn event_list_newest(&self, kind: EventKind, limit: u32) -> Result<Vec<Event>, StoreError> {
        let mut newest_first = self.all(
            "SELECT number, kind, at, agent_id, task_id, data FROM event
             WHERE kind = $1 ORDER BY number DESC LIMIT $2",
            params![kind.name(), limit],
            read,
        )?;
        newest_first.reverse();
        Ok(newest_first)
    }
}
