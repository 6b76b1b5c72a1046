//! Records the consequences of a merge in one transaction.

use model::Timestamp;
use model::agent::Outcome;
use model::review::MergeState;
use model::task::{TaskMove, TaskRef, TaskStateName};
use serde_json::{Value, json};
use store::{Merge, MergeChange, Recipient, Sender, StopRequest, Task, Tx};

use super::Verdict;
use super::trial::ConflictingTask;
use crate::call::cx::find_task;
use crate::core::error::ToolError;
use crate::core::settings::Settings;
use crate::delivery::merge_queue::{self, Details, NOBODY_WORKS, worker_of};
use crate::mail::outgoing::{self, MailText, OutgoingMail};
use crate::tasks::task_change::{self, Mover};

/// Writes down what became of approved work.
pub(super) fn record(
    tx: &mut Tx<'_>,
    settings: &Settings,
    merge: &Merge,
    verdict: &Verdict,
    others: &[ConflictingTask],
    now: Timestamp,
) -> Result<Value, ToolError> {
    let task = find_task(tx, &TaskRef::Id(merge.task))?;
    match verdict {
        Verdict::In(commit) => {
            merged(tx, settings, merge, task, commit, now)?;
            for other in others {
                block(tx, merge, other, now)?;
            }
            Ok(json!({ "status": MergeState::Merged, "commit": commit }))
        }
        Verdict::Back(reason, details) => {
            sent_back(tx, merge, task, reason, details, now)?;
            Ok(json!({ "status": MergeState::SentBack, "reason": reason }))
        }
        Verdict::Held(reason, details) => {
            held(tx, merge, &task, reason, details, now)?;
            Ok(json!({ "status": MergeState::Held, "reason": reason }))
        }
    }
}

/// The work is in: the task is done, and the agent that did it can go.
fn merged(
    tx: &mut Tx<'_>,
    settings: &Settings,
    merge: &Merge,
    mut task: Task,
    commit: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    let by = (merge.approved_by, now);
    let change = MergeChange { merged: Some(commit), ..MergeChange::default() };
    merge_queue::tell(tx, merge, MergeState::Merged, change, now)?;
    let worker = worker_of(tx, &task)?;
    let message = format!("Merged into `{}` as {commit}.", merge.target);
    task_change::remark(tx, &task, &message, by)?;
    // A later move has no effect: the work is merged.
    merge_queue::complete(tx, &mut task, by)?;
    let reason = format!("its work was merged into `{}`", merge.target);
    let stop = StopRequest { outcome: Outcome::Succeeded, reason };
    merge_queue::retire(tx, settings, worker.as_ref(), &task, &stop, Some(&merge.branch), now)
}

/// A task that has no branch of its own is done when it is approved.
pub(super) fn without_branch(
    tx: &mut Tx<'_>,
    settings: &Settings,
    task: &mut Task,
    by: Mover,
) -> Result<(), ToolError> {
    let worker = worker_of(tx, task)?;
    merge_queue::complete(tx, task, by)?;
    let reason = "its work was approved".to_owned();
    let stop = StopRequest { outcome: Outcome::Succeeded, reason };
    merge_queue::retire(tx, settings, worker.as_ref(), task, &stop, None, by.1)
}

/// Writes down why a merge did not happen.
fn not_merged(
    tx: &mut Tx<'_>,
    merge: &Merge,
    state: MergeState,
    reason: &str,
    details: &Details,
    now: Timestamp,
) -> Result<(), ToolError> {
    let kept = serde_json::to_string(details).map_err(ToolError::internal)?;
    let change =
        MergeChange { reason: Some(reason), details: Some(&kept), ..MergeChange::default() };
    merge_queue::tell(tx, merge, state, change, now)
}

/// The work does not fit: the agent that did it, or the next one, looks at it again.
fn sent_back(
    tx: &mut Tx<'_>,
    merge: &Merge,
    mut task: Task,
    reason: &str,
    details: &Details,
    now: Timestamp,
) -> Result<(), ToolError> {
    not_merged(tx, merge, MergeState::SentBack, reason, details, now)?;
    let worker = worker_of(tx, &task)?;
    let by = (merge.approved_by, now);
    let live = merge_queue::hold_back(tx, &mut task, by)?;
    let (head, found, advice) = words(merge, details);
    let text = format!("Not merged: {reason}.{found}");
    task_change::remark(tx, &task, &text, by)?;
    let next = if live.is_some() {
        format!("{advice} Then submit it again with `update_status` and `REVIEW`.")
    } else {
        format!("{NOBODY_WORKS} {advice}")
    };
    let number = TaskRef::Number(task.number);
    let word = MailText {
        subject: format!("{head}: {number} {}", task.title),
        body: format!(
            "{number} (`{}`, branch `{}`) was approved and could not be merged into `{}`: {reason}.\
             {found}\n\n{next}",
            task.slug, merge.branch, merge.target
        ),
    };
    let from = Sender::System(merge.approved_by);
    merge_queue::write_to(tx, &task, worker.as_ref(), from, word, now)?;
    Ok(())
}

