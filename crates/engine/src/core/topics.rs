//! Topics of waiting calls, and their wake-up.
//!
//! One task reads the events for all who wait and rings only for those whom an event concerns, so that
//! thousands of waiting calls cost nothing while others are busy. It lives as long as a call waits.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::event::EventKind;
use model::{AgentId, EventKinds, OutboxJobId};
use store::{Event, EventFilter, Recipient, Store};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wire::event::EventData;

use crate::core::error::ToolError;
use crate::core::follow::{self, EventReaction, NextRun};

/// Events read per step.
const BATCH: u32 = 256;

/// Subject of a waiting call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    /// Whatever happens to an agent
    Agent(AgentId),
    /// Mail to a recipient
    Inbox(Recipient),
    /// End of an outbox job
    OutboxJob(OutboxJobId),
}

/// Events of agents.
const AGENT_KINDS: EventKinds = EventKinds::family("agent");

/// Kinds of events that have a topic.
const KINDS: EventKinds = AGENT_KINDS.with(EventKinds::of(&[
    EventKind::MailSent,
    EventKind::MailRead,
    EventKind::ErrandEnded,
]));

impl Topic {
    /// Topic of an event, if it has one.
    fn of(event: &Event) -> Option<Self> {
        match event.kind {
            EventKind::MailSent => match event.decode()? {
                EventData::MailSent(mail) => {
                    let to = mail.to_agent_id.map_or(Recipient::Human, Recipient::Agent);
                    Some(Self::Inbox(to))
                }
                _ => None,
            },
            // Only its owner reads a mail.
            EventKind::MailRead => {
                Some(Self::Inbox(event.agent.map_or(Recipient::Human, Recipient::Agent)))
            }
            EventKind::ErrandEnded => match event.decode()? {
                EventData::ErrandEnded(job) => Some(Self::OutboxJob(job.errand_id)),
                _ => None,
            },
            kind if AGENT_KINDS.contains(kind) => event.agent.map(Self::Agent),
            _ => None,
        }
    }
}

/// All who wait, by what they wait for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Topics(Arc<Hub>);

#[derive(Debug, Default)]
struct Hub {
    board: Mutex<Board>,
    tasks: TaskTracker,
}

#[derive(Debug, Default)]
struct Board {
    next: u64,
    bells: HashMap<Topic, Vec<(u64, Arc<WaitHandle>)>>,
    waiting: usize,
    /// Ends the task that follows the events; there is none while nobody waits
    follower: Option<CancellationToken>,
}

/// Wake-up handle of one waiting call.
#[derive(Debug, Default)]
struct WaitHandle {
    rung: Notify,
    /// True once the store has closed, so that no wake-up will come
    silent: AtomicBool,
}

/// A waiting call, as long as this lives.
#[derive(Debug)]
pub(crate) struct Waiter {
    hub: Arc<Hub>,
    number: u64,
    topics: Vec<Topic>,
    bell: Arc<WaitHandle>,
}

impl Topics {
    /// Waits for topics from now on. A caller that looks at the record after this and then at the bell misses
    /// nothing.
    pub(crate) fn wait_for(&self, store: &Store, topics: Vec<Topic>) -> Waiter {
        let bell = Arc::<WaitHandle>::default();
        let mut board = self.0.board();
        let number = board.next;
        board.next += 1;
        board.waiting += 1;
        for topic in &topics {
            board.bells.entry(*topic).or_default().push((number, Arc::clone(&bell)));
        }
        if board.follower.is_none() {
            let stop = CancellationToken::new();
            board.follower = Some(stop.clone());
            // Read now, not when the task begins: what comes between is for those that wait already.
            let seen = *store.last_event().borrow();
            let mut follower = Follower { hub: Arc::clone(&self.0), store: store.clone(), seen };
            self.0.tasks.spawn(async move {
                let store = follower.store.clone();
                follow::follow(&store, None, &mut follower, &stop).await;
                if !stop.is_cancelled() {
                    follower.hub.fall_silent();
                }
            });
        }
        drop(board);
        Waiter { hub: Arc::clone(&self.0), number, topics, bell }
    }
}

