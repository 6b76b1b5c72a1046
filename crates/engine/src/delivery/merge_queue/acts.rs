//! Changes to approved work and its authors, in the record.

use host::run::Variables;
use model::review::{MergeState, OutboxJobKind};
use model::task::{TaskMove, TaskRef, TaskStateName};
use model::{AgentId, MergeId, OutboxJobId, TaskId, Timestamp};
use serde_json::{Value, json};
use store::{Agent, EventDraft, Merge, MergeChange, Recipient, Sender, StopRequest, Task, Tx};
use wire::environment::CheckEnvironment;
use wire::event::{EventData, MergeChanged, MergeQueued};

use super::worker_of;
use crate::call::cx::{find_task, fresh};
use crate::core::error::ToolError;
use crate::core::handed_on;
use crate::core::settings::Settings;
use crate::crew::run::stop;
use crate::delivery::check_environment::ApproverEnvironment;
use crate::delivery::outbox::params::MergeJob;
use crate::delivery::outbox::{self, NewJob, lane_to};
use crate::delivery::service::Delivery;
use crate::delivery::worktree_release;
use crate::mail::outgoing::{self, MailText, OutgoingMail};
use crate::tasks::task_change::{self, Mover};

/// Note on a task that was sent back and has no agent.
pub(crate) const NOBODY_WORKS: &str =
    "No agent works on it now, so it is pending; the next agent continues from its branch.";

/// The outbox jobs about merges that are not over.
fn open(tx: &Tx<'_>) -> Result<Vec<(OutboxJobId, MergeJob)>, ToolError> {
    let open = tx.outbox_jobs_open()?.into_iter().filter(|job| job.kind == OutboxJobKind::Merge);
    open.map(|one| Ok((one.id, outbox::decode_params(&one)?))).collect()
}

/// The job that is to find out what was approved of a task, and the merge that comes of it.
pub(crate) fn pinned_by(
    tx: &Tx<'_>,
    task: TaskId,
) -> Result<Option<(OutboxJobId, MergeId, OutboxJobId)>, ToolError> {
    Ok(open(tx)?.into_iter().find_map(|(id, params)| match params {
        MergeJob::Pin { merge, task: of, job, .. } if of == task => Some((id, merge, job)),
        MergeJob::Pin { .. } | MergeJob::Merge { .. } => None,
    }))
}

/// The job that is to do a merge.
pub(crate) fn outbox_job_of(tx: &Tx<'_>, merge: MergeId) -> Result<Option<OutboxJobId>, ToolError> {
    Ok(open(tx)?.into_iter().find_map(|(id, params)| match params {
        MergeJob::Merge { merge: of } if of == merge => Some(id),
        MergeJob::Pin { .. } | MergeJob::Merge { .. } => None,
    }))
}

/// Puts what was held back into the queue.
pub(crate) fn requeue(
    tx: &mut Tx<'_>,
    merge: &Merge,
    caller: Option<AgentId>,
    now: Timestamp,
) -> Result<OutboxJobId, ToolError> {
    tx.merge_set(merge.id, MergeState::Queued, MergeChange::default(), now)?;
    let job = fresh(OutboxJobId::from_bits)?;
    line_up(tx, merge, job, caller, now)?;
    Ok(job)
}

/// Tells that work waits to be merged, and has it merged by an outbox job of that id.
pub(crate) fn line_up(
    tx: &mut Tx<'_>,
    merge: &Merge,
    job: OutboxJobId,
    caller: Option<AgentId>,
    now: Timestamp,
) -> Result<(), ToolError> {
    let data = EventData::MergeQueued(MergeQueued {
        merge_id: merge.id,
        branch: merge.branch.clone(),
        target: merge.target.clone(),
        commit: merge.commit.clone(),
    });
    tx.event_append(now, &EventDraft { agent: caller, task: Some(merge.task), data })?;
    let params = MergeJob::Merge { merge: merge.id };
    let (kind, lane) = (OutboxJobKind::Merge, lane_to(&merge.target));
    let sending = NewJob { kind, lane, agent: merge.agent, caller, params: &params };
    outbox::send_as(tx, job, sending, now)
}

