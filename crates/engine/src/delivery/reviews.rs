//! Reviews: what follows when one begins, ends, stays silent or takes too long.

pub(crate) mod acts;
mod at_end;
pub(crate) mod prompt;
pub(crate) mod view;
mod words;

use model::agent::{AgentEvent, AgentState, Outcome};
use model::review::{FeedbackType, OutboxJobKind, ReviewLimits, ReviewState};
use model::{AgentId, Timestamp};
use store::{
    Agent, EventDraft, Recipient, Review, ReviewChange, ReviewPage, Sender, StopRequest, Tx,
};
use wire::event::{EventData, ReviewEnded};

use at_end::ask_at_end;
pub(crate) use at_end::note_no_reviewer;
pub(crate) use words::deliver;
use words::{CutShort, LastWords};

use crate::core::error::{Code, ToolError};
use crate::core::handle::Core;
use crate::core::settings::Settings;
use crate::crew::hooks::{AfterProcess, ProcessEnd};
use crate::crew::run::finish::RunProgress;
use crate::crew::run::{reconcile, stop};
use crate::crew::transition;
use crate::mail::outgoing::{self, MailText, OutgoingMail};

/// The file by which feedback comes.
pub(crate) const FEEDBACK_FILE: &str = "REVIEW_FEEDBACK.md";
/// Open reviews read at once.
const REVIEW_PAGE: u32 = 1000;

/// Review history of an agent, with its limits. An agent that
/// goes on for another counts that one's reviews as its own.
pub(crate) fn history(
    tx: &Tx<'_>,
    settings: &Settings,
    coder: AgentId,
) -> Result<(u32, u32, ReviewLimits), ToolError> {
    let (mut iterations, mut failures, mut more) = (0, 0, 0);
    let mut next = Some(coder);
    while let Some(id) = next {
        for review in tx.reviews_of(id)? {
            iterations += u32::from(review.state != ReviewState::Undone);
            failures += u32::from(review.failed);
        }
        more += tx.review_allowance(id)?;
        next = tx.run_get(id)?.and_then(|run| run.resumed_from);
    }
    let limits = ReviewLimits {
        max_iterations: settings.review.max_iterations,
        more,
        abandon_after: settings.review.auto_abandon_after,
    };
    Ok((iterations, failures, limits))
}

/// That an agent has had all the reviews it may have: the seed's words and fields.
pub(crate) fn limit_error(coder: AgentId, limit: u32) -> ToolError {
    let message = format!("Maximum review iterations ({limit}) reached for agent {coder}");
    ToolError::new(Code::ReviewLimitExceeded, message)
        .hint("Create pull request with current work")
        .hint("Abandon this approach and try different solution")
        .hint("Manually review and fix issues before requesting review")
        .detail("current_iteration", limit)
        .detail("max_iterations", limit)
}

/// End of a review.
#[derive(Debug, Clone)]
pub(crate) struct Closing {
    /// State
    pub(crate) state: ReviewState,
    /// Verdict of the reviewer
    pub(crate) feedback: Option<FeedbackType>,
    /// Mail to the coder
    pub(crate) word: MailText,
}

/// Writes down how a review ended, and tells of it.
fn conclude(
    tx: &mut Tx<'_>,
    review: &Review,
    change: ReviewChange,
    now: Timestamp,
) -> Result<(), ToolError> {
    tx.review_set(review.reviewer, change, now)?;
    let ReviewChange { state, failed } = change;
    let data = EventData::ReviewEnded(ReviewEnded {
        coder_id: review.coder,
        reviewer_id: review.reviewer,
        iteration: review.iteration,
        state,
        failed,
    });
    tell(tx, review.coder, data, now)
}

/// Ends a review: the coder goes on, told why; after too many failures it is abandoned.
pub(crate) fn close(
    tx: &mut Tx<'_>,
    settings: &Settings,
    review: &Review,
    closing: &Closing,
    now: Timestamp,
) -> Result<(), ToolError> {
    let failed = closing.state.is_failed(closing.feedback);
    conclude(tx, review, ReviewChange { state: closing.state, failed }, now)?;
    wake(tx, settings, review, closing, now)?;
    let (_, failures, limits) = history(tx, settings, review.coder)?;
    if failed && limits.abandons(failures) {
        let reason = format!("abandoned: {failures} of its reviews failed");
        abandon(tx, settings, review.coder, &reason, now)?;
    }
    Ok(())
}

