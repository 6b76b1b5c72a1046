//! One live agent, from its start to its end: the only task that talks to its process and the only one
//! that writes down what it does. It can be killed at any line; the next one goes on from the notes.

mod end;
mod hear;
mod orders;
mod stopping;
mod unattended;

use std::time::Duration;

use host::agent::{Conversation, Kind, Step};
use host::run::{
    ControlReceiver, ControlSender, Notice, OutputReader, Position, RunFolder, RunStatus,
};
use model::agent::{AgentEvent, AgentState, Outcome};
use store::{Agent, ReadPosition, Run, StopRequest, Tokens};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::environment::{self, StartGrant};
use super::launch;
use super::notes::Notes;
use super::options::RunOptions;
use super::reconcile::SupervisedRun;
use super::report::UsageReport;
use super::terminal;
use crate::core::durable;
use crate::core::error::ToolError;
use crate::core::machine::{directory_of, folder_of};
use crate::crew::service::Crew;
use crate::crew::transition;

pub(crate) use orders::Order;
use stopping::Stopping;
use unattended::Unattended;
use wire::event::{AgentStarted, EventData};

/// Upper bound on output read per turn, so that one noisy agent cannot starve the others.
const MAX_OUTPUT_CHUNK: usize = 256 * 1024;
/// Delay before reattaching to an agent after an I/O or store error.
const REATTACH_DELAY: Duration = Duration::from_secs(1);
/// Notes are written down at least so often while there is output.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);

/// Limits concurrent starts: each blocks a thread, and hundreds would slow each other down.
static STARTING: Semaphore = Semaphore::const_new(16);

/// Entry point of a keeper.
#[derive(Debug, Clone)]
pub(crate) enum Begin {
    /// Its agent's turn has come, and it is started with this
    Start(StartGrant),
    /// Its agent was started by a server that is gone
    Attach,
}

/// Supervises one live agent: reads its output, relays orders, records its end.
pub(crate) struct Keeper {
    engine: Crew,
    agent: Agent,
    run: Run,
    kind: &'static dyn Kind,
    orders: mpsc::UnboundedReceiver<Order>,
    shutdown: CancellationToken,
    folder: RunFolder,
    talk: Box<dyn Conversation>,
    options: RunOptions,
    notes: Notes,
    reader: OutputReader,
    /// Observations not yet recorded
    seen: UsageReport,
    written: Instant,
    sender: Option<ControlSender>,
    /// Set while its supervisor runs and cannot be reached
    unattended: Option<Unattended>,
    /// Steps sent as soon as the connection is there
    unsent: Vec<(String, Step)>,
    silent_since: Instant,
    warned_silent: bool,
    stopping: Option<Stopping>,
    /// When it gave its result and had nothing left to do but to exit
    finished_since: Option<Instant>,
    /// Questions that are to be put to a person
    asked: Vec<(String, String, String)>,
    /// Texts to send
    to_tell: Vec<String>,
    /// Why it is to be stopped
    stuck: Option<String>,
}

/// A keeper's state of the conversation.
struct Memory {
    options: RunOptions,
    notes: Notes,
    talk: Box<dyn Conversation>,
}

/// Why a keeper's memory could not be read.
enum RecallError {
    /// The record is damaged; to try again does not help
    Damaged(ToolError),
    /// Something else failed
    Failed(ToolError),
}

impl Memory {
    /// Decodes what a run keeps of it.
    fn of(
        engine: &Crew,
        agent: &Agent,
        run: &Run,
        kind: &'static dyn Kind,
    ) -> Result<Self, RecallError> {
        let options = RunOptions::of(run).map_err(RecallError::Damaged)?;
        let notes = Notes::of(run).map_err(RecallError::Damaged)?;
        let talk = if notes.talk.is_empty() {
            launch::conversation(engine, agent, run, &options, kind)
                .map_err(|error| RecallError::Failed(ToolError::internal(error)))?
        } else {
            let row = format!("agent `{}`", agent.id);
            kind.restore(&notes.talk)
                .map_err(|error| RecallError::Damaged(durable::damaged(row, "talk", error)))?
        };
        Ok(Self { options, notes, talk })
    }