/// Says how a merge stands now, and tells of it.
pub(crate) fn tell(
    tx: &mut Tx<'_>,
    merge: &Merge,
    state: MergeState,
    change: MergeChange<'_>,
    now: Timestamp,
) -> Result<(), ToolError> {
    tx.merge_set(merge.id, state, change, now)?;
    let data = EventData::MergeChanged(MergeChanged {
        merge_id: merge.id,
        branch: merge.branch.clone(),
        target: merge.target.clone(),
        commit: merge.commit.clone(),
        state,
        merged_commit: change.merged.map(str::to_owned),
        reason: change.reason.map(str::to_owned),
    });
    let (agent, task) = (merge.approved_by, Some(merge.task));
    tx.event_append(now, &EventDraft { agent, task, data })?;
    Ok(())
}

/// Takes a task's work out of the queue again, if it is in it. What is being merged stays.
pub(crate) fn take_out(
    tx: &mut Tx<'_>,
    task: &Task,
    reason: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    let Some(merge) = tx.merge_of(task.id)?.filter(|merge| merge.ended_at.is_none()) else {
        return Ok(());
    };
    if merge.state == MergeState::Merging {
        let number = TaskRef::Number(task.number);
        return Err(ToolError::conflict(format!("{number} is being merged now"))
            .hint("wait for the outcome with `get_review_queue`")
            .detail("mergeId", merge.id.to_string()));
    }
    // Its job finds it like this, and ends.
    let change = MergeChange { reason: Some(reason), ..MergeChange::default() };
    tell(tx, &merge, MergeState::SentBack, change, now)
}

/// Refuses a task that is not in review.
pub(crate) fn in_review(task: &Task) -> Result<(), ToolError> {
    let state = task.state.name();
    if state == TaskStateName::Review {
        return Ok(());
    }
    let number = TaskRef::Number(task.number);
    let text = serde_json::to_value(state.office()).unwrap_or_default();
    let text = text.as_str().unwrap_or_default().to_owned();
    let message = format!("{number} is {text}, and only what is in REVIEW can be approved");
    let error = ToolError::conflict(message).detail("state", text);
    Err(match state {
        TaskStateName::Completed => {
            error.hint("there is nothing left to decide: it was merged, or it left no changes")
        }
        TaskStateName::Pending | TaskStateName::Failed | TaskStateName::Cancelled => {
            error.hint(format!(
                "no agent works on it; `adjutant run --role ROLE --task {number} PROMPT` starts an agent"
            ))
        }
        TaskStateName::Assigned
        | TaskStateName::InProgress
        | TaskStateName::Blocked
        | TaskStateName::Review => error.hint(
            "its agent submits it with `update_status` and `REVIEW`, or by ending successfully",
        ),
    })
}

/// Completes a task from wherever it stands, through the steps between.
pub(crate) fn complete(tx: &mut Tx<'_>, task: &mut Task, by: Mover) -> Result<(), ToolError> {
    let start = TaskMove::Start { claim: None };
    let steps = match task.state.name() {
        TaskStateName::Review | TaskStateName::Completed => vec![],
        TaskStateName::InProgress => vec![TaskMove::Submit],
        TaskStateName::Cancelled => vec![TaskMove::Release, start, TaskMove::Submit],
        TaskStateName::Pending
        | TaskStateName::Assigned
        | TaskStateName::Blocked
        | TaskStateName::Failed => vec![start, TaskMove::Submit],
    };
    for step in steps.into_iter().chain([TaskMove::Complete]) {
        task_change::apply(tx, task, step, by)?;
    }
    Ok(())
}

/// Sends a task that is in review back: to the one who did it, who goes on, or to everybody, and then the
/// next one goes on from its branch. Says who goes on.
pub(crate) fn hold_back(
    tx: &mut Tx<'_>,
    task: &mut Task,
    by: Mover,
) -> Result<Option<Agent>, ToolError> {
    let worker = worker_of(tx, task)?.filter(|worker| worker.ended_at().is_none());
    if task.state.name() == TaskStateName::Review {
        match &worker {
            Some(_) => task_change::apply(tx, task, TaskMove::Start { claim: None }, by)?,
            None => task_change::apply_through(tx, task, &TaskMove::Release, by)?,
        }
    }
    Ok(worker)
}

