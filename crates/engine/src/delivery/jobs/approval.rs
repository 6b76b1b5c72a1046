//! What follows when a reviewer approves work: a person decides, it is merged, or a pull request was opened.

use model::review::{OnApproval, OutboxJobKind, ReviewRequired, ReviewState};
use model::task::{TaskMove, TaskRef, TaskStateName};
use model::{MergeId, OutboxJobId, Timestamp};
use store::{Agent, Review, Sender, Task, Tx};

use crate::call::cx::{fresh, task_of};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::settings::Settings;
use crate::crew::run::required_review::required_review;
use crate::delivery::github;
use crate::delivery::merge_queue;
use crate::delivery::outbox::params::MergeJob;
use crate::delivery::outbox::{self, NewJob};
use crate::delivery::reviews::{Closing, close};
use crate::mail::outgoing::MailText;
use crate::tasks::task_change;

/// What follows an approval: as configured, else a pull request where the remote is on GitHub and there is a token.
/// Blocks.
pub(super) fn consequence(core: &Core) -> OnApproval {
    let configured = core.settings().review.on_approval;
    configured.unwrap_or_else(|| {
        let repo = || core.repo(&core.options.project).map_err(ToolError::from);
        let has_token =
            core.options.github.token.as_deref().is_some_and(|token| !token.trim().is_empty());
        if has_token && repo().and_then(|repo| github::remote(core, &repo)).is_ok() {
            OnApproval::PullRequest
        } else {
            OnApproval::Person
        }
    })
}

/// An approval that is to be recorded.
#[derive(Debug)]
pub(super) struct Approval<'a> {
    /// The review
    pub(super) review: &'a Review,
    /// The reviewer's words
    pub(super) words: &'a str,
    /// What follows; a pull request that could not be opened leaves it to a person
    pub(super) follows: OnApproval,
    /// Why no pull request was opened, where one should have been
    pub(super) problem: Option<&'a str>,
}

/// Ends a review with an approval. The work is handed in, so that a person or a supervisor decides, or is merged.
pub(super) fn record(
    tx: &mut Tx<'_>,
    settings: &Settings,
    approval: &Approval<'_>,
    now: Timestamp,
) -> Result<(), ToolError> {
    let &Approval { review, words, follows, problem } = approval;
    let coder = tx.agent_get(review.coder)?;
    let task = coder.as_ref().map(|coder| task_of(tx, coder.task)).transpose()?.flatten();
    let in_epic = task.as_ref().is_some_and(|task| task.epic.is_some());
    // The supervisor of an epic decides about its tasks.
    let follows = if in_epic { OnApproval::Person } else { follows };
    let handed_in = match (&coder, task) {
        (Some(coder), Some(task)) => hand_in(tx, settings, coder, task, follows, now)?,
        _ => None,
    };
    let merges = follows == OnApproval::Merge;
    let next = match &handed_in {
        Some(task) if merges => format!("{} is merged now.", TaskRef::Number(task.number)),
        Some(task) => format!("{} waits until a person merges it.", TaskRef::Number(task.number)),
        None => "Continue with the rest of your task.".to_owned(),
    };
    let word = MailText {
        subject: format!("Review {}: approved", review.iteration),
        body: format!("{}\n\n{next} No changes are requested.", words.trim_end()),
    };
    close(
        tx,
        settings,
        review,
        &Closing { state: ReviewState::Approved, feedback: None, word },
        now,
    )?;
    let Some(task) = handed_in else { return Ok(()) };
    if merges {
        return merge(tx, review, &task, now);
    }
    tell_decider(tx, approval, &task, problem, now)
}

/// Moves the coder's task to review, if it is decided there. Work that needs no review goes on as before,
/// unless it is to be merged.
fn hand_in(
    tx: &mut Tx<'_>,
    settings: &Settings,
    coder: &Agent,
    mut task: Task,
    follows: OnApproval,
    now: Timestamp,
) -> Result<Option<Task>, ToolError> {
    let is_enlisted = coder.kind == "enlisted" && coder.parent.is_none();
    let decided = follows == OnApproval::Merge
        || is_enlisted
        || task.epic.is_some()
        || required_review(tx, settings, coder)? != ReviewRequired::Never;
    let is_holder = task.state.claim().is_some_and(|claim| claim.holder == coder.id);
    if !decided || !is_holder {
        return Ok(None);
    }
    if task.state.name() == TaskStateName::InProgress {
        task_change::apply(tx, &mut task, TaskMove::Submit, (Some(coder.id), now))?;
    }
    Ok((task.state.name() == TaskStateName::Review).then_some(task))
}

/// Has approved work merged, as it was when it was approved.
fn merge(tx: &mut Tx<'_>, review: &Review, task: &Task, now: Timestamp) -> Result<(), ToolError> {
    let merge = fresh(MergeId::from_bits)?;
    let params = MergeJob::Pin {
        merge,
        task: task.id,
        job: fresh(OutboxJobId::from_bits)?,
        squash: None,
        commit: Some(review.commit.clone()),
    };
    let sending = NewJob {
        kind: OutboxJobKind::Merge,
        lane: format!("approval:{merge}"),
        agent: Some(review.coder),
        caller: Some(review.reviewer),
        params: &params,
    };
    outbox::send(tx, sending, now)?;
    Ok(())
}

/// Writes to the supervisor of the task's epic, else to the human, that work was approved and waits.
fn tell_decider(
    tx: &mut Tx<'_>,
    approval: &Approval<'_>,
    task: &Task,
    problem: Option<&str>,
    now: Timestamp,
) -> Result<(), ToolError> {
    let (review, number) = (approval.review, TaskRef::Number(task.number));
    let failed = problem.map(|why| format!("\n\nNo pull request was opened: {why}."));
    let body = format!(
        "The reviewer {} approved `{}` at {}:\n\n{}{}\n\nSee the changes with `adjutant review show {number}`, merge them \
         with `adjutant review approve {number}`.",
        review.reviewer,
        review.branch,
        review.commit,
        approval.words.trim_end(),
        failed.unwrap_or_default()
    );
    let word = MailText { subject: format!("Review Passed: {number} {}", task.title), body };
    merge_queue::write_to(tx, task, None, Sender::System(Some(review.reviewer)), word, now)?;
    Ok(())
}