/// Describes a failed merge: kind, findings and advice.
fn words(merge: &Merge, details: &Details) -> (&'static str, String, String) {
    if !details.conflicts.is_empty() {
        let found = format!("\n\nIn conflict:\n{}", merge_queue::places(&details.conflicts));
        let advice = format!(
            "Put the work on top of `{}` with `git_rebase`, resolve what does not fit, and commit.",
            merge.target
        );
        return ("Merge Conflict", found, advice);
    }
    let programs = [
        ("check", "Check Failed", &details.check_output),
        ("set-up", "Set-Up Failed", &details.setup_output),
    ];
    for (program, head, output) in programs {
        let Some(output) = output else { continue };
        let advice = format!("Mend what the {program} found, and commit.");
        return (head, output_of(program, output), advice);
    }
    ("Not Merged", String::new(), "Mend that, and commit.".to_owned())
}

/// The end of a program's output, for a mail.
fn output_of(program: &str, output: &str) -> String {
    if output.trim().is_empty() {
        return String::new();
    }
    let quoted = output.replace('\n', "\n    ");
    format!("\n\nThe end of what the {program} said:\n\n    {quoted}")
}

/// A person has to see to something, and is told what.
fn held(
    tx: &mut Tx<'_>,
    merge: &Merge,
    task: &Task,
    reason: &str,
    details: &Details,
    now: Timestamp,
) -> Result<(), ToolError> {
    not_merged(tx, merge, MergeState::Held, reason, details, now)?;
    let number = TaskRef::Number(task.number);
    let message = details.setup_output.as_deref().map(|output| output_of("set-up", output));
    let message = message.unwrap_or_default();
    let body = format!(
        "{number} (`{}`) was approved and waits: {reason}.{message}\n\nOnce that is done, \
         `adjutant merge-queue retry {}` puts it back into the queue; approving it again does the same.",
        task.slug, merge.id
    );
    let subject = format!("Merge Held: {number} {}", task.title);
    let from = Sender::System(merge.approved_by);
    let (to, task) = (Recipient::Human, Some(task.id));
    outgoing::send(tx, OutgoingMail { from, to, subject, body, reply_to: None, task }, now)?;
    Ok(())
}

/// Another task in review does not fit any more: it has to be put on top of what came in.
fn block(
    tx: &mut Tx<'_>,
    merge: &Merge,
    other: &ConflictingTask,
    now: Timestamp,
) -> Result<(), ToolError> {
    let mut task = find_task(tx, &TaskRef::Id(other.task))?;
    let queued = tx.merge_of(task.id)?.is_some_and(|merge| merge.ended_at.is_none());
    if task.state.name() != TaskStateName::Review || queued {
        return Ok(());
    }
    let came = find_task(tx, &TaskRef::Id(merge.task))?;
    let (number, before) = (TaskRef::Number(task.number), TaskRef::Number(came.number));
    let worker = worker_of(tx, &task)?;
    let by = (merge.approved_by, now);
    let reason = format!("it conflicts with {before}, which is on `{}` now", merge.target);
    task_change::apply(tx, &mut task, TaskMove::Block { reason: Some(reason.clone()) }, by)?;
    let places = merge_queue::places(&other.conflicts);
    task_change::remark(tx, &task, &format!("Rebase required: {reason}.\n\n{places}"), by)?;
    let word = MailText {
        subject: format!("Rebase Required: {number} {}", task.title),
        body: format!(
            "{number} (`{}`) waited to be approved. Meanwhile {before} (`{}`) was merged into `{}`, and \
             the two do not fit:\n\n{places}\n\nCall `git_rebase`, resolve what does not fit, and \
             commit. Then set the task to `IN_PROGRESS` and hand it in again with `REVIEW`, both with \
             `update_status`.",
            task.slug, came.slug, merge.target
        ),
    };
    let from = Sender::System(merge.approved_by);
    merge_queue::write_to(tx, &task, worker.as_ref(), from, word, now)?;
    Ok(())
}
