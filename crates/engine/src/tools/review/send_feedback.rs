//! `mcp__review__send_feedback`

use model::review::{FeedbackPriority, FeedbackType, OutboxJobKind};
use model::{AgentId, FeedbackId, OutboxJobId, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::reviews::{ActionStatus, SentFeedback};

use crate::call::cx::{ReadCx, WriteCx, fresh};
use crate::call::tool::{Ask, Look, Tool};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::delivery::outbox::params::FeedbackJob;
use crate::delivery::outbox::{self, NewJob, lane_of};
use crate::tools::items::Items;

/// Longest wait for the feedback to be delivered, in seconds.
const WAIT: u32 = 120;

/// Send your review to the author
///
/// Your feedback is written to `REVIEW_FEEDBACK.md` and merged into the author's worktree. With
/// `approved` no file is written, and the work is ready to be merged. This ends your review: stop
/// after this call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Findings: files, lines, what goes wrong and when, and the right behaviour
    feedback: Text<100_000>,
    /// Verdict: must be changed, could be improved, is unclear, or is good as it is
    feedback_type: FeedbackType,
    /// Priority
    priority: Option<FeedbackPriority>,
    /// Action items
    actionable_items: Option<Items<Text<2_000>, 0, 100>>,
}

/// Handle of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ticket {
    #[serde(rename = "errand")]
    job: OutboxJobId,
    feedback: FeedbackId,
    coder: AgentId,
}

/// Answer of the outbox job.
#[derive(Debug, Deserialize)]
struct Delivered {
    git_commit_hash: Option<String>,
    delivered_by: String,
}

pub(crate) struct SendFeedback;

impl Tool for SendFeedback {
    const NAME: &'static str = "mcp__review__send_feedback";
    const BOUNDED: bool = true;
    type Args = Args;
    type Answer = SentFeedback;
}

impl Ask for SendFeedback {
    type Ticket = Ticket;

    fn begin(cx: &mut WriteCx<'_, '_>, args: &Args) -> Result<Ticket, ToolError> {
        let reviewer = cx.caller.agent()?.id;
        let review = cx.tx.review_by(reviewer)?.ok_or_else(|| {
            ToolError::wrong_state("you have no review")
                .hint("write to an agent with the tool `send` of the toolset `mail`")
        })?;
        let waiting = cx.tx.outbox_job_open_of(OutboxJobKind::Feedback, review.coder)?;
        if review.state.is_over() || waiting.is_some_and(|open| open.caller == Some(reviewer)) {
            return Err(ToolError::wrong_state(
                "your review has ended: you already gave your verdict",
            )
            .hint("stop here; send further remarks by mail"));
        }
        if args.feedback.trim().is_empty() {
            return Err(ToolError::invalid("`feedback` is empty"));
        }
        let id = fresh(FeedbackId::from_bits)?;
        let items = args.actionable_items.as_ref().map(Items::as_slice).unwrap_or_default();
        let params = FeedbackJob {
            id,
            reviewer,
            coder: review.coder,
            kind: args.feedback_type,
            priority: args.priority,
            body: crate::core::redact::redact(args.feedback.to_string()),
            items: items.iter().map(|item| crate::core::redact::redact(item.to_string())).collect(),
            told: false,
            at: cx.now,
        };
        let sending = NewJob {
            kind: OutboxJobKind::Feedback,
            lane: lane_of(review.coder),
            agent: Some(review.coder),
            caller: Some(reviewer),
            params: &params,
        };
        let job = outbox::send(cx.tx, sending, cx.now)?;
        Ok(Ticket { job, feedback: id, coder: review.coder })
    }

    fn wait_seconds(_: &Args) -> u32 {
        WAIT
    }

    fn topics(ticket: &Ticket) -> Vec<Topic> {
        vec![Topic::OutboxJob(ticket.job)]
    }

    fn look(cx: &ReadCx<'_>, _: &Args, ticket: &Ticket) -> Result<Look<SentFeedback>, ToolError> {
        let delivered: Option<Delivered> = outbox::outcome(cx.tx, ticket.job)?;
        let answer = |delivered: Option<Delivered>, status| SentFeedback {
            feedback_id: ticket.feedback,
            target_instance_id: ticket.coder,
            cleanup_status: "terminating",
            delivered_by: delivered.as_ref().map(|delivered| delivered.delivered_by.clone()),
            git_commit_hash: delivered.and_then(|delivered| delivered.git_commit_hash),
            status,
        };
        Ok(match delivered {
            None => Look::NotYet(answer(None, ActionStatus::Pending)),
            delivered => Look::Settled(answer(delivered, ActionStatus::Done)),
        })
    }
}
