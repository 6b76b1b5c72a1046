//! `mcp__git__commit`.

use model::agent::AgentState;
use model::review::OutboxJobKind;
use model::{OutboxJobId, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::git::{CommitAnswer, CommitStatus};

use crate::call::cx::{ReadCx, WriteCx};
use crate::call::tool::{Ask, Look, Tool};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::delivery::jobs::commit::CommitOutcome;
use crate::delivery::outbox::params::CommitRequest;
use crate::delivery::outbox::{self, NewJob, lane_of};
use crate::delivery::worktree_setup::no_place;

/// Longest wait of the caller, in seconds.
const MAX_WAIT: u32 = 120;

/// Commit your work
///
/// Commits all uncommitted changes in your worktree to your branch, in your name: changed, new and
/// deleted files, but not ignored ones. Use it if your sandbox keeps `.git` read-only; otherwise
/// `git commit` does the same. Without changes it does nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Commit message: a subject line, and a body after a blank line if there is more to say
    message: Text<20_000>,
}

pub(crate) struct Commit;

impl Tool for Commit {
    const NAME: &'static str = "mcp__git__commit";
    type Args = Args;
    type Answer = CommitAnswer;
}

impl Ask for Commit {
    type Ticket = OutboxJobId;

    fn begin(cx: &mut WriteCx<'_, '_>, args: &Args) -> Result<OutboxJobId, ToolError> {
        let agent = cx.caller.agent()?;
        if agent.cwd.is_none() && cx.tx.worktree_of(agent.id)?.is_none() {
            return Err(no_place(agent.id));
        }
        let message = args.message.to_string();
        if message.trim().is_empty() {
            return Err(ToolError::invalid("`message` is empty")
                .detail("field", "message")
                .hint("describe the change in one line"));
        }
        let in_review = cx.tx.outbox_job_open_of(OutboxJobKind::Review, agent.id)?.is_some();
        if in_review || agent.state == AgentState::WaitingReview {
            return Err(ToolError::wrong_state("your work is in review and must not change")
                .hint("wait for the feedback, then commit"));
        }
        let request = CommitRequest { agent: agent.id, message };
        let job = NewJob {
            kind: OutboxJobKind::Commit,
            lane: lane_of(agent.id),
            agent: Some(agent.id),
            caller: Some(agent.id),
            params: &request,
        };
        outbox::send(cx.tx, job, cx.now)
    }

    fn wait_seconds(_: &Args) -> u32 {
        MAX_WAIT
    }

    fn topics(ticket: &OutboxJobId) -> Vec<Topic> {
        vec![Topic::OutboxJob(*ticket)]
    }

    fn look(
        cx: &ReadCx<'_>,
        _: &Args,
        ticket: &OutboxJobId,
    ) -> Result<Look<CommitAnswer>, ToolError> {
        let Some(done) = outbox::outcome::<CommitOutcome>(cx.tx, *ticket)? else {
            return Ok(Look::NotYet(CommitAnswer {
                branch: None,
                head: None,
                committed: false,
                files: Vec::new(),
                status: CommitStatus::Pending,
            }));
        };
        let CommitOutcome { branch, head, committed, files } = done;
        Ok(Look::Settled(CommitAnswer {
            branch: Some(branch),
            head: Some(head),
            committed,
            files,
            status: CommitStatus::Done,
        }))
    }
}