/// Lets a coder go on: it is written to, and one whose process has ended is started again. If its work was
/// approved there is nothing to start it for, and it is done.
fn wake(
    tx: &mut Tx<'_>,
    settings: &Settings,
    review: &Review,
    closing: &Closing,
    now: Timestamp,
) -> Result<(), ToolError> {
    let word = &closing.word;
    let Some(mut coder) = tx.agent_get(review.coder)? else { return Ok(()) };
    if coder.ended_at().is_some() {
        return Ok(());
    }
    let reviewer = tx.agent_get(review.reviewer)?;
    let has_verdict = closing.feedback.is_some() || closing.state == ReviewState::Approved;
    let from = match reviewer {
        Some(reviewer) if has_verdict => Sender::Agent(reviewer.id, reviewer.category),
        _ => Sender::System(Some(review.reviewer)),
    };
    let to = Recipient::Agent(coder.id);
    let (subject, body) = (word.subject.clone(), word.body.clone());
    let outgoing = OutgoingMail { from, to, subject, body, reply_to: None, task: coder.task };
    let mail = outgoing::send(tx, outgoing, now)?;
    let parked = tx.run_get(coder.id)?.is_some_and(|run| run.parked_at.is_some());
    if parked {
        // Its next attempt is told by its prompt.
        tx.mail_mark_read(mail, now)?;
        if closing.state == ReviewState::Approved {
            let request = StopRequest { outcome: Outcome::Succeeded, reason: word.subject.clone() };
            return stop::stop_tree(tx, settings, coder.id, &request, now);
        }
        tx.run_next_prompt(coder.id, &format!("{}\n\n{}", word.subject, word.body))?;
        return reconcile::requeue(tx, settings, coder.id, now);
    }
    if coder.state == AgentState::WaitingReview {
        transition::advance(tx, &mut coder, AgentEvent::Continued, now)?;
    }
    Ok(())
}

/// Gives an agent's work up: it ends, its reviewer too, and its worktree is taken away once what is
/// in it is safe.
pub(crate) fn abandon(
    tx: &mut Tx<'_>,
    settings: &Settings,
    coder: AgentId,
    reason: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    tx.worktree_unwanted(coder)?;
    let request = StopRequest { outcome: Outcome::Abandoned, reason: reason.to_owned() };
    stop::stop_tree(tx, settings, coder, &request, now)
}

/// Handles the end of an agent that takes part in reviews.
pub(crate) fn ended(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    now: Timestamp,
) -> Result<(), ToolError> {
    if let Some(review) = tx.review_open_of(agent.id)? {
        let undone = ReviewChange { state: ReviewState::Undone, failed: false };
        conclude(tx, &review, undone, now)?;
        let reason = format!("the author of the reviewed work, {}, has ended", agent.id);
        let request = StopRequest { outcome: Outcome::Killed, reason };
        stop::stop_tree(tx, settings, review.reviewer, &request, now)?;
    }
    let Some(review) = tx.review_by(agent.id)?.filter(|review| !review.state.is_over()) else {
        return Ok(());
    };
    // Its feedback is on its way, and ends the review when it arrives.
    let on_its_way = tx.outbox_job_open_of(OutboxJobKind::Feedback, review.coder)?;
    if on_its_way.is_some_and(|job| job.caller == Some(agent.id)) {
        return Ok(());
    }
    let text = match words::last_words(tx, agent)? {
        Some(LastWords::Feedback(text)) => return deliver(tx, settings, &review, &text, now),
        Some(LastWords::Said(text)) => Some(text),
        None => None,
    };
    let (_, failures, limits) = history(tx, settings, review.coder)?;
    let reason = match &agent.state {
        AgentState::Ended { reason, .. } => reason.as_str(),
        _ => "for an unknown reason",
    };
    let why = format!(
        "The reviewer {} ended without feedback and without a pull request: {}, {reason}.",
        agent.id,
        agent.state.name(),
    );
    let next = format!(
        "This counts as a failed review ({} of {}). Look at your work once more yourself, then call \
         `request_review` again, or open the pull request with `create_pull_request`.",
        failures + 1,
        limits.abandon_after,
    );
    let cut_short = CutShort { state: ReviewState::Silent, last_text: text.as_deref(), why, next };
    words::cut_short(tx, settings, &review, cut_short, now)
}

/// Decides what becomes of an agent whose process has ended: one that waits for a review is not over, one that ended
/// without having heard what the review said goes on with it, and one whose work needs a reviewer gets one.
pub(crate) fn after_process(
    tx: &mut Tx<'_>,
    settings: &Settings,
    end: &ProcessEnd<'_>,
) -> Result<AfterProcess, ToolError> {
    let &ProcessEnd { agent, outcome, is_stopped, lasted, left_work, now } = end;
    let by_itself = !is_stopped && matches!(outcome, Outcome::Succeeded | Outcome::Failed);
    if by_itself && waits(tx, agent)? {
        return Ok(AfterProcess::Parked);
    }
    if is_stopped || outcome != Outcome::Succeeded {
        return Ok(AfterProcess::Over);
    }
    if let Some(unheard) = unheard(tx, settings, agent, lasted, now)? {
        return Ok(AfterProcess::GoesOn(unheard));
    }
    if left_work && ask_at_end(tx, settings, agent, lasted.head.as_deref(), now)? {
        return Ok(AfterProcess::Parked);
    }
    Ok(AfterProcess::Over)
}

/// True if an agent waits for a review, so that its process may end before it does.
fn waits(tx: &Tx<'_>, agent: &Agent) -> Result<bool, ToolError> {
    Ok(agent.state == AgentState::WaitingReview && tx.review_open_of(agent.id)?.is_some())
}