impl Hub {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rings for everybody whom one of the events concerns.
    fn ring(&self, events: &[Event]) {
        let board = self.board();
        let topics = events.iter().filter_map(Topic::of);
        for (_, bell) in topics.filter_map(|topic| board.bells.get(&topic)).flatten() {
            bell.rung.notify_one();
        }
    }

    /// Tells everybody that nobody will ring any more.
    fn fall_silent(&self) {
        let mut board = self.board();
        board.follower = None;
        for (_, bell) in board.bells.values().flatten() {
            bell.silent.store(true, Ordering::Relaxed);
            bell.rung.notify_one();
        }
    }
}

impl Waiter {
    /// Waits until something has happened since the last time; false if nothing will any more.
    pub(crate) async fn woken(&self) -> bool {
        self.bell.rung.notified().await;
        !self.bell.silent.load(Ordering::Relaxed)
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut board = self.hub.board();
        for topic in &self.topics {
            if let Some(bells) = board.bells.get_mut(topic) {
                bells.retain(|(number, _)| *number != self.number);
                if bells.is_empty() {
                    board.bells.remove(topic);
                }
            }
        }
        board.waiting -= 1;
        if board.waiting == 0
            && let Some(follower) = board.follower.take()
        {
            follower.cancel();
        }
    }
}

/// Reads the events for all who wait.
struct Follower {
    hub: Arc<Hub>,
    store: Store,
    seen: i64,
}

impl EventReaction for Follower {
    fn name(&self) -> String {
        "waiting calls".to_owned()
    }

    fn kinds(&self) -> EventKinds {
        KINDS
    }

    async fn react(&mut self) -> Result<NextRun, ToolError> {
        let until = *self.store.last_event().borrow();
        while self.seen < until {
            let filter = EventFilter { after: self.seen, kind: None };
            let events = self.store.read(|tx| tx.event_list(&filter, BATCH))?;
            self.hub.ring(&events);
            self.seen = events.last().map_or(until, |event| event.number);
            // What a busy crew does must not keep this thread from others.
            tokio::task::yield_now().await;
        }
        Ok(NextRun::News)
    }
}

/// Agents whose own call waits, for another agent or for a mail: they have nothing to do meanwhile.
#[derive(Debug, Default)]
pub struct Waits {
    agents: Mutex<HashMap<AgentId, u32>>,
    changes: watch::Sender<u64>,
}

/// An agent that waits, as long as this lives.
#[derive(Debug)]
pub(crate) struct Waiting<'a> {
    waits: &'a Waits,
    agent: AgentId,
}

impl Waits {
    /// True if a call of that agent waits.
    pub fn is_waiting(&self, agent: AgentId) -> bool {
        self.agents().contains_key(&agent)
    }

    /// Counts up whenever an agent begins to wait or waits no more.
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn agents(&self) -> MutexGuard<'_, HashMap<AgentId, u32>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that an agent waits, if what it waits for comes from others.
    pub(crate) fn enter(&self, agent: AgentId, topics: &[Topic]) -> Option<Waiting<'_>> {
        let from_others = |topic: &Topic| match topic {
            Topic::Agent(other) => *other != agent,
            Topic::Inbox(of) => *of == Recipient::Agent(agent),
            Topic::OutboxJob(_) => false,
        };
        if !topics.iter().any(from_others) {
            return None;
        }
        let mut agents = self.agents();
        let calls = agents.entry(agent).or_default();
        *calls += 1;
        let is_first = *calls == 1;
        drop(agents);
        if is_first {
            self.changes.send_modify(|count| *count += 1);
        }
        Some(Waiting { waits: self, agent })
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut agents = self.waits.agents();
        let Some(calls) = agents.get_mut(&self.agent) else { return };
        *calls -= 1;
        let was_last = *calls == 0;
        if was_last {
            agents.remove(&self.agent);
        }
        drop(agents);
        if was_last {
            self.waits.changes.send_modify(|count| *count += 1);
        }
    }
}