    /// Minimal state that suffices to end an agent.
    fn in_place_of_damaged(
        engine: &Crew,
        agent: &Agent,
        run: &Run,
        kind: &'static dyn Kind,
    ) -> Result<Self, ToolError> {
        let (options, notes) = (RunOptions::default(), Notes::in_place_of_damaged(run));
        let talk = launch::conversation(engine, agent, run, &options, kind);
        Ok(Self { options, notes, talk: talk.map_err(ToolError::internal)? })
    }
}

/// Reason why a keeper stops.
#[derive(Debug)]
enum Leave {
    /// The server ends; the agent does not
    Shutdown,
    /// Another attempt has taken its place, or it is over already
    Fenced,
    /// The record or the folder cannot be used
    Broken(ToolError),
}

impl From<ToolError> for Leave {
    fn from(error: ToolError) -> Self {
        Self::Broken(error)
    }
}

/// Keeps an agent until it has ended or the server does. An error of the record or the disk is no
/// reason to let go of it: the agent is taken up again, as after a restart.
pub(crate) async fn keep(
    engine: Crew,
    mut supervised: SupervisedRun,
    mut begin: Begin,
    mut orders: mpsc::UnboundedReceiver<Order>,
    shutdown: CancellationToken,
) {
    let id = supervised.agent.id;
    loop {
        let SupervisedRun { agent, run } = &supervised;
        let kept = match begin {
            Begin::Start(grant) => {
                Keeper::start(&engine, agent, run, grant, orders, shutdown.clone()).await
            }
            Begin::Attach => Keeper::attach(&engine, agent, run, orders, shutdown.clone()).await,
        };
        let done = match kept {
            Ok(Some(keeper)) => keeper.follow().await,
            Ok(None) => Ok(()),
            Err(leave) => Err(leave),
        };
        match done {
            Ok(()) => break tracing::debug!(%id, "stopped supervising agent"),
            Err(Leave::Shutdown) => {
                break tracing::debug!(%id, "detached from agent; server is shutting down");
            }
            Err(Leave::Fenced) => {
                break tracing::info!(%id, "stopped supervising agent: a newer attempt replaced it");
            }
            Err(Leave::Broken(error)) => {
                let (message, causes) = (&error.message, error.causes());
                tracing::error!(%id, message, causes, "lost connection to agent; reattaching");
            }
        }
        if shutdown.run_until_cancelled(tokio::time::sleep(REATTACH_DELAY)).await.is_none() {
            break;
        }
        orders = engine.keepers.remember(id);
        begin = Begin::Attach;
        match engine.store.read(|tx| Ok::<_, ToolError>((tx.agent_get(id)?, tx.run_get(id)?))) {
            Ok((Some(agent), Some(run))) if agent.ended_at().is_none() => {
                supervised = SupervisedRun { agent, run };
            }
            Ok(_) => break,
            Err(error) => tracing::error!(%id, message = error.message, "failed to look up agent"),
        }
    }
    engine.keepers.forget(id);
}

/// Ways to the run of an agent: how its lines are read, where they are, and who gives it orders.
struct RunAccess {
    kind: &'static dyn Kind,
    folder: RunFolder,
    orders: mpsc::UnboundedReceiver<Order>,
    shutdown: CancellationToken,
}

