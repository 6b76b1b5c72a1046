//! Words of a reviewer that ended without a call: they reach the author all the same.

use model::agent::{AgentState, Outcome};
use model::review::{FeedbackType, ReviewState};
use model::{FeedbackId, Timestamp};
use store::{Agent, Feedback, Review, Tx};
use wire::event::{EventData, ReviewFeedback};

use super::{Closing, close, tell};
use crate::call::cx::fresh;
use crate::core::error::ToolError;
use crate::core::redact::redact;
use crate::core::settings::Settings;
use crate::crew::result::AgentResult;
use crate::mail::letter::Word;

/// Characters kept of a reviewer's last words.
const MAX_WORDS: usize = 50_000;

/// Feedback in a reviewer's result: its summary if it ended well, and the issues and questions it lists in any case.
pub(super) fn last_words(tx: &Tx<'_>, reviewer: &Agent) -> Result<Option<String>, ToolError> {
    let AgentState::Ended { outcome, reason, .. } = &reviewer.state else { return Ok(None) };
    let result = tx.run_get(reviewer.id)?.and_then(|run| run.result);
    let Some(result) = AgentResult::decode(result.as_deref(), reviewer.id)? else {
        return Ok(None);
    };
    let mut parts = Vec::new();
    if *outcome == Outcome::Succeeded && !result.summary.is_empty() && result.summary != *reason {
        parts.push(result.summary);
    }
    for (title, items) in [("Issues", result.issues), ("Questions", result.questions)] {
        // Why it failed is no word about the work.
        let items: Vec<String> =
            items.iter().filter(|item| *item != reason).map(|item| format!("- {item}")).collect();
        if !items.is_empty() {
            parts.push(format!("## {title}\n\n{}", items.join("\n")));
        }
    }
    let words: String = parts.join("\n\n").chars().take(MAX_WORDS).collect();
    Ok((!words.trim().is_empty()).then(|| redact(words)))
}

/// Ends a review with what its reviewer said last, by mail.
pub(crate) fn deliver(
    tx: &mut Tx<'_>,
    settings: &Settings,
    review: &Review,
    words: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
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
    let word = Word {
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
