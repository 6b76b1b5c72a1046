//! Merges approved work into the branch it is meant for: one after the other for each branch, tried and
//! checked before the branch moves. What does not fit is sent back, and what a person has to see to is held.
//!
//! Two outbox jobs make a merge. The first finds out at once what was approved, because the branch may move while
//! others are merged; the second waits for its turn.

mod check;
mod record;
mod set_up;
mod trial;

use model::review::MergeState;
use model::task::{TaskRef, TaskStateName};
use model::{MergeId, OutboxJobId, TaskId, Timestamp};
use serde_json::{Value, json};
use store::{Merge, MergeChange, NewMerge, OutboxJob, Sender, Task, Tx};
use tokio_util::sync::CancellationToken;

use super::{Ending, JobError, Point, notes_of, params_of};
use crate::call::cx::find_task;
use crate::core::error::{Code, ToolError};
use crate::core::handle::Core;
use crate::delivery::merge_queue::{self, BranchHead, Details, SubmittedWork, in_review};
use crate::delivery::outbox::params::{MergeJob, MergeNotes};
use crate::delivery::worktree_setup::settled;
use crate::mail::outgoing::MailText;
use check::Checked;
use trial::{Step, Trial};

/// Restarts because the branch moved meanwhile.
const ROUNDS: u32 = 10;

/// Outcome of an approval.
#[derive(Debug, Clone)]
enum Verdict {
    /// It is in, by this commit
    In(String),
    /// It does not fit
    Back(String, Details),
    /// A person has to see to something
    Held(String, Details),
}

/// Finds out what was approved, or merges it.
pub(super) async fn run(
    engine: &Core,
    outbox_job: &OutboxJob,
    shutdown: &CancellationToken,
) -> Result<Ending, JobError> {
    match params_of(outbox_job)? {
        MergeJob::Pin { merge, task, job: next, squash, commit } => {
            let squash = squash.unwrap_or(engine.settings().review.squash);
            pin(engine, outbox_job, PinJob { merge, task, next, squash, commit }).await
        }
        MergeJob::Merge { merge } => merge_one(engine, outbox_job, merge, shutdown).await,
    }
}

/// The place after a merge's end is on record.
pub(super) fn recorded(engine: &Core, outbox_job: &OutboxJob) {
    match params_of(outbox_job) {
        Ok(MergeJob::Pin { .. }) => engine.point(Point::MergeQueued),
        _ => engine.point(Point::MergeRecorded),
    }
}

/// Holds a merge that failed for internal reasons.
pub(super) async fn undo(
    engine: &Core,
    outbox_job: &OutboxJob,
    error: &ToolError,
) -> Result<(), ToolError> {
    let id = match params_of(outbox_job) {
        Ok(MergeJob::Merge { merge }) => merge,
        Ok(MergeJob::Pin { task, commit: Some(_), .. }) => {
            return not_queued(engine, outbox_job, task, error).await;
        }
        Ok(MergeJob::Pin { commit: None, .. }) | Err(_) => return Ok(()),
    };
    let (settings, clock) = (engine.settings(), engine.clone());
    let mut reason = error.message.clone();
    for hint in &error.suggestions {
        reason = format!("{reason}; {hint}");
    }
    engine
        .store
        .write(move |tx| {
            let Some(merge) = tx.merge_get(id)?.filter(|merge| merge.ended_at.is_none()) else {
                return Ok(());
            };
            let verdict = Verdict::Held(reason.clone(), Details::default());
            record::record(tx, &settings, &merge, &verdict, &[], clock.now())?;
            Ok::<_, ToolError>(())
        })
        .await
}

/// Tells the human that work which a reviewer approved was not merged. It stays in review.
async fn not_queued(
    engine: &Core,
    outbox_job: &OutboxJob,
    task: TaskId,
    error: &ToolError,
) -> Result<(), ToolError> {
    let (clock, caller, why) = (engine.clone(), outbox_job.caller, error.message.clone());
    engine
        .store
        .write(move |tx| {
            let task = find_task(tx, &TaskRef::Id(task))?;
            if task.state.name() != TaskStateName::Review {
                return Ok(());
            }
            let number = TaskRef::Number(task.number);
            let word = MailText {
                subject: format!("Not Merged: {number} {}", task.title),
                body: format!(
                    "A reviewer approved {number} (`{}`), and it was not merged: {why}.\n\nSee the changes with \
                     `adjutant review show {number}`, merge them with `adjutant review approve {number}`.",
                    task.slug
                ),
            };
            merge_queue::write_to(tx, &task, None, Sender::System(caller), word, clock.now())?;
            Ok::<_, ToolError>(())
        })
        .await
}

/// Parameters of the job that finds out what was approved.
struct PinJob {
    merge: MergeId,
    task: TaskId,
    /// The job that merges it
    next: OutboxJobId,
    squash: bool,
    commit: Option<String>,
}