impl Keeper {
    /// Starts the process. Nothing where it could not be: then the agent is over.
    async fn start(
        engine: &Crew,
        agent: &Agent,
        run: &Run,
        grant: StartGrant,
        orders: mpsc::UnboundedReceiver<Order>,
        shutdown: CancellationToken,
    ) -> Result<Option<Self>, Leave> {
        // A project's set-up may take minutes; the next server hears how it ended.
        let preparing = (engine.hooks.prepare_place)(engine, agent, run);
        let placed = match shutdown.run_until_cancelled(preparing).await {
            None => return Err(Leave::Shutdown),
            Some(Ok(agent)) => agent,
            Some(Err(error)) => {
                end::never_started(engine, agent, &launch::LaunchError::of(error)).await?;
                return Ok(None);
            }
        };
        let agent = &placed;
        let ready = {
            let (engine, agent, run) = (engine.clone(), agent.clone(), run.clone());
            // Nobody closes it, so that there is always a turn.
            let _turn = STARTING.acquire().await;
            engine.may_act().await;
            let now = engine.now();
            tokio::task::spawn_blocking(move || {
                let launch = launch::launch(&engine, &agent, &run, &grant, now)?;
                let begun = launch.folder.start(&engine.options.adjutant, &launch.handover);
                let begun = begun.map_err(|error| {
                    launch::LaunchError::Unfit(format!("{error}: {}", error.source))
                })?;
                Ok::<_, launch::LaunchError>((launch, begun))
            })
            .await
        };
        let (launch, mut begun) = match ready {
            Ok(Ok(ready)) => ready,
            Ok(Err(error)) => {
                end::never_started(engine, agent, &error).await?;
                return Ok(None);
            }
            Err(panic) => return Err(Leave::Broken(ToolError::internal(panic))),
        };
        // An error means that the supervisor is gone; its folder tells the rest.
        drop(begun.ready().await);
        let Some(kind) = host::agent::kind(&agent.kind) else { return Err(Leave::Fenced) };
        let base = engine.head_in(&launch.directory).await;
        let memory = Memory {
            options: launch.options,
            notes: Notes { base, ..Notes::default() },
            talk: launch.talk,
        };
        let access = RunAccess { kind, folder: launch.folder, orders, shutdown };
        let mut keeper = Self::over(engine, agent, run, access, memory);
        for warning in &launch.warnings {
            keeper.warning(warning);
        }
        keeper.started().await?;
        keeper.greet().await;
        Ok(Some(keeper))
    }

    /// Takes up an agent that a server before us had started.
    async fn attach(
        engine: &Crew,
        agent: &Agent,
        run: &Run,
        orders: mpsc::UnboundedReceiver<Order>,
        shutdown: CancellationToken,
    ) -> Result<Option<Self>, Leave> {
        let Some(kind) = host::agent::kind(&agent.kind) else { return Err(Leave::Fenced) };
        let folder = folder_of(engine, agent);
        let (memory, damage) = match Memory::of(engine, agent, run, kind) {
            Ok(memory) => (memory, None),
            Err(RecallError::Damaged(error)) => {
                tracing::error!(id = %agent.id, message = error.message, "saved state of agent is damaged; ending it");
                (Memory::in_place_of_damaged(engine, agent, run, kind)?, Some(error.message))
            }
            Err(RecallError::Failed(error)) => return Err(Leave::Broken(error)),
        };
        let recorded = !memory.notes.talk.is_empty();
        let access = RunAccess { kind, folder, orders, shutdown };
        let mut keeper = Self::over(engine, agent, run, access, memory);
        if let Some(reason) = damage {
            keeper.want_stop(Outcome::Failed, reason).await?;
        }
        if !recorded {
            keeper.notes.base = engine.head_in(&directory_of(engine, agent)).await;
            keeper.started().await?;
        }
        keeper.greet().await;
        keeper.unread().await?;
        Ok(Some(keeper))
    }

    fn over(engine: &Crew, agent: &Agent, run: &Run, access: RunAccess, memory: Memory) -> Self {
        let RunAccess { kind, folder, orders, shutdown } = access;
        let Memory { options, notes, talk } = memory;
        let from = Position { segment: run.read.segment, offset: run.read.position };
        let reader = folder.output(from);
        let finished_since = notes.finished.then(Instant::now);
        Self {
            engine: engine.clone(),
            agent: agent.clone(),
            run: run.clone(),
            kind,
            orders,
            shutdown,
            folder,
            talk,
            options,
            notes,
            reader,
            seen: UsageReport::default(),
            written: Instant::now(),
            sender: None,
            unattended: None,
            unsent: Vec::new(),
            silent_since: Instant::now(),
            warned_silent: false,
            stopping: None,
            finished_since,
            asked: Vec::new(),
            to_tell: Vec::new(),
            stuck: None,
        }
    }

