//! Words of a reviewer that ended without a call, or took too long: they reach the author all the same.

use model::agent::{AgentState, Outcome};
use model::review::{FeedbackType, ReviewState};
use model::{AgentId, FeedbackId, Timestamp};
use store::{Agent, Feedback, Review, Tx};
use wire::event::{EventData, ReviewFeedback};

use super::{Closing, close, tell};
use crate::call::cx::fresh;
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::machine::folder_of;
use crate::core::redact::redact;
use crate::core::settings::Settings;
use crate::crew::result::AgentResult;
use crate::crew::run::last_message::last_message;
use crate::mail::outgoing::MailText;

/// Characters kept of a reviewer's last words.
const MAX_WORDS: usize = 50_000;

/// Words of a reviewer that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LastWords {
    /// Feedback: it ended well with them, or they list issues or questions
    Feedback(String),
    /// Its last message before it ended otherwise
    Said(String),
}

/// Words in a reviewer's result: what it ended with, and the issues and questions it lists.
pub(super) fn last_words(tx: &Tx<'_>, reviewer: &Agent) -> Result<Option<LastWords>, ToolError> {
    let AgentState::Ended { outcome, reason, .. } = &reviewer.state else { return Ok(None) };
    let result = tx.run_get(reviewer.id)?.and_then(|run| run.result);
    let Some(result) = AgentResult::decode(result.as_deref(), reviewer.id)? else {
        return Ok(None);
    };
    let mut parts = Vec::new();
    let is_done = *outcome == Outcome::Succeeded;
    let has_summary = is_done && result.summary != *reason;
    let own = if has_summary { result.summary } else { result.last_messages };
    if !own.trim().is_empty() && own != *reason {
        parts.push(own);
    }
    let mut is_feedback = is_done;
    for (title, items) in [("Issues", result.issues), ("Questions", result.questions)] {
        // Why it failed is no word about the work.
        let items: Vec<String> =
            items.iter().filter(|item| *item != reason).map(|item| format!("- {item}")).collect();
        if !items.is_empty() {
            is_feedback = true;
            parts.push(format!("## {title}\n\n{}", items.join("\n")));
        }
    }
    let words: String = parts.join("\n\n").chars().take(MAX_WORDS).collect();
    if words.trim().is_empty() {
        return Ok(None);
    }
    let words = redact(words);
    Ok(Some(if is_feedback { LastWords::Feedback(words) } else { LastWords::Said(words) }))
}

/// The last message of a reviewer that is not over; empty if it has written none.
pub(super) async fn words_so_far(engine: &Core, reviewer: AgentId) -> Result<String, ToolError> {
    let Some(agent) = engine.store.read(|tx| tx.agent_get(reviewer))? else {
        return Ok(String::new());
    };
    let read = engine.outside(move |engine| {
        last_message(&agent.kind, &folder_of(engine, &agent), |_| false)
            .map_err(ToolError::internal)
    });
    // Its output may be gone or damaged; that its review is over counts more.
    Ok(redact(read.await.unwrap_or_default()))
}

/// A review that ended before it was done.
#[derive(Debug)]
pub(super) struct CutShort<'a> {
    /// How
    pub(super) state: ReviewState,
    /// Its reviewer's last message, if any
    pub(super) last_text: Option<&'a str>,
    /// What happened, for its author
    pub(super) why: String,
    /// What its author does next
    pub(super) next: String,
}

/// Ends a review that was not done. Its reviewer's last message is kept as feedback and sent to the author.
pub(super) fn cut_short(
    tx: &mut Tx<'_>,
    settings: &Settings,
    review: &Review,
    cut_short: CutShort<'_>,
    now: Timestamp,
) -> Result<(), ToolError> {
    let CutShort { state, last_text, why, next } = cut_short;
    let subject = match (state, last_text) {
        (ReviewState::TimedOut, _) => "Your review took too long",
        (_, Some(_)) => "Your review broke off",
        (_, None) => "Your review came to nothing",
    };
    let body = match last_text {
        Some(last_text) => format!("{why} This is what it said last:\n\n{last_text}\n\n{next}"),
        None => format!("{why}\n{next}"),
    };
    let feedback = last_text.map(|last_text| record(tx, review, last_text, now)).transpose()?;
    let word = MailText { subject: subject.to_owned(), body };
    close(tx, settings, review, &Closing { state, feedback, word }, now)
}

/// Records words as suggestions of a reviewer.
fn record(
    tx: &mut Tx<'_>,
    review: &Review,
    words: &str,
    now: Timestamp,
) -> Result<FeedbackType, ToolError> {
    let (id, kind) = (fresh(FeedbackId::from_bits)?, FeedbackType::Suggestions);
    tx.feedback_insert(&Feedback {
        id,
        reviewer: review.reviewer,
        coder: review.coder,
        kind,
        priority: None,
        body: words.to_owned(),
        items: Vec::new(),
        commit: None,
        created_at: now,
    })?;
    let data = EventData::ReviewFeedback(ReviewFeedback {
        feedback_id: id,
        reviewer_id: review.reviewer,
        kind: Some(kind),
        iteration: Some(review.iteration),
        commit: None,
    });
    tell(tx, review.coder, data, now)?;
    Ok(kind)
}

/// Ends a review with its reviewer's last message, by mail.
pub(crate) fn deliver(
    tx: &mut Tx<'_>,
    settings: &Settings,
    review: &Review,
    words: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    let kind = record(tx, review, words, now)?;
    let word = MailText {
        subject: format!("Review {}: {kind}", review.iteration),
        body: format!(
            "The reviewer {} ended without calling `send_feedback`. These are its last words:\n\n{words}\n\nAnswer them \
             point by point, and commit what you change.",
            review.reviewer
        ),
    };
    let closing = Closing { state: ReviewState::Feedback, feedback: Some(kind), word };
    close(tx, settings, review, &closing, now)
}
