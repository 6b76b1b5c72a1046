//! The runner: the loop that runs jobs, and looks after reviews that take too long.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use model::review::OutboxJobKind;
use model::{EventKinds, Timestamp};
use store::{EventDraft, OutboxJob};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wire::event::{ErrandEnded, ErrandStatus, EventData};

use super::{Ending, JobError, Point, RETRIES};
use crate::core::durable::encode_error;
use crate::core::error::{Code, ToolError};
use crate::core::follow::{EventReaction, NextRun};
use crate::delivery::github::follow::Poll;
use crate::delivery::service::Delivery;
use crate::mail::panics::{self, PanicReport};

/// Events that bring jobs, or reviews and pull requests that are looked after.
const KINDS: EventKinds = EventKinds::family("errand")
    .with(EventKinds::family("review"))
    .with(EventKinds::family("pull"))
    .with(EventKinds::family("merge"));

/// Runs jobs until it is told to end. What is open then is run by the next server.
#[derive(Debug)]
pub struct OutboxRunner {
    engine: Delivery,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    /// The lanes in which something is being done
    busy: Arc<Mutex<HashSet<String>>>,
    poll: Poll,
}

impl OutboxRunner {
    /// A runner for an engine, with its tasks on a tracker.
    pub fn new(engine: &Delivery, tasks: TaskTracker, shutdown: CancellationToken) -> Self {
        Self {
            engine: engine.clone(),
            tasks,
            shutdown,
            busy: Arc::default(),
            poll: Poll::default(),
        }
    }

    /// Runs jobs.
    pub async fn run(mut self) {
        let (engine, shutdown) = (self.engine.clone(), self.shutdown.clone());
        engine.follow(&mut self, &shutdown).await;
    }

    /// Begins what is due, and says when to look again if nothing happens.
    async fn turn(&self) -> Result<NextRun, ToolError> {
        let now = self.engine.now();
        let open = self.engine.store.read(|tx| tx.outbox_jobs_open())?;
        let later = |outbox_job: &&OutboxJob| outbox_job.due_at > now;
        // Only what its agent's worktree stood in the way of is helped by the agent doing something.
        let awaits = |outbox_job: &OutboxJob| {
            outbox_job.agent.filter(|_| outbox_job.kind == OutboxJobKind::Feedback)
        };
        let waiting = open.iter().filter(later).filter_map(awaits).collect();
        let heard = self.engine.outbox.turn(waiting);
        let mut lanes = HashSet::new();
        for outbox_job in &open {
            let is_due = outbox_job.due_at <= now
                || awaits(outbox_job).is_some_and(|agent| heard.contains(&agent));
            // What waits for its time holds nobody back.
            if is_due && lanes.insert(outbox_job.lane.clone()) {
                self.begin(outbox_job);
            }
        }
        let dues = open.iter().filter(later).map(|outbox_job| outbox_job.due_at);
        let swept = crate::delivery::reviews::sweep(&self.engine, now).await?;
        let polled = self.poll.turn(&self.engine, &self.tasks, &self.shutdown, now)?;
        Ok(NextRun::due(dues.chain(swept).chain(polled).min(), now))
    }

    fn begin(&self, outbox_job: &OutboxJob) {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        if !busy.insert(outbox_job.lane.clone()) {
            return;
        }
        drop(busy);
        let lane = BusyLane {
            engine: self.engine.clone(),
            lane: outbox_job.lane.clone(),
            busy: Arc::clone(&self.busy),
        };
        let (engine, outbox_job) = (self.engine.clone(), outbox_job.clone());
        let (tasks, shutdown) = (self.tasks.clone(), self.shutdown.clone());
        self.tasks.spawn(async move {
            // A task of its own, so that a panic in it ends nothing else.
            let (own, job) = (engine.clone(), outbox_job.clone());
            let done = tasks.spawn(async move { run(&own, job, &shutdown).await }).await;
            if let Err(error) = done
                && let Some(message) = panics::message_of(error)
            {
                panicked(&engine, &outbox_job, message).await;
            }
            drop(lane);
        });
    }
}

impl EventReaction for OutboxRunner {
    fn name(&self) -> String {
        "the outbox".to_owned()
    }

    fn kinds(&self) -> EventKinds {
        KINDS
    }