/// Reads where the approved branch stands, before anything else happens to it.
async fn pin(engine: &Core, outbox_job: &OutboxJob, job: PinJob) -> Result<Ending, JobError> {
    let PinJob { merge: id, task, next, squash, commit } = job;
    let handed =
        engine.store.read(|tx| SubmittedWork::of(tx, find_task(tx, &TaskRef::Id(task))?))?;
    let worker = handed.worker.as_ref().map(|worker| worker.id);
    // What its author left uncommitted is on the branch once its worktree was looked after.
    if let Some(ended) = handed.worker.as_ref().filter(|worker| worker.ended_at().is_some()) {
        settled(engine, ended.id).await?;
    }
    let found = engine
        .outside(move |engine| {
            let repo = engine.repo(&engine.options.project)?;
            handed.find(engine, &repo)
        })
        .await?;
    if let (Some(commit), Some(found)) = (&commit, &found)
        && found.head != *commit
    {
        let message = format!("`{}` has changed since {commit} was approved", found.branch);
        return Err(JobError::Never(ToolError::conflict(message)));
    }
    let (settings, caller) = (engine.settings(), outbox_job.caller);
    Ok(Box::new(move |tx, now| {
        let mut task = find_task(tx, &TaskRef::Id(task))?;
        in_review(&task)?;
        let Some(found) = &found else {
            let by = (caller, now);
            record::without_branch(tx, &settings, &mut task, by)?;
            return Ok(json!({ "status": "completed" }));
        };
        let BranchHead { branch, head, target, .. } = found.clone();
        let new = NewMerge {
            id,
            task: task.id,
            agent: worker,
            approved_by: caller,
            branch,
            target,
            commit: head,
            squash,
        };
        queue(tx, &new, next, now)
    }))
}

/// Puts approved work into the queue, with the job that merges it.
fn queue(
    tx: &mut Tx<'_>,
    new: &NewMerge,
    outbox_job: OutboxJobId,
    now: Timestamp,
) -> Result<Value, ToolError> {
    tx.merge_insert(new, now)?;
    let merge = tx.merge_get(new.id)?;
    let merge =
        merge.ok_or_else(|| ToolError::not_found(format!("there is no merge `{}`", new.id)))?;
    merge_queue::line_up(tx, &merge, outbox_job, new.approved_by, now)?;
    Ok(json!({ "status": "queued" }))
}

/// The merge in progress.
#[derive(Debug, Clone)]
struct Job {
    merge: Merge,
    task: Task,
    /// When it was asked for: commits are made at this time, so that they are the same when made again
    at: Timestamp,
}

/// Merges what is in the queue.
async fn merge_one(
    engine: &Core,
    outbox_job: &OutboxJob,
    id: MergeId,
    shutdown: &CancellationToken,
) -> Result<Ending, JobError> {
    let Some((merge, task)) = begin(engine, id).await? else {
        return Ok(Box::new(|_, _| Ok(json!({ "status": MergeState::SentBack }))));
    };
    engine.point(Point::MergeAsked);
    let job = Job { merge, task, at: outbox_job.created_at };
    let mut notes: MergeNotes = notes_of(outbox_job)?.unwrap_or_default();
    let mut rounds = 0;
    let verdict = loop {
        if let Some(verdict) = round(engine, outbox_job.id, &mut notes, &job, shutdown).await? {
            break verdict;
        }
        rounds += 1;
        if rounds >= ROUNDS {
            let target = &job.merge.target;
            let message =
                format!("the branch `{target}` moved whenever it was about to be merged into");
            return Err(JobError::Again(ToolError::new(Code::TransientError, message)));
        }
    };
    let others = match &verdict {
        Verdict::In(_) => {
            let job = job.clone();
            engine.outside(move |engine| trial::in_the_way(engine, &job)).await?
        }
        Verdict::Back(..) | Verdict::Held(..) => Vec::new(),
    };
    let settings = engine.settings();
    Ok(Box::new(move |tx, now| record::record(tx, &settings, &job.merge, &verdict, &others, now)))
}

/// Takes a merge up, unless it was taken out of the queue.
async fn begin(engine: &Core, id: MergeId) -> Result<Option<(Merge, Task)>, ToolError> {
    let clock = engine.clone();
    engine
        .store
        .write(move |tx| {
            let merge = tx.merge_get(id)?;
            let merge =
                merge.ok_or_else(|| ToolError::not_found(format!("there is no merge `{id}`")))?;
            let task = find_task(tx, &TaskRef::Id(merge.task))?;
            match merge.state {
                // A server before us was at it, and what it did stands.
                MergeState::Merging => Ok(Some((merge, task))),
                MergeState::Queued => {
                    if let Err(error) = in_review(&task) {
                        let reason = Some(error.message.as_str());
                        let change = MergeChange { reason, ..MergeChange::default() };
                        merge_queue::tell(tx, &merge, MergeState::SentBack, change, clock.now())?;
                        return Ok(None);
                    }
                    tx.merge_set(id, MergeState::Merging, MergeChange::default(), clock.now())?;
                    Ok(Some((Merge { state: MergeState::Merging, ..merge }, task)))
                }
                MergeState::Merged | MergeState::SentBack | MergeState::Held => Ok(None),
            }
        })
        .await
}

/// Tries once to get it in; nothing if the branch moved meanwhile.
async fn round(
    engine: &Core,
    outbox_job: OutboxJobId,
    notes: &mut MergeNotes,
    job: &Job,
    shutdown: &CancellationToken,
) -> Result<Option<Verdict>, JobError> {
    let (asked, known) = (job.clone(), notes.merged.clone());
    let step = engine.outside(move |engine| trial::plan(engine, &asked, known.as_deref())).await?;
    let trial = match step {
        Step::Over(verdict) => return Ok(Some(verdict)),
        Step::Try(trial) => trial,
    };
    match check::check(engine, outbox_job, notes, job, &trial, shutdown).await? {
        Checked::Passed => {}
        Checked::Failed(reason, details) => return Ok(Some(Verdict::Back(reason, details))),
        Checked::Impossible(reason, details) => return Ok(Some(Verdict::Held(reason, details))),
    }
    engine.point(Point::MergeChecked);
    let target = job.merge.target.clone();
    let moved = engine.outside(move |engine| trial::go(engine, &target, &trial)).await?;
    if let Some(Verdict::In(_)) = &moved {
        engine.point(Point::MergeMoved);
    }
    Ok(moved)
}
