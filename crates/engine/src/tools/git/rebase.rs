//! `mcp__git__rebase`.

use model::agent::AgentState;
use model::review::OutboxJobKind;
use model::{Line, OutboxJobId, TaskRef, TaskStateName};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::git::{RebaseAnswer, RebaseStatus};

use crate::call::cx::{ReadCx, WriteCx, task_of};
use crate::call::tool::{Ask, Look, Tool};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::delivery::outbox::params::RebaseJob;
use crate::delivery::outbox::{self, NewJob, lane_of};
use crate::delivery::worktree_setup::no_place;

/// Longest wait of the caller.
const WAIT: u32 = 120;

/// Rebase your commits onto the work of others
///
/// Rebases your branch in your worktree onto its target branch, or onto another one. Commit or
/// discard uncommitted changes first. If there are conflicts, nothing is changed, and the answer
/// lists the files and lines.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Branch to rebase onto (default: your target branch)
    onto: Option<Line<300>>,
}

/// Answer of the outbox job.
#[derive(Debug, Deserialize)]
struct Rebased {
    branch: String,
    head: String,
    onto: String,
    moved: bool,
}

pub(crate) struct Rebase;

impl Tool for Rebase {
    const NAME: &'static str = "mcp__git__rebase";
    type Args = Args;
    type Answer = RebaseAnswer;
}

impl Ask for Rebase {
    type Ticket = OutboxJobId;

    fn begin(cx: &mut WriteCx<'_, '_>, args: &Args) -> Result<OutboxJobId, ToolError> {
        let agent = cx.caller.agent()?;
        if agent.cwd.is_none() && cx.tx.worktree_of(agent.id)?.is_none() {
            return Err(no_place(agent.id));
        }
        let in_review = cx.tx.outbox_job_open_of(OutboxJobKind::Review, agent.id)?.is_some();
        if in_review || agent.state == AgentState::WaitingReview {
            return Err(ToolError::wrong_state("your work is in review and must not change")
                .hint("wait for the feedback, then rebase"));
        }
        let onto = args.onto.as_ref().map(ToString::to_string);
        let job = RebaseJob { agent: agent.id, onto };
        let sending = NewJob {
            kind: OutboxJobKind::Rebase,
            lane: lane_of(agent.id),
            agent: Some(agent.id),
            caller: Some(agent.id),
            params: &job,
        };
        outbox::send(cx.tx, sending, cx.now)
    }

    fn wait_seconds(_: &Args) -> u32 {
        WAIT
    }

    fn topics(ticket: &OutboxJobId) -> Vec<Topic> {
        vec![Topic::OutboxJob(*ticket)]
    }

    fn look(
        cx: &ReadCx<'_>,
        _: &Args,
        ticket: &OutboxJobId,
    ) -> Result<Look<RebaseAnswer>, ToolError> {
        let Some(done) = outbox::outcome::<Rebased>(cx.tx, *ticket)? else {
            return Ok(Look::NotYet(RebaseAnswer {
                branch: None,
                head: None,
                onto: None,
                moved: false,
                status: RebaseStatus::Pending,
                next: None,
            }));
        };
        let Rebased { branch, head, onto, moved } = done;
        Ok(Look::Settled(RebaseAnswer {
            branch: Some(branch),
            head: Some(head),
            onto: Some(onto),
            moved,
            status: RebaseStatus::Done,
            next: next(cx)?,
        }))
    }
}

/// Advice for a caller whose task is blocked: its author must check that the work still holds.
fn next(cx: &ReadCx<'_>) -> Result<Option<String>, ToolError> {
    let task = cx.caller.agent.as_ref().and_then(|agent| agent.task);
    let Some(task) =
        task_of(cx.tx, task)?.filter(|task| task.state.name() == TaskStateName::Blocked)
    else {
        return Ok(None);
    };
    let number = TaskRef::Number(task.number);
    Ok(Some(format!(
        "{number} is BLOCKED still. Check that your work is as it should be, then set it to IN_PROGRESS and \
         to REVIEW with `mcp__task__update_status`"
    )))
}