    /// Records that the process runs, together with what its conversation begins with.
    async fn started(&mut self) -> Result<(), Leave> {
        self.note();
        let (id, attempt, report) = (self.agent.id, self.agent.attempt, self.seen.report.clone());
        let (folder, now) = (self.folder.path().display().to_string(), self.engine.now());
        let agent = self
            .engine
            .store
            .write(move |tx| {
                let Some(mut agent) = tx.agent_get(id)?.filter(|now| now.attempt == attempt) else {
                    return Ok(None);
                };
                // Where it has started already, or ended, there is nothing to record.
                if !matches!(agent.state, AgentState::Queued | AgentState::Starting) {
                    return Ok::<_, ToolError>(agent.ended_at().is_none().then_some(agent));
                }
                transition::advance_with(tx, &mut agent, AgentEvent::Started, now, |tx, agent| {
                    tx.run_report(id, attempt, &report)?;
                    Ok(EventData::AgentStarted(AgentStarted {
                        role: agent.role.clone(),
                        category: agent.category.clone(),
                        kind: agent.kind.clone(),
                        attempt: Some(attempt),
                        folder: Some(folder.clone()),
                    }))
                })?;
                Ok(Some(agent))
            })
            .await?;
        self.agent = agent.ok_or(Leave::Fenced)?;
        terminal::open(&self.engine, &self.agent).await;
        Ok(())
    }

    /// Sends the opening messages, once. The next report records that they were sent.
    async fn greet(&mut self) {
        if !self.notes.began {
            let steps = self.talk.begin();
            self.perform(steps).await;
            self.notes.began = true;
        }
    }

    /// Follows the process to its end.
    async fn follow(mut self) -> Result<(), Leave> {
        loop {
            match self.folder.connect().await {
                Ok(control) => {
                    let (mut sender, receiver) = control.split();
                    let key = environment::control_key(&self.engine, &self.folder);
                    // Where it fails there is nothing to hear either.
                    drop(sender.authenticate(&key).await);
                    self.sender = Some(sender);
                    self.resay().await;
                    if self.sender.is_some() {
                        self.listen(receiver).await?;
                    }
                }
                Err(error) => self.connect_failed(&error),
            }
            self.sender = None;
            if self.shutdown.is_cancelled() {
                return Err(Leave::Shutdown);
            }
            if !self.folder.path().is_dir() {
                // Its folder was removed: its remaining processes are ended.
                return self.end(RunStatus::Gone).await;
            }
            match self.folder.standing().map_err(ToolError::internal)? {
                // It was to be started, and its supervisor may still begin.
                RunStatus::NotBegun if !self.folder.give_up().map_err(ToolError::internal)? => {}
                // Whatever the files say, which an agent can write: its supervisor has not gone. The
                // connection broke, or it was not there yet.
                _ if self.folder.is_locked().map_err(ToolError::internal)? => {
                    self.attend_without_connection().await?;
                }
                RunStatus::Running => {}
                RunStatus::NotBegun if self.try_again().await? => return Ok(()),
                standing => {
                    while self.read().await? {}
                    for line in self.reader.finish() {
                        // Nobody is there any more to hear an answer.
                        drop(self.hear(&line));
                    }
                    return self.end(standing).await;
                }
            }
        }
    }

    /// Listens to the supervisor until it is gone.
    async fn listen(&mut self, mut receiver: ControlReceiver) -> Result<(), Leave> {
        self.unattended = None;
        self.repeat_stop().await?;
        self.obey_stop().await?;
        // Orders come before what an agent says: one that never pauses can be stopped too.
        let mut behind = false;
        loop {
            if self.sender.is_none() {
                // A message could not be sent. Without a connection an agent is ended by signals.
                return Ok(());
            }
            let look = self.next_look();
            tokio::select! {
                biased;
                () = self.shutdown.cancelled() => {
                    self.report().await?;
                    return Err(Leave::Shutdown);
                }
                order = self.orders.recv() => match order {
                    Some(order) => self.obey(order).await?,
                    None => return Err(Leave::Shutdown),
                },
                () = tokio::time::sleep_until(look), if self.stopping.is_some() => self.look().await?,
                () = std::future::ready(()), if behind => behind = self.read().await?,
                notice = receiver.next() => match notice {
                    Some(Notice::Output { .. }) => behind = true,
                    Some(
                        Notice::Hello { .. }
                        | Notice::Input { .. }
                        | Notice::Lease { .. }
                        | Notice::Environment { .. },
                    ) => {}
                    Some(Notice::Exit {}) | None => return Ok(()),
                },
                () = tokio::time::sleep_until(look) => self.look().await?,
            }
        }
    }