/// Returns review feedback that an agent ended without hearing. It is delivered again once, by its
/// next attempt; an end after that is its end.
///
/// An agent has heard it if it gave any sign of life since, if it committed on top of the feedback, or if its
/// process lived on for longer than one that was leaving anyway would have.
fn unheard(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    lasted: &RunProgress,
    now: Timestamp,
) -> Result<Option<String>, ToolError> {
    let last = tx.reviews_of(agent.id)?.pop();
    let Some(ended) = last.as_ref().and_then(|review| review.ended_at) else { return Ok(None) };
    let told = last.as_ref().is_some_and(|review| {
        matches!(review.state, ReviewState::Feedback | ReviewState::Silent | ReviewState::TimedOut)
    });
    let grace = i64::try_from(settings.limits.grace_ms).unwrap_or(i64::MAX);
    let lived_on = lasted.until.is_some_and(|until| until > ended.after_millis(grace));
    if !told || agent.last_active_at > ended || lived_on {
        return Ok(None);
    }
    let from = last.map(|review| review.reviewer);
    let feedback = tx.feedback_of(agent.id)?.into_iter().rev();
    let merge = feedback.filter(|text| Some(text.reviewer) == from).find_map(|text| text.commit);
    if merge.is_some() && lasted.head.is_some() && merge != lasted.head {
        return Ok(None);
    }
    // All of them are told now, so that none of them is a reason to tell it once more.
    let inbox = tx.mail_inbox(Recipient::Agent(agent.id), store::Inbox::Unread, 0, REVIEW_PAGE)?;
    let mut words = Vec::new();
    for mail in inbox.items.into_iter().filter(|mail| mail.from == from) {
        tx.mail_mark_read(mail.id, now)?;
        let mail = tx.mail_exact(mail)?;
        words.push(format!("{}\n\n{}", mail.subject, mail.body));
    }
    Ok((!words.is_empty()).then(|| words.join("\n\n")))
}

/// Ends reviews that take too long and reviewers that are done. Returns when to look again.
pub(crate) async fn sweep(engine: &Core, now: Timestamp) -> Result<Option<Timestamp>, ToolError> {
    let settings = engine.settings();
    let patience = i64::from(settings.review.timeout_hours).saturating_mul(3_600_000);
    let grace = i64::try_from(settings.limits.grace_ms).unwrap_or(5_000);
    let (open, lingering) = engine.store.read(|tx| {
        let open = tx.review_page(ReviewPage::Open, 0, REVIEW_PAGE)?.items;
        Ok::<_, ToolError>((open, tx.reviewers_lingering()?))
    })?;
    let (late, waiting): (Vec<_>, Vec<_>) =
        open.into_iter().partition(|review| review.created_at.after_millis(patience) <= now);
    let (done, staying): (Vec<_>, Vec<_>) =
        lingering.into_iter().partition(|(_, ended)| ended.after_millis(grace) <= now);
    let next = waiting.iter().map(|review| review.created_at.after_millis(patience));
    let next = next.chain(staying.iter().map(|(_, ended)| ended.after_millis(grace))).min();
    if late.is_empty() && done.is_empty() {
        return Ok(next);
    }
    let mut ending = Vec::new();
    for review in late {
        let text = words::words_so_far(engine, review.reviewer).await?;
        ending.push((review, text));
    }
    engine
        .store
        .write(move |tx| {
            for (review, text) in &ending {
                time_out(tx, &settings, review, text, now)?;
            }
            for (reviewer, _) in &done {
                let reason = "its review is done".to_owned();
                let request = StopRequest { outcome: Outcome::Succeeded, reason };
                stop::stop_tree(tx, &settings, *reviewer, &request, now)?;
            }
            Ok::<_, ToolError>(())
        })
        .await?;
    Ok(next)
}

fn time_out(
    tx: &mut Tx<'_>,
    settings: &Settings,
    review: &Review,
    text: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    // It may have ended since it was looked at.
    let Some(review) = tx.review_by(review.reviewer)?.filter(|review| !review.state.is_over())
    else {
        return Ok(());
    };
    let hours = settings.review.timeout_hours;
    let why = format!(
        "The reviewer {} did not come to an end within {hours} hours and was stopped.",
        review.reviewer
    );
    let next = "This counts as a failed review. Call `request_review` again, or open the pull request yourself with \
                `create_pull_request`."
        .to_owned();
    let text = Some(text).filter(|text| !text.is_empty());
    let cut_short = CutShort { state: ReviewState::TimedOut, last_text: text, why, next };
    words::cut_short(tx, settings, &review, cut_short, now)?;
    let reason = format!("its review was not over after {hours} hours");
    let request = StopRequest { outcome: Outcome::TimedOut, reason };
    stop::stop_tree(tx, settings, review.reviewer, &request, now)
}

/// Tells of something that happened to an agent.
pub(crate) fn tell(
    tx: &mut Tx<'_>,
    agent: AgentId,
    data: EventData,
    now: Timestamp,
) -> Result<(), ToolError> {
    let task = tx.agent_get(agent)?.and_then(|agent| agent.task);
    tx.event_append(now, &EventDraft { agent: Some(agent), task, data })?;
    Ok(())
}
