//! The loop that owns the crew: it follows the record, gives places out, and passes on to keepers what
//! concerns their agents.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::event::EventKind;
use model::task::{TaskRef, TaskStateName};
use model::{AgentId, EventKinds, TaskId, Timestamp};
use store::{Event, EventFilter, Tx};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wire::event::EventData;

use super::environment::{self, ResolvedEnvironment, StartGrant};
use super::keeper::{self, Begin, Order};
use super::overdue;
use super::place::{self, Turn};
use super::reconcile::{self, SupervisedRun};
use crate::call::observer::{CallNote, CallObserver};
use crate::core::error::ToolError;
use crate::core::follow::{EventReaction, NextRun};
use crate::crew::service::Crew;
use crate::mail::panics::{self, PanicReport};

/// Agents taken from the queue at once.
const QUEUE_BATCH: u32 = 64;
/// Delay before a retry after a store error.
const STORE_RETRY_DELAY: Duration = Duration::from_secs(1);
/// Events of agents, after which others may start.
const AGENT_KINDS: EventKinds = EventKinds::family("agent");
/// Events that are passed on to keepers or may change who starts.
const KINDS: EventKinds = AGENT_KINDS.with(EventKinds::of(&[EventKind::MailSent]));

/// Channels to the keepers of running agents.
#[derive(Debug, Default)]
pub(crate) struct Keepers(Mutex<HashMap<AgentId, UnboundedSender<Order>>>);

impl Keepers {
    /// Passes an order on; false if nobody keeps that agent.
    pub(crate) fn order(&self, agent: AgentId, order: Order) -> bool {
        let keepers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        keepers.get(&agent).is_some_and(|keeper| keeper.send(order).is_ok())
    }

    /// Opens the way to an agent's keeper, in place of the one before.
    pub(super) fn remember(&self, agent: AgentId) -> UnboundedReceiver<Order> {
        let (sender, orders) = mpsc::unbounded_channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(agent, sender);
        orders
    }

    pub(crate) fn forget(&self, agent: AgentId) {
        let mut keepers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One that is open is the next attempt's, which began before this one was forgotten.
        if keepers.get(&agent).is_some_and(UnboundedSender::is_closed) {
            keepers.remove(&agent);
        }
    }
}

impl CallObserver for Keepers {
    /// Passes on to an agent's keeper that it called a tool of ours.
    fn called(&self, agent: AgentId, note: &dyn Fn() -> CallNote) {
        let keepers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let keeper = keepers.get(&agent).cloned();
        drop(keepers);
        if let Some(keeper) = keeper {
            // Its keeper may be done by now.
            drop(keeper.send(Order::Called(note())));
        }
    }
}

/// Keeps the crew until it is told to end. Agents outlive it.
#[derive(Debug)]
pub struct CrewService {
    engine: Crew,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    /// True once the agents that an earlier server left have keepers
    is_reconciled: bool,
    waits: watch::Receiver<u64>,
    reloads: watch::Receiver<u64>,
    /// The last event that was looked at
    seen: i64,
    /// The next deadline of an enlisted agent, or that it is to be looked up
    deadline: Deadline,
    /// When the next round is due though nothing happens; none where something happened that may change the queue
    due: Option<Instant>,
}

/// Cached deadline of enlisted agents. Deadlines change only with the crew, and reading all of them at
/// every event would slow every call down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deadline {
    Unknown,
    Next(Option<Timestamp>),
}

impl CrewService {
    /// Keeps an engine's crew, with its tasks on a tracker.
    pub fn new(engine: &Crew, tasks: TaskTracker, shutdown: CancellationToken) -> Self {
        let seen = *engine.store.last_event().borrow();
        Self {
            engine: engine.clone(),
            tasks,
            shutdown,
            is_reconciled: false,
            waits: engine.waits.changed(),
            reloads: engine.reloads.subscribe(),
            seen,
            deadline: Deadline::Unknown,
            due: None,
        }
    }

    /// Takes up what a server before us has left, and keeps the crew.
    pub async fn run(mut self) {
        let (engine, shutdown) = (self.engine.clone(), self.shutdown.clone());
        engine.follow(&mut self, &shutdown).await;
    }

    /// Gives the agents that an earlier server left to keepers.
    async fn reconcile(&mut self) -> Result<(), ToolError> {
        for supervised in reconcile::reconcile(&self.engine).await? {
            self.keep(supervised, Begin::Attach);
        }
        self.is_reconciled = true;
        let cleaner = self.engine.clone();
        drop(self.tasks.spawn_blocking(move || environment::forget_values(&cleaner)));
        Ok(())
    }

    /// One round: tells keepers what happened, wakes who was limited, and starts whose turn it is.
    /// Says when the next round is due if nothing happens.
    async fn turn(&mut self, until: i64) -> Result<Instant, ToolError> {
        self.route(until)?;
        if let Some(due) = self.due.filter(|due| *due > Instant::now()) {
            return Ok(due);
        }
        // None until the round is over: a round that fails is repeated as a whole.
        self.due = None;
        let wake = self.wake_limited().await?;
        let deadline = self.end_overdue().await?;
        self.place().await?;
        let now = self.engine.now();
        let left = deadline.map(|at| u64::try_from(at.millis_since(now)).unwrap_or_default());
        let due = left.map_or(wake, |left| wake.min(Instant::now() + Duration::from_millis(left)));
        self.due = Some(due);
        Ok(due)
    }

