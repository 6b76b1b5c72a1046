//! `mcp__review__create_pull_request`

use model::review::{InstanceStatus, OutboxJobKind, ReviewState};
use model::{AgentId, Line, OutboxJobId, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::reviews::{ActionStatus, CreatedPullRequest};

use crate::call::cx::{ReadCx, WriteCx, find_agent};
use crate::call::tool::{Ask, Look, Tool};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::delivery::jobs::pull::Opened;
use crate::delivery::outbox::params::PullJob;
use crate::delivery::outbox::{self, NewJob, lane_of};
use crate::delivery::worktree_setup::no_place;

/// Longest wait for the pull request, in seconds.
const WAIT: u32 = 120;

/// Open a pull request on GitHub
///
/// It contains the commits of your branch. If you are a reviewer, it contains the author's branch;
/// opening it approves the work and ends your review. Another call returns the same pull request,
/// updated with later commits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Title
    title: Line<256>,
    /// Description in Markdown: the change and its reason
    description: Text<65_536>,
    /// Target branch; the repository's default branch if none is named
    base_branch: Option<Line<250>>,
}

/// Handle of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ticket {
    #[serde(rename = "errand")]
    job: OutboxJobId,
    author: AgentId,
}

pub(crate) struct CreatePullRequest;

impl Tool for CreatePullRequest {
    const NAME: &'static str = "mcp__review__create_pull_request";
    const BOUNDED: bool = true;
    const IDEMPOTENT: bool = true;
    type Args = Args;
    type Answer = CreatedPullRequest;
}

impl Ask for CreatePullRequest {
    type Ticket = Ticket;

    fn begin(cx: &mut WriteCx<'_, '_>, args: &Args) -> Result<Ticket, ToolError> {
        let caller = cx.caller.agent()?;
        let (author, branch) = match cx.tx.review_by(caller.id)? {
            // Who has approved asks again because the answer was lost.
            Some(review) if !review.state.is_over() || review.state == ReviewState::Approved => {
                (review.coder, Some(review.branch))
            }
            Some(_) => {
                return Err(ToolError::wrong_state(
                    "your review has ended: you already gave your verdict",
                )
                .hint("the author opens the pull request or requests another review"));
            }
            None => {
                let has_place = caller.cwd.is_some() || cx.tx.worktree_of(caller.id)?.is_some();
                if !has_place {
                    return Err(no_place(caller.id));
                }
                (caller.id, None)
            }
        };
        let params = PullJob {
            agent: Some(author),
            epic: None,
            branch,
            title: crate::core::redact::redact(args.title.to_string()),
            description: crate::core::redact::redact(args.description.to_string()),
            base: args.base_branch.as_ref().map(ToString::to_string),
            caller: Some(caller.id),
        };
        let sending = NewJob {
            kind: OutboxJobKind::Pull,
            lane: lane_of(author),
            agent: Some(author),
            caller: Some(caller.id),
            params: &params,
        };
        Ok(Ticket { job: outbox::send(cx.tx, sending, cx.now)?, author })
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
    ) -> Result<Look<CreatedPullRequest>, ToolError> {
        let opened: Option<Opened> = outbox::outcome(cx.tx, ticket.job)?;
        let state = find_agent(cx.tx, ticket.author)?.state.name();
        let Some(opened) = opened else {
            return Ok(Look::NotYet(CreatedPullRequest {
                pr_number: None,
                pr_url: None,
                branch_name: None,
                base_branch: None,
                instance_status: InstanceStatus::of(state, None),
                status: ActionStatus::Pending,
            }));
        };
        let pull = cx.tx.pull_get(&opened.repository, opened.pr_number)?;
        Ok(Look::Settled(CreatedPullRequest {
            instance_status: InstanceStatus::of(state, pull.map(|pull| pull.state)),
            pr_number: Some(opened.pr_number),
            pr_url: Some(opened.pr_url),
            branch_name: Some(opened.branch_name),
            base_branch: Some(opened.base_branch),
            status: ActionStatus::Done,
        }))
    }
}