    /// Reads some of what there is; false once that is nothing.
    async fn read(&mut self) -> Result<bool, Leave> {
        let lines = self.reader.next(MAX_OUTPUT_CHUNK).map_err(ToolError::internal)?;
        for line in &lines {
            let steps = self.hear(line);
            self.perform(steps).await;
        }
        let more = !lines.is_empty();
        if more {
            self.silent_since = Instant::now();
            self.warned_silent = false;
        } else if let Some(lost) = self.reader.lost() {
            self.warning(&format!("{lost} files of its output were dropped before they were read"));
        }
        let due = if more { self.written.elapsed() >= SAVE_INTERVAL } else { self.seen.matters() };
        if due {
            self.report().await?;
        }
        if due || !more {
            self.settle().await?;
        }
        tokio::task::yield_now().await;
        Ok(more)
    }

    /// Carries out the steps of a line. What was sent under the same key before is not sent again.
    async fn perform(&mut self, steps: Vec<Step>) {
        for step in steps {
            self.notes.steps += 1;
            let key = self.notes.steps.to_string();
            self.say(&key, step).await;
        }
    }

    async fn say(&mut self, key: &str, step: Step) {
        let Some(sender) = &mut self.sender else {
            self.unsent.push((key.to_owned(), step));
            return;
        };
        let sent = match &step {
            Step::Say(line) => sender.input(key, line).await.map(|_| ()),
            Step::Whisper(line) => sender.input_with_token(key, line).await.map(|_| ()),
            Step::Close => sender.close_input(key).await,
            Step::Saw(_) => Ok(()),
        };
        if sent.is_err() {
            self.sender = None;
            self.unsent.push((key.to_owned(), step));
        }
    }

    /// Sends what could not be sent before.
    async fn resay(&mut self) {
        for (key, step) in std::mem::take(&mut self.unsent) {
            self.say(&key, step).await;
        }
    }

    /// Puts into the report how far the output was read and what is remembered of it.
    fn note(&mut self) {
        self.notes.talk = self.talk.snapshot();
        let Position { segment, offset } = self.reader.position();
        let notes = Some(self.notes.write());
        self.seen.report.read = ReadPosition { segment, position: offset, notes };
    }

    /// Writes down what was seen.
    async fn report(&mut self) -> Result<(), Leave> {
        self.note();
        let seen = std::mem::take(&mut self.seen);
        let spent = seen.cost.is_some() || seen.tokens != Tokens::default();
        self.written = Instant::now();
        let (id, attempt) = (self.agent.id, self.agent.attempt);
        let (settings, now) = (self.engine.settings(), self.engine.now());
        let current = self
            .engine
            .store
            .write(move |tx| super::report::report(tx, &settings, id, attempt, &seen, now))
            .await?;
        if !current {
            return Err(Leave::Fenced);
        }
        // Who has just reached a cap need not wait to be told.
        if spent { self.obey_stop().await } else { Ok(()) }
    }

    /// Wants the agent and all below it to end.
    async fn want_stop(&mut self, outcome: Outcome, reason: String) -> Result<(), Leave> {
        let (id, settings, now) = (self.agent.id, self.engine.settings(), self.engine.now());
        let stop = StopRequest { outcome, reason };
        self.engine
            .store
            .write(move |tx| super::stop::stop_tree(tx, &settings, id, &stop, now))
            .await?;
        Ok(())
    }
}
