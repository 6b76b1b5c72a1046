//! `mcp__supervisor__approve_task`.

use model::agent::Outcome;
use model::review::{MergeState, OutboxJobKind};
use model::task::TaskRef;
use model::{MergeId, OutboxJobId, TaskId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Merge, StopRequest, Task};
use wire::merges::{ApprovalStatus, ApprovedTask};

use super::led_task;
use crate::call::cx::{ReadCx, WriteCx, fresh};
use crate::call::tool::{Ask, Look, Tool};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::delivery::merge_queue::{self, Details, SubmittedWork, in_review};
use crate::delivery::outbox::params::MergeJob;
use crate::delivery::outbox::{self, NewJob};

/// Longest wait for the merge and its check, in seconds.
const WAIT: u32 = 240;

/// Approve a task in `REVIEW`, and merge its branch
///
/// Approves the branch in its current state. It is merged when its turn comes and the project's
/// check passes; then the task is `COMPLETED` and its agent ends. Work that does not merge or fails
/// the check is sent back to its agent with the conflicting files and lines, or with the output of
/// the check. `held` means that a person must act, or that you must approve it again. `queued`
/// means that the merge continues without you: call again to wait for it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The task: its id, slug or number (`TAS-12`)
    task_id: TaskRef,
    /// True to merge it as one commit; `review.squash` of the configuration decides if absent
    squash: Option<bool>,
}

const fn approved_task(
    task_id: TaskId,
    merge_id: Option<MergeId>,
    status: ApprovalStatus,
) -> ApprovedTask {
    ApprovedTask {
        task_id,
        merge_id,
        status,
        commit: None,
        reason: None,
        conflicts: Vec::new(),
        check_output: None,
        setup_output: None,
    }
}

fn approval_of(merge: &Merge) -> Result<Look<ApprovedTask>, ToolError> {
    let bare = |status| approved_task(merge.task, Some(merge.id), status);
    let details = Details::of(merge)?;
    let told = |status| ApprovedTask {
        reason: merge.reason.clone(),
        conflicts: details.conflicts.clone(),
        check_output: details.check_output.clone(),
        setup_output: details.setup_output.clone(),
        ..bare(status)
    };
    Ok(match merge.state {
        MergeState::Queued | MergeState::Merging => Look::NotYet(bare(ApprovalStatus::Queued)),
        MergeState::Merged => Look::Settled(ApprovedTask {
            commit: merge.merged.clone(),
            ..bare(ApprovalStatus::Merged)
        }),
        MergeState::SentBack => Look::Settled(told(ApprovalStatus::SentBack)),
        MergeState::Held => Look::Settled(told(ApprovalStatus::Held)),
    })
}

/// Handle of an approval.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ticket {
    task: TaskId,
    /// None where there is nothing to merge
    merge: Option<MergeId>,
    /// The job that finds out what was approved, where that is not known yet
    pin: Option<OutboxJobId>,
    /// The job that merges it
    #[serde(rename = "errand")]
    job: Option<OutboxJobId>,
}

pub(crate) struct ApproveTask;

impl Tool for ApproveTask {
    const NAME: &'static str = "mcp__supervisor__approve_task";
    const DESTRUCTIVE: bool = true;
    type Args = Args;
    type Answer = ApprovedTask;
}

impl Ask for ApproveTask {
    type Ticket = Ticket;

    fn begin(cx: &mut WriteCx<'_, '_>, args: &Args) -> Result<Ticket, ToolError> {
        let mut task = led_task(cx.tx, cx.caller, &args.task_id)?;
        if let Some(ticket) = under_way(cx, &task)? {
            return Ok(ticket);
        }
        in_review(&task)?;
        let handed = SubmittedWork::of(cx.tx, task.clone())?;
        if !handed.may_have_branch() {
            merge_queue::complete(cx.tx, &mut task, (cx.caller.id(), cx.now))?;
            let reason = "its work was approved".to_owned();
            let stop = StopRequest { outcome: Outcome::Succeeded, reason };
            let worker = handed.worker.as_ref();
            merge_queue::retire(cx.tx, cx.settings, worker, &task, &stop, None, cx.now)?;
            return Ok(Ticket { task: task.id, merge: None, pin: None, job: None });
        }
        let (merge, next) = (fresh(MergeId::from_bits)?, fresh(OutboxJobId::from_bits)?);
        let (task, squash) = (task.id, args.squash);
        let params = MergeJob::Pin { merge, task, job: next, squash, commit: None };
        let sending = NewJob {
            kind: OutboxJobKind::Merge,
            // Nobody waits to know what was approved.
            lane: format!("approval:{merge}"),
            agent: handed.worker.as_ref().map(|worker| worker.id),
            caller: cx.caller.id(),
            params: &params,
        };
        let pin = outbox::send(cx.tx, sending, cx.now)?;
        Ok(Ticket { task, merge: Some(merge), pin: Some(pin), job: Some(next) })
    }

    fn wait_seconds(_: &Args) -> u32 {
        WAIT
    }

    fn topics(ticket: &Ticket) -> Vec<Topic> {
        ticket.pin.into_iter().chain(ticket.job).map(Topic::OutboxJob).collect()
    }

    fn look(cx: &ReadCx<'_>, _: &Args, ticket: &Ticket) -> Result<Look<ApprovedTask>, ToolError> {
        let bare = |status| approved_task(ticket.task, ticket.merge, status);
        let Some(merge) = ticket.merge else {
            return Ok(Look::Settled(bare(ApprovalStatus::Completed)));
        };
        if let Some(merge) = cx.tx.merge_get(merge)? {
            return approval_of(&merge);
        }
        let found = ticket.pin.map(|pin| outbox::outcome::<Value>(cx.tx, pin)).transpose()?;
        Ok(match found.flatten() {
            None => Look::NotYet(bare(ApprovalStatus::Queued)),
            Some(_) => Look::Settled(approved_task(ticket.task, None, ApprovalStatus::Completed)),
        })
    }
}

/// Finds a task's open merge. A held one is queued again.
fn under_way(cx: &mut WriteCx<'_, '_>, task: &Task) -> Result<Option<Ticket>, ToolError> {
    let task = task.id;
    if let Some((pin, merge, job)) = merge_queue::pinned_by(cx.tx, task)? {
        return Ok(Some(Ticket { task, merge: Some(merge), pin: Some(pin), job: Some(job) }));
    }
    let Some(merge) = cx.tx.merge_of(task)?.filter(|merge| merge.ended_at.is_none()) else {
        return Ok(None);
    };
    let job = if merge.state == MergeState::Held {
        Some(merge_queue::requeue(cx.tx, &merge, cx.caller.id(), cx.now)?)
    } else {
        merge_queue::outbox_job_of(cx.tx, merge.id)?
    };
    Ok(Some(Ticket { task, merge: Some(merge.id), pin: None, job }))
}