    async fn react(&mut self) -> Result<NextRun, ToolError> {
        self.turn().await
    }

    async fn rung(&mut self) {
        self.engine.outbox.rung().await;
    }
}

/// A lane in which something is being done. It is free again when this is dropped, however that comes about.
struct BusyLane {
    engine: Delivery,
    lane: String,
    busy: Arc<Mutex<HashSet<String>>>,
}

impl Drop for BusyLane {
    fn drop(&mut self) {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.lane);
        self.engine.outbox.ring();
    }
}

/// Has a job that panicked begun again after a pause, or gives it up after the last attempt.
async fn panicked(engine: &Delivery, outbox_job: &OutboxJob, message: String) {
    let (id, kind, is_last) = (outbox_job.id, outbox_job.kind, outbox_job.tries >= RETRIES);
    let delay = panics::restart_delay(outbox_job.tries);
    let next = if is_last {
        "it is abandoned".to_owned()
    } else {
        format!("it is retried in {} s", delay.as_secs())
    };
    let doing = format!("running the outbox job `{kind}` {id}");
    panics::report(engine, PanicReport { agent: outbox_job.agent, doing, message, next }).await;
    let written = if is_last {
        let error = ToolError::new(Code::InternalError, format!("the outbox job {id} panicked"));
        give_up(engine, outbox_job, &error).await
    } else {
        let due = engine.now().after_millis(i64::try_from(delay.as_millis()).unwrap_or(1000));
        engine.store.write(move |tx| tx.outbox_job_retry(id, due)).await.map_err(ToolError::from)
    };
    if let Err(error) = written {
        tracing::error!(%id, %kind, causes = error.causes(), "failed to reschedule outbox job");
    }
}

/// Does an outbox job, and writes down what came of it.
pub(super) async fn run(engine: &Delivery, outbox_job: OutboxJob, shutdown: &CancellationToken) {
    let (id, kind) = (outbox_job.id, outbox_job.kind);
    let written = match act(engine, &outbox_job, shutdown).await {
        Ok(ending) => conclude(engine, &outbox_job, ending).await,
        Err(JobError::Leave) => Ok(()),
        Err(JobError::Until(due)) => later(engine, &outbox_job, due).await,
        Err(JobError::Again(error)) if outbox_job.tries < RETRIES => {
            tracing::info!(%id, %kind, message = error.message, "outbox job failed; retrying soon");
            let (id, due) = (outbox_job.id, soon(engine));
            engine
                .store
                .write(move |tx| tx.outbox_job_retry(id, due))
                .await
                .map_err(ToolError::from)
        }
        Err(JobError::Again(error) | JobError::Never(error)) if error.is_panic() => {
            return panicked(engine, &outbox_job, error.causes()).await;
        }
        Err(JobError::Again(error) | JobError::Never(error)) => {
            give_up(engine, &outbox_job, &error).await
        }
    };
    if let Err(error) = written {
        tracing::error!(%id, %kind, message = error.message, causes = error.causes(), "failed to record outbox job; rescheduling it");
        if let Err(error) = later(engine, &outbox_job, soon(engine)).await {
            tracing::error!(%id, causes = error.causes(), "failed to reschedule outbox job");
        }
    }
}

fn soon(engine: &Delivery) -> Timestamp {
    let after = i64::try_from(engine.options.retry_after.as_millis()).unwrap_or(1000);
    engine.now().after_millis(after)
}

async fn act(
    engine: &Delivery,
    outbox_job: &OutboxJob,
    shutdown: &CancellationToken,
) -> Result<Ending, JobError> {
    if shutdown.run_until_cancelled(engine.may_act()).await.is_none() {
        return Err(JobError::Leave);
    }
    match outbox_job.kind {
        OutboxJobKind::Review => super::review::run(engine, outbox_job).await,
        OutboxJobKind::Feedback => super::feedback::run(engine, outbox_job, shutdown).await,
        OutboxJobKind::Commit => super::commit::run(engine, outbox_job).await,
        OutboxJobKind::Rebase => super::rebase::run(engine, outbox_job).await,
        OutboxJobKind::Tidy => super::tidy::run(engine, outbox_job).await,
        OutboxJobKind::Pull => unless_over(shutdown, super::pull::run(engine, outbox_job)).await,
        OutboxJobKind::Issues => {
            unless_over(shutdown, super::issues::run(engine, outbox_job)).await
        }
        OutboxJobKind::Merge => super::merge::run(engine, outbox_job, shutdown).await,
    }
}

