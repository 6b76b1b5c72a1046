//! `mcp__review__request_review`

use model::agent::{AgentState, AgentStateName};
use model::review::{InstanceStatus, OutboxJobKind};
use model::{AgentId, OutboxJobId, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::reviews::{ActionStatus, RequestedReview};

use crate::call::cx::{ReadCx, WriteCx, fresh};
use crate::call::tool::{Ask, Look, Tool};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::crew::run::draft::find_role;
use crate::delivery::outbox::params::ReviewJob;
use crate::delivery::outbox::{self, NewJob, lane_of};
use crate::delivery::reviews::{history, limit_error};
use crate::delivery::worktree_setup::no_place;

/// Longest wait for the reviewer, in seconds.
const WAIT: u32 = 120;

/// Request a review of your committed work
///
/// A reviewer starts in a worktree forked from your branch. Wait for it: end your turn, or wait for
/// mail. Its feedback arrives as `REVIEW_FEEDBACK.md` in your worktree and as mail. The number of
/// reviews is limited.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Instructions for the reviewer
    reviewer_prompt: Option<Text<20_000>>,
    /// Summary of your work, in a few sentences
    completion_message: Option<Text<20_000>>,
}

/// Handle of a request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ticket {
    #[serde(rename = "errand")]
    job: OutboxJobId,
    reviewer: AgentId,
}

/// Answer of the outbox job.
#[derive(Debug, Deserialize)]
struct Forked {
    session_name: Option<String>,
    worktree_path: String,
    branch_name: String,
    review_iteration: u32,
}

pub(crate) struct RequestReview;

impl Tool for RequestReview {
    const NAME: &'static str = "mcp__review__request_review";
    const BOUNDED: bool = true;
    type Args = Args;
    type Answer = RequestedReview;
}

impl Ask for RequestReview {
    type Ticket = Ticket;

    fn begin(cx: &mut WriteCx<'_, '_>, args: &Args) -> Result<Ticket, ToolError> {
        let coder = cx.caller.agent()?;
        let has_place = coder.cwd.is_some() || cx.tx.worktree_of(coder.id)?.is_some();
        if !has_place {
            return Err(no_place(coder.id));
        }
        let under_way = cx.tx.outbox_job_open_of(OutboxJobKind::Review, coder.id)?.is_some();
        if under_way || coder.state == AgentState::WaitingReview {
            return Err(ToolError::wrong_state("your work is already in review")
                .hint("end your turn, or wait for mail: `list_inbox` with `waitSeconds`"));
        }
        if coder.state != AgentState::Running {
            return Err(ToolError::wrong_state(format!("you are {}", coder.state.name())));
        }
        let (iterations, _, limits) = history(cx.tx, cx.settings, coder.id)?;
        limits.next(iterations).map_err(|limit| limit_error(coder.id, limit))?;
        find_role(cx.settings, &cx.settings.review.role).map_err(|error| {
            error.hint("`review.role` in the configuration names the role that reviews")
        })?;
        let reviewer = fresh(AgentId::from_bits)?;
        let text = |text: &Option<Text<20_000>>| text.as_ref().map(ToString::to_string);
        let params = ReviewJob {
            coder: coder.id,
            reviewer,
            message: text(&args.completion_message),
            instructions: text(&args.reviewer_prompt),
            at_end: false,
        };
        let sending = NewJob {
            kind: OutboxJobKind::Review,
            lane: lane_of(coder.id),
            agent: Some(coder.id),
            caller: Some(coder.id),
            params: &params,
        };
        Ok(Ticket { job: outbox::send(cx.tx, sending, cx.now)?, reviewer })
    }

    fn wait_seconds(_: &Args) -> u32 {
        WAIT
    }

    fn topics(ticket: &Ticket) -> Vec<Topic> {
        vec![Topic::OutboxJob(ticket.job)]
    }

    fn look(
        cx: &ReadCx<'_>,
        _: &Args,
        ticket: &Ticket,
    ) -> Result<Look<RequestedReview>, ToolError> {
        let forked: Option<Forked> = outbox::outcome(cx.tx, ticket.job)?;
        let mut answer = RequestedReview {
            review_instance_id: ticket.reviewer,
            session_name: None,
            worktree_path: None,
            branch_name: None,
            review_iteration: None,
            instance_status: InstanceStatus::Started,
            status: ActionStatus::Pending,
        };
        let Some(forked) = forked else { return Ok(Look::NotYet(answer)) };
        answer.session_name = forked.session_name;
        answer.worktree_path = Some(forked.worktree_path);
        answer.branch_name = Some(forked.branch_name);
        answer.review_iteration = Some(forked.review_iteration);
        let pull = cx.tx.pull_of(cx.caller.agent()?.id)?.map(|pull| pull.state);
        answer.instance_status = InstanceStatus::of(AgentStateName::WaitingReview, pull);
        answer.status = ActionStatus::Done;
        Ok(Look::Settled(answer))
    }
}