    /// Ends enlisted agents whose time is up, and gives the deadline that comes next.
    async fn end_overdue(&mut self) -> Result<Option<Timestamp>, ToolError> {
        if let Deadline::Next(next) = self.deadline
            && next.is_none_or(|at| at > self.engine.now())
        {
            return Ok(next);
        }
        let next = overdue::end_overdue(&self.engine).await?;
        self.deadline = Deadline::Next(next);
        Ok(next)
    }

    fn route(&mut self, until: i64) -> Result<(), ToolError> {
        while self.seen < until {
            let filter = EventFilter { after: self.seen, kind: None };
            let events = self.engine.store.read(|tx| tx.event_list(&filter, 500))?;
            let Some(newest) = events.last().map(|event| event.number) else { break };
            for event in &events {
                self.tell(event)?;
            }
            self.seen = newest;
        }
        Ok(())
    }

    /// Passes an event on to those whom it concerns.
    fn tell(&mut self, event: &Event) -> Result<(), ToolError> {
        let crew = &self.engine.keepers;
        if AGENT_KINDS.contains(event.kind) {
            self.deadline = Deadline::Unknown;
            self.due = None;
        }
        match (event.kind, event.agent) {
            (EventKind::AgentStopping, Some(agent)) => {
                crew.order(agent, Order::Stop);
            }
            (EventKind::AgentCreated, Some(agent)) => environment::created(&self.engine, agent)?,
            (EventKind::AgentFinished, Some(agent)) => {
                let (in_review, above) = self.engine.store.read(|tx| {
                    let Some(agent) = tx.agent_get(agent)? else { return Ok((None, Vec::new())) };
                    let above = tx.agent_ancestors(&agent)?;
                    Ok::<_, ToolError>((in_review(tx, agent.task)?, above))
                })?;
                self.engine.handed_on.end(agent, in_review);
                for above in above {
                    crew.order(above.id, Order::Below);
                }
            }
            (EventKind::TaskUpdated, _) => self.forget_checked(event.task)?,
            (EventKind::MailSent, _) => {
                if let Some(EventData::MailSent(mail)) = event.decode()
                    && let Some(to) = mail.to_agent_id
                {
                    crew.order(to, Order::Mail(mail.mail_id));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Forgets what was handed on for the check of work that is not in review any more.
    fn forget_checked(&self, task: Option<TaskId>) -> Result<(), ToolError> {
        let handed_on = &self.engine.handed_on;
        let Some(id) = task.filter(|task| handed_on.has_for_check(*task)) else { return Ok(()) };
        if self.engine.store.read(|tx| in_review(tx, task))?.is_none() {
            handed_on.end_check(id);
        }
        Ok(())
    }

    /// Puts back into the queue whose model answers again, and says when the next one is due.
    async fn wake_limited(&self) -> Result<Instant, ToolError> {
        let now = self.engine.now();
        let bound = i64::from(self.engine.settings().limits.max_limited_hours) * 3_600_000;
        let limited = self.engine.store.read(|tx| tx.agents_limited_since())?;
        // An agent that was recorded under another limit, or under none, has today's.
        let limited: Vec<(AgentId, Timestamp)> = limited
            .into_iter()
            .map(|(agent, until, since)| (agent, until.min(since.after_millis(bound))))
            .collect();
        let due: Vec<AgentId> =
            limited.iter().filter(|(_, until)| *until <= now).map(|(agent, _)| *agent).collect();
        if !due.is_empty() {
            let settings = self.engine.settings();
            let wake = move |tx: &mut Tx<'_>| {
                due.iter().try_for_each(|agent| reconcile::requeue(tx, &settings, *agent, now))
            };
            self.engine.store.write(wake).await?;
        }
        let left = limited.iter().map(|(_, until)| until.millis_since(now));
        let next = left.filter(|left| *left > 0).min();
        let left = next.and_then(|left| u64::try_from(left).ok()).unwrap_or(3_600_000);
        Ok(Instant::now() + Duration::from_millis(left))
    }

    /// Starts as many as there are places for.
    async fn place(&self) -> Result<(), ToolError> {
        let settings = self.engine.settings();
        let (limit, missing) = (settings.limits.running, &self.engine.missing);
        let (queued, placed) = self.engine.store.read(|tx| {
            // Those that lack variables keep nobody else from being looked at.
            let queued = tx.agents_queued(QUEUE_BATCH.saturating_add(missing.count()))?;
            let placed = if queued.is_empty() { Vec::new() } else { tx.agents_placed()? };
            Ok::<_, ToolError>((queued, placed))
        })?;
        let free = place::free_places(limit, &placed, |id| self.engine.waits.is_waiting(id));
        missing.retain(|agent| queued.iter().any(|place| place.agent == agent));
        let (mut turns, free) = (Vec::new(), usize::try_from(free).unwrap_or(usize::MAX));
        for place in queued {
            if turns.len() >= free {
                break;
            }
            let values = environment::resolve(&self.engine, &settings, place.agent).await?;
            let Some(ResolvedEnvironment { values: inherited, warnings }) = values else {
                continue;
            };
            let token = host::random::secret("adjag_").map_err(ToolError::internal)?;
            let grant = StartGrant { token, inherited, warnings };
            turns.push(Turn { agent: place.agent, grant });
        }
        if turns.is_empty() {
            return Ok(());
        }
        let now = self.engine.now();
        let machine = self.engine.options.machine().map(str::to_owned);
        let begun = self
            .engine
            .store
            .write(move |tx| {
                let mut begun = Vec::new();
                for turn in &turns {
                    let agent = place::begin(tx, turn, machine.as_deref(), now)?;
                    let run = tx.run_get(turn.agent)?;
                    if let (Some(agent), Some(run)) = (agent, run) {
                        begun.push((SupervisedRun { agent, run }, turn.grant.clone()));
                    }
                }
                Ok::<_, ToolError>(begun)
            })
            .await?;
        for (supervised, grant) in begun {
            self.keep(supervised, Begin::Start(grant));
        }
        Ok(())
    }

    fn keep(&self, supervised: SupervisedRun, begin: Begin) {
        // Open before anything can be sent to it.
        let orders = self.engine.keepers.remember(supervised.agent.id);
        let (engine, shutdown) = (self.engine.clone(), self.shutdown.clone());
        let tasks = self.tasks.clone();
        self.tasks.spawn(async move {
            let (id, mut restarts) = (supervised.agent.id, 0);
            let mut next = Some((supervised, begin, orders));
            while let Some((supervised, begin, orders)) = next.take() {
                // A task of its own, so that this loop can look after its agent when it panics.
                let (own, stop) = (engine.clone(), shutdown.clone());
                let kept = tasks.spawn(keeper::keep(own, supervised, begin, orders, stop)).await;
                let Some(message) = kept.err().and_then(panics::message_of) else { return };
                let restarted = restarted(&engine, id, restarts, message, &shutdown).await;
                let Some(supervised) = restarted else { break };
                restarts += 1;
                next = Some((supervised, Begin::Attach, engine.keepers.remember(id)));
            }
            engine.keepers.forget(id);
        });
    }
}

impl EventReaction for CrewService {
    fn name(&self) -> String {
        "the supervision of agents".to_owned()
    }

    fn kinds(&self) -> EventKinds {
        KINDS
    }

    async fn react(&mut self) -> Result<NextRun, ToolError> {
        if !self.is_reconciled {
            self.reconcile().await?;
        }
        if self.reloads.has_changed().unwrap_or(true) {
            self.reloads.borrow_and_update();
            self.due = None;
        }
        let until = *self.engine.store.last_event().borrow();
        self.turn(until).await.map(NextRun::At)
    }

    /// Rings when an agent begins or ends to wait, which frees or takes a place.
    async fn rung(&mut self) {
        if self.waits.changed().await.is_ok() {
            self.due = None;
        }
    }
}

/// The task, if its work is in review.
fn in_review(tx: &Tx<'_>, task: Option<TaskId>) -> Result<Option<TaskId>, ToolError> {
    let found = task.map(|task| tx.task_find(&TaskRef::Id(task))).transpose()?.flatten();
    let is_in_review = found.is_some_and(|task| task.state.name() == TaskStateName::Review);
    Ok(task.filter(|_| is_in_review))
}

/// Reports that the keeper of an agent panicked, and after a pause says whom the next one is to keep. An agent that
/// was never begun goes back into the queue, and then there is nobody.
async fn restarted(
    engine: &Crew,
    id: AgentId,
    restarts: u32,
    message: String,
    shutdown: &CancellationToken,
) -> Option<SupervisedRun> {
    // Where it cannot be read now it is looked up again below.
    let found = engine.store.read(|tx| tx.agent_get(id)).ok().flatten();
    let attempt = found.map_or(1, |agent| agent.attempt);
    let delay = panics::restart_delay(restarts.max(attempt.saturating_sub(1)));
    let doing = format!("supervising agent {id}");
    let next = format!("supervision starts again in {} s", delay.as_secs());
    let report = PanicReport { agent: Some(id), doing, message, next };
    panics::report(engine, report).await;
    shutdown.run_until_cancelled(tokio::time::sleep(delay)).await?;
    loop {
        match reconcile::take_up(engine, id).await {
            Ok(found) => return found,
            Err(error) => {
                let (message, causes) = (&error.message, error.causes());
                tracing::error!(%id, message, causes, "failed to look up an agent; retrying");
                shutdown.run_until_cancelled(tokio::time::sleep(STORE_RETRY_DELAY)).await?;
            }
        }
    }
}
