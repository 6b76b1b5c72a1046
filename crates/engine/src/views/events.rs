//! Events for those who follow them from outside.

use model::event::EventKind;
use model::{AgentId, TaskId, TaskRef};
use store::{Event, EventFilter, EventSearch, EventSpan, StoreError, Tx};
use tokio::sync::watch;
use wire::event::EventView;

use crate::core::error::ToolError;
use crate::views::agents::find;
use crate::views::service::Views;

/// Filter for events. Everything absent matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventSelection {
    /// Only of these kinds
    pub kinds: Vec<EventKind>,
    /// Only to or by this agent
    pub agent: Option<AgentId>,
    /// Only with this task
    pub task: Option<TaskId>,
}

/// Part of the sequence of events, and how much of it to read at once.
#[derive(Debug, Clone, Copy)]
pub struct EventRange {
    /// Only events after this number
    pub after: i64,
    /// Only events up to this number
    pub until: i64,
    /// Maximum number of events
    pub limit: u32,
    /// Approximate maximum size of their payloads
    pub bytes: usize,
}

/// Events that match a query.
#[derive(Debug, Clone)]
pub struct MatchingEvents {
    /// The events, oldest first
    pub events: Vec<EventView>,
    /// Everything up to this number was searched
    pub searched_to: i64,
}

/// First and last number of the events on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventBounds {
    /// Events up to this number may have been removed
    pub floor: i64,
    /// Number of the last event
    pub last: i64,
}

impl EventSelection {
    /// True if the query matches an event of this kind, agent and task.
    pub fn matches(&self, kind: EventKind, agent: Option<AgentId>, task: Option<TaskId>) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&kind))
            && self.agent.is_none_or(|wanted| agent == Some(wanted))
            && self.task.is_none_or(|wanted| task == Some(wanted))
    }

    fn search(&self) -> EventSearch {
        EventSearch { kinds: self.kinds.clone(), agent: self.agent, task: self.task }
    }
}

fn event_view(event: Event) -> EventView {
    let Event { number, kind, at, agent, task, data } = event;
    EventView { number, kind, at, agent_id: agent, task_id: task, data }
}

fn agent_named(tx: &Tx<'_>, name: &str) -> Result<AgentId, ToolError> {
    let found = find::find(tx, name).map(|agent| agent.id);
    found.map_err(|error| error.detail("field", "agentId"))
}

fn task_named(tx: &Tx<'_>, name: &str) -> Result<TaskId, ToolError> {
    let invalid = |problem: String| ToolError::invalid(problem).detail("field", "taskId");
    let name = match name.parse::<i64>() {
        Ok(number) => TaskRef::Number(number),
        Err(_) => {
            name.parse().map_err(|error: model::task::InvalidTaskRef| invalid(error.to_string()))?
        }
    };
    let task = tx.task_find(&name)?.ok_or_else(|| {
        ToolError::not_found(format!("there is no task `{name}`"))
            .hint("`adjutant tasks` lists them")
            .detail("field", "taskId")
    })?;
    Ok(task.id)
}

impl Views {
    /// Follows the number of the last event that is on disk.
    pub fn last_event(&self) -> watch::Receiver<i64> {
        self.store.last_event()
    }

    /// First and last number of the events, as the store has them at this moment. An answer may be out a moment before
    /// [`Views::last_event`] tells of its events.
    pub fn event_bounds(&self) -> Result<EventBounds, ToolError> {
        let read = |tx: &Tx<'_>| {
            Ok::<_, StoreError>(EventBounds { floor: tx.event_floor()?, last: tx.event_last()? })
        };
        Ok(self.store.read(read)?)
    }

    /// A query with an agent and a task by their names.
    pub async fn events_query(
        &self,
        kinds: Vec<EventKind>,
        agent: Option<String>,
        task: Option<String>,
    ) -> Result<EventSelection, ToolError> {
        if agent.is_none() && task.is_none() {
            return Ok(EventSelection { kinds, agent: None, task: None });
        }
        let look = move |tx: &Tx<'_>| {
            let agent = agent.map(|name| agent_named(tx, &name)).transpose()?;
            let task = task.map(|name| task_named(tx, &name)).transpose()?;
            Ok::<_, ToolError>(EventSelection { kinds, agent, task })
        };
        self.store.scan(look).await
    }

    /// Reads events that match a query, up to the limits of the range.
    pub async fn events(
        &self,
        query: &EventSelection,
        range: EventRange,
    ) -> Result<MatchingEvents, ToolError> {
        let search = query.search();
        let EventRange { after, until, limit, bytes } = range;
        let span = EventSpan { after, until, limit, bytes };
        let read = move |tx: &Tx<'_>| tx.event_step(&search, span).map_err(ToolError::from);
        let step = self.store.scan(read).await?;
        let events = step.events.into_iter().map(event_view).collect();
        Ok(MatchingEvents { events, searched_to: step.seen })
    }

    /// The next events after a number, perhaps only of one kind.
    pub fn events_after(
        &self,
        after: i64,
        kind: Option<EventKind>,
        limit: u32,
    ) -> Result<Vec<EventView>, ToolError> {
        let filter = EventFilter { after, kind };
        let events =
            self.store.read(|tx| tx.event_list(&filter, limit).map_err(ToolError::from))?;
        Ok(events.into_iter().map(event_view).collect())
    }
}