/// Writes to the one who does a task; where nobody does, to the supervisor of its epic, else to the human.
pub(crate) fn write_to(
    tx: &mut Tx<'_>,
    task: &Task,
    worker: Option<&Agent>,
    from: Sender,
    word: MailText,
    now: Timestamp,
) -> Result<Recipient, ToolError> {
    let live = worker.filter(|worker| worker.ended_at().is_none());
    let above = task.epic.map(|epic| tx.agent_supervising(epic)).transpose()?.flatten();
    let to = live.or(above.as_ref()).map_or(Recipient::Human, |to| Recipient::Agent(to.id));
    // Nobody gets mails from itself: then it comes from whose work it is about.
    let from = match (from, worker) {
        (Sender::Agent(from, _), Some(worker)) if to == Recipient::Agent(from) => {
            Sender::Agent(worker.id, worker.category.clone())
        }
        (Sender::System(Some(from)), worker) if to == Recipient::Agent(from) => {
            Sender::System(worker.map(|worker| worker.id))
        }
        (from, _) => from,
    };
    let MailText { subject, body } = word;
    outgoing::send(
        tx,
        OutgoingMail { from, to, subject, body, reply_to: None, task: Some(task.id) },
        now,
    )?;
    Ok(to)
}

/// Lets the one who did a task go, and has its worktree taken away if its work is in.
pub(crate) fn retire(
    tx: &mut Tx<'_>,
    settings: &Settings,
    worker: Option<&Agent>,
    task: &Task,
    stopped: &StopRequest,
    branch: Option<&str>,
    now: Timestamp,
) -> Result<(), ToolError> {
    let does_only_this = |agent: &Agent| {
        agent.task == Some(task.id) && agent.category != "supervisor" && agent.ended_at().is_none()
    };
    let worktree = branch.map(|branch| tx.worktree_by_branch(branch)).transpose()?.flatten();
    if let Some(worktree) = worktree
        && let Some(owner) = tx.agent_get(worktree.agent)?
        && (owner.ended_at().is_some() || does_only_this(&owner))
    {
        worktree_release::discard_worktree(tx, &owner, now)?;
    }
    match worker.filter(|worker| does_only_this(worker)) {
        Some(worker) => stop::stop_tree(tx, settings, worker.id, stopped, now),
        None => Ok(()),
    }
}

/// Use of the server's own variables in a check in place of those that are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerVariables {
    /// They may
    Accepted,
    /// The merge waits for the right ones
    Refused,
}

impl Delivery {
    /// Keeps variables of a person's shell in memory for the check of a task's work, until it is merged or sent back, and
    /// notes which they are. The server's own may do in place of those that are gone.
    pub async fn hand_on_to_check(
        &self,
        task: TaskRef,
        given: Variables,
        servers: ServerVariables,
    ) -> Result<CheckEnvironment, ToolError> {
        let accepts_servers = servers == ServerVariables::Accepted;
        let given = handed_on::accept(&self.settings().handed_on_to_checks(), given)?;
        let names: Vec<String> = given.0.iter().map(|(name, _)| name.clone()).collect();
        let engine = self.clone();
        let noted =
            ApproverEnvironment { accepts_servers, ..ApproverEnvironment::of(self, &given) };
        let noted = serde_json::to_string(&noted).map_err(ToolError::internal)?;
        let kept = self.store.write(move |tx| {
            let found = find_task(tx, &task)?;
            let is_in_review = found.state.name() == TaskStateName::Review;
            let names = if is_in_review { names.clone() } else { Vec::new() };
            let kept = CheckEnvironment { task_id: found.id, names };
            if is_in_review {
                tx.check_environment_set(found.id, &noted)?;
            }
            let input = json!({ "task": task, "acceptServers": accepts_servers }).to_string();
            let row = engine.operator_row("operator__hand_on", None, input, &json!(kept));
            tx.audit_append(&row)?;
            Ok::<_, ToolError>(kept)
        });
        let kept = kept.await?;
        if !kept.names.is_empty() {
            self.handed_on.keep_for_check(kept.task_id, given);
        }
        Ok(kept)
    }

    /// Puts a held merge back into the queue: the caller has removed its obstacle.
    pub async fn merge_retry(&self, id: MergeId) -> Result<Value, ToolError> {
        let engine = self.clone();
        self.store
            .write(move |tx| {
                let merge = tx.merge_get(id)?.ok_or_else(|| {
                    ToolError::not_found(format!("there is no merge `{id}`"))
                        .hint("`adjutant merge-queue` lists them")
                })?;
                if merge.state != MergeState::Held {
                    let state = merge.state;
                    return Err(ToolError::conflict(format!("`{id}` is {state}, not held"))
                        .detail("state", state.name()));
                }
                let job = requeue(tx, &merge, None, engine.now())?;
                let output = json!({ "mergeId": id, "state": MergeState::Queued, "errandId": job });
                let input = json!({ "mergeId": id }).to_string();
                let row = engine.operator_row("operator__merge_retry", merge.agent, input, &output);
                tx.audit_append(&row)?;
                Ok(output)
            })
            .await
    }
}