/// Runs a job that may wait for another server. When this server ends, the job is left as it is: the next one begins it again.
async fn unless_over(
    shutdown: &CancellationToken,
    doing: impl Future<Output = Result<Ending, JobError>>,
) -> Result<Ending, JobError> {
    shutdown.run_until_cancelled(doing).await.unwrap_or(Err(JobError::Leave))
}

async fn later(engine: &Delivery, outbox_job: &OutboxJob, due: Timestamp) -> Result<(), ToolError> {
    let id = outbox_job.id;
    Ok(engine.store.write(move |tx| tx.outbox_job_reschedule(id, due)).await?)
}

/// Writes down what follows from an outbox job that was done, and that it was. What the record refuses then
/// was wanted too late.
async fn conclude(
    engine: &Delivery,
    outbox_job: &OutboxJob,
    ending: Ending,
) -> Result<(), ToolError> {
    let (done, clock) = (outbox_job.clone(), engine.clone());
    let written = engine
        .store
        .write(move |tx| {
            let now = clock.now();
            if tx.outbox_job_get(done.id)?.is_none_or(|outbox_job| outbox_job.ended_at.is_some()) {
                return Ok(());
            }
            let answer = ending(tx, now)?;
            tx.outbox_job_end(done.id, Ok(&answer.to_string()), now)?;
            told(tx, &done, ErrandStatus::Done, now)
        })
        .await;
    match written {
        Ok(()) => {
            recorded(engine, outbox_job);
            Ok(())
        }
        Err(error) if error.is_transient() => Err(error),
        Err(error) => give_up(engine, outbox_job, &error).await,
    }
}

/// Undoes what was begun, and writes down why.
async fn give_up(
    engine: &Delivery,
    outbox_job: &OutboxJob,
    error: &ToolError,
) -> Result<(), ToolError> {
    tracing::info!(id = %outbox_job.id, kind = %outbox_job.kind, message = error.message, "outbox job failed; undoing it");
    match outbox_job.kind {
        OutboxJobKind::Review => super::review::undo(engine, outbox_job, error).await?,
        OutboxJobKind::Merge => super::merge::undo(engine, outbox_job, error).await?,
        OutboxJobKind::Feedback => super::feedback::undo(engine, outbox_job).await?,
        OutboxJobKind::Pull
        | OutboxJobKind::Issues
        | OutboxJobKind::Commit
        | OutboxJobKind::Rebase
        | OutboxJobKind::Tidy => {}
    }
    let (failed, kept, clock) = (outbox_job.clone(), encode_error(error)?, engine.clone());
    engine
        .store
        .write(move |tx| {
            let now = clock.now();
            if tx.outbox_job_end(failed.id, Err(&kept), now)? {
                told(tx, &failed, ErrandStatus::Failed, now)?;
            }
            Ok(())
        })
        .await
}

fn told(
    tx: &mut store::Tx<'_>,
    outbox_job: &OutboxJob,
    status: ErrandStatus,
    now: Timestamp,
) -> Result<(), ToolError> {
    let ended = ErrandEnded { errand_id: outbox_job.id, kind: outbox_job.kind, status };
    let data = EventData::ErrandEnded(ended);
    tx.event_append(now, &EventDraft { agent: outbox_job.agent, task: None, data })?;
    Ok(())
}

/// The place after an job's end is on record.
fn recorded(engine: &Delivery, outbox_job: &OutboxJob) {
    match outbox_job.kind {
        OutboxJobKind::Review => engine.point(Point::ReviewRecorded),
        OutboxJobKind::Feedback => engine.point(Point::FeedbackRecorded),
        OutboxJobKind::Pull => engine.point(Point::PullRecorded),
        OutboxJobKind::Issues => engine.point(Point::IssuesRecorded),
        OutboxJobKind::Merge => super::merge::recorded(engine, outbox_job),
        OutboxJobKind::Tidy => engine.point(Point::TidyRecorded),
        OutboxJobKind::Commit => engine.point(Point::CommitRecorded),
        OutboxJobKind::Rebase => engine.point(Point::RebaseRecorded),
    }
}
