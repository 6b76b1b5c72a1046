//! The newest events, ready to be sent, shared by all followers.
//!
//! Fifty followers want the same events at the same moment. The first one reads them from the
//! store, and the others find them here; only who is far behind reads for itself, a page at a time and
//! never many at once, for each look needs a connection.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Engine, EventRange, EventSelection, ToolError};
use model::event::EventKind;
use model::{AgentId, TaskId};
use tokio::sync::Semaphore;

use wire::event::EventView;

/// Events read at once and held for one reader.
const PAGE: u32 = 256;
/// Approximate byte limit of a page.
const PAGE_BYTES: usize = 256 * 1024;
/// Events cached for all readers.
const KEPT: i64 = 2048;
/// and so many bytes of them.
const KEPT_BYTES: usize = 2 * 1024 * 1024;
/// Concurrent reads of the store.
const CONCURRENT_READS: usize = 2;

/// An event as it goes to those who follow.
#[derive(Debug, Clone)]
pub(crate) struct RenderedEvent {
    pub(crate) number: i64,
    kind: EventKind,
    agent: Option<AgentId>,
    task: Option<TaskId>,
    /// The event as JSON, on one line
    pub(crate) text: Arc<str>,
}

impl From<EventView> for RenderedEvent {
    fn from(event: EventView) -> Self {
        // Plain fields and JSON from the store: there is nothing that could not be written.
        let text = model::redact::redact(serde_json::to_string(&event).unwrap_or_default()).into();
        let EventView { number, kind, agent_id: agent, task_id: task, .. } = event;
        Self { number, kind, agent, task, text }
    }
}

/// Some events, and how far it was looked for them.
#[derive(Debug)]
pub(crate) struct TailSlice {
    pub(crate) told: Vec<RenderedEvent>,
    pub(crate) seen: i64,
}

/// The newest events.
#[derive(Debug)]
pub(crate) struct Tail {
    kept: Mutex<Kept>,
    /// Permit to read on
    turn: Semaphore,
    looks: Semaphore,
}

impl Default for Tail {
    fn default() -> Self {
        Self {
            kept: Mutex::default(),
            turn: Semaphore::new(1),
            looks: Semaphore::new(CONCURRENT_READS),
        }
    }
}

impl Tail {
    /// Looks for events after one number and up to another, which is on disk.
    pub(crate) async fn look(
        &self,
        engine: &Engine,
        query: &EventSelection,
        after: i64,
        until: i64,
    ) -> Result<TailSlice, ToolError> {
        if until.saturating_sub(after) <= KEPT / 2 {
            self.catch_up(engine, until).await?;
            let kept = self.kept();
            if after >= kept.after {
                return Ok(kept.find(query, after));
            }
        }
        // Neither is ever closed, so that there is nothing to fail.
        let _few = self.looks.acquire().await;
        let range = EventRange { after, until, limit: PAGE, bytes: PAGE_BYTES };
        let found = engine.events(query, range).await?;
        let told = found.events.into_iter().map(RenderedEvent::from).collect();
        Ok(TailSlice { told, seen: found.searched_to })
    }

    /// Reads what is new, one for all.
    async fn catch_up(&self, engine: &Engine, until: i64) -> Result<(), ToolError> {
        if self.kept().until >= until {
            return Ok(());
        }
        let _turn = self.turn.acquire().await;
        loop {
            let Some(after) = self.kept().next(until) else { return Ok(()) };
            let range = EventRange { after, until, limit: PAGE, bytes: PAGE_BYTES };
            let found = engine.events(&EventSelection::default(), range).await?;
            let told: Vec<RenderedEvent> =
                found.events.into_iter().map(RenderedEvent::from).collect();
            self.kept().put(told, found.searched_to);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing in there can be half done: a thread that panics has changed nothing yet.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct Kept {
    events: VecDeque<RenderedEvent>,
    /// Everything behind this number is here,
    after: i64,
    /// up to this one
    until: i64,
    bytes: usize,
}

impl Kept {
    /// From where to read on; nothing where everything is here. What lies far behind is left out.
    fn next(&mut self, until: i64) -> Option<i64> {
        if until - self.until > KEPT / 2 {
            let after = until - KEPT / 2;
            *self = Self { after, until: after, ..Self::default() };
        }
        (self.until < until).then_some(self.until)
    }

    /// Takes the next events in, and lets go of the oldest.
    fn put(&mut self, told: Vec<RenderedEvent>, seen: i64) {
        self.bytes += told.iter().map(|event| event.text.len()).sum::<usize>();
        self.events.extend(told);
        self.until = seen;
        while self.bytes > KEPT_BYTES || i64::try_from(self.events.len()).is_ok_and(|n| n > KEPT) {
            let Some(oldest) = self.events.pop_front() else { return };
            self.bytes -= oldest.text.len();
            self.after = oldest.number;
        }
    }

    fn find(&self, query: &EventSelection, after: i64) -> TailSlice {
        let from = self.events.partition_point(|told| told.number <= after);
        let (mut told, mut bytes) = (Vec::new(), 0);
        for event in self.events.range(from..) {
            if query.matches(event.kind, event.agent, event.task) {
                bytes += event.text.len();
                told.push(event.clone());
                if told.len() >= PAGE as usize || bytes >= PAGE_BYTES {
                    return TailSlice { told, seen: event.number };
                }
            }
        }
        TailSlice { told, seen: self.until.max(after) }
    }
}
