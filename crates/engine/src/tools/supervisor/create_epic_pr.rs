//! `mcp__supervisor__create_epic_pr`.

use model::review::OutboxJobKind;
use model::task::{TaskRef, TaskStateName};
use model::{AgentId, EpicId, Line, OutboxJobId, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Epic, Task, TaskFilter};
use wire::epics::{EpicPullRequest, EpicPullRequestStatus};

use super::leads;
use crate::call::cx::{ReadCx, WriteCx};
use crate::call::tool::{Ask, Look, Tool};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::delivery::jobs::pull::Opened;
use crate::delivery::merge_queue::worker_of;
use crate::delivery::outbox::params::PullJob;
use crate::delivery::outbox::{self, NewJob};
use crate::delivery::worktree_setup::epic_branch_of;
use crate::tasks::epic::find_epic;

/// Longest wait for the pull request, in seconds.
const WAIT: u32 = 120;
/// Tasks listed.
const NAMED: u32 = 200;

/// Open the pull request of an epic on GitHub
///
/// It contains what was merged into the epic's branch, `adjutant/epic/<id>`. All tasks of the epic
/// must be `COMPLETED` or `FAILED`. Another call returns the same pull request, updated with later
/// merges.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The epic; your own by default
    epic_id: Option<EpicId>,
    /// Title; the epic's by default
    title: Option<Line<256>>,
    /// Description in Markdown; the epic's description and tasks by default
    description: Option<Text<65_536>>,
}

/// Handle of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ticket {
    #[serde(rename = "errand")]
    job: OutboxJobId,
    epic: EpicId,
}

pub(crate) struct CreateEpicPr;

impl Tool for CreateEpicPr {
    const NAME: &'static str = "mcp__supervisor__create_epic_pr";
    const IDEMPOTENT: bool = true;
    type Args = Args;
    type Answer = EpicPullRequest;
}

impl Ask for CreateEpicPr {
    type Ticket = Ticket;

    fn begin(cx: &mut WriteCx<'_, '_>, args: &Args) -> Result<Ticket, ToolError> {
        let own = cx.caller.agent.as_ref().and_then(|agent| agent.epic);
        let id = args.epic_id.or(own).ok_or_else(|| {
            ToolError::invalid("you have no epic of your own: pass `epicId`")
                .detail("field", "epicId")
        })?;
        let epic = find_epic(cx.tx, id)?;
        leads(cx.tx, cx.caller, Some(id))?;
        let tasks = over(cx, &epic)?;
        let title = args.title.as_ref().map_or_else(|| epic.title.clone(), ToString::to_string);
        let description = args.description.as_ref();
        let description = description.map_or_else(|| described(&epic, &tasks), ToString::to_string);
        let owner = owner(cx, id, &tasks)?;
        let params = PullJob {
            agent: owner,
            epic: Some(id),
            branch: Some(epic_branch_of(id)),
            title: crate::core::redact::redact(title),
            description: crate::core::redact::redact(description),
            base: None,
            caller: cx.caller.id(),
        };
        let sending = NewJob {
            kind: OutboxJobKind::Pull,
            lane: format!("epic:{id}"),
            agent: owner,
            caller: cx.caller.id(),
            params: &params,
        };
        Ok(Ticket { job: outbox::send(cx.tx, sending, cx.now)?, epic: id })
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
    ) -> Result<Look<EpicPullRequest>, ToolError> {
        let opened: Option<Opened> = outbox::outcome(cx.tx, ticket.job)?;
        let branch = epic_branch_of(ticket.epic);
        Ok(match opened {
            None => Look::NotYet(EpicPullRequest {
                epic_id: ticket.epic,
                pr_number: None,
                pr_url: None,
                branch_name: branch,
                base_branch: None,
                status: EpicPullRequestStatus::Pending,
            }),
            Some(opened) => Look::Settled(EpicPullRequest {
                epic_id: ticket.epic,
                pr_number: Some(opened.pr_number),
                pr_url: Some(opened.pr_url),
                branch_name: opened.branch_name,
                base_branch: Some(opened.base_branch),
                status: EpicPullRequestStatus::Done,
            }),
        })
    }
}

/// The tasks of an epic, if nothing is to be done for any of them.
fn over(cx: &WriteCx<'_, '_>, epic: &Epic) -> Result<Vec<Task>, ToolError> {
    let list = |states: Vec<TaskStateName>| {
        cx.tx.task_page(&TaskFilter { states, epic: Some(epic.id), session: None }, 0, NAMED)
    };
    let open = TaskStateName::ALL.into_iter().filter(|state| !state.is_closed()).collect();
    let open = list(open)?.items;
    if !open.is_empty() {
        let tell = |task: &Task| {
            format!("{} ({})", TaskRef::Number(task.number), task.state.name().stored())
        };
        let named: Vec<String> = open.iter().map(tell).collect();
        return Err(ToolError::conflict(format!("the epic has open tasks: {}", named.join(", ")))
            .hint("approve them, cancel them, or complete them with `force_complete_task`")
            .detail("tasks", named));
    }
    let tasks = list(Vec::new())?.items;
    if tasks.is_empty() {
        return Err(ToolError::conflict(
            "the epic has no tasks, so there is no pull request to open",
        ));
    }
    Ok(tasks)
}

/// Default description of a pull request.
fn described(epic: &Epic, tasks: &[Task]) -> String {
    let about = epic.description.as_deref().unwrap_or_default();
    let mut text: String = about.chars().take(20_000).collect();
    text.push_str(if text.is_empty() { "## Tasks\n\n" } else { "\n\n## Tasks\n\n" });
    let line = |task: &Task| {
        let done = if task.state.name() == TaskStateName::Completed { 'x' } else { ' ' };
        format!("- [{done}] {} ({})", task.title, TaskRef::Number(task.number))
    };
    let lines: Vec<String> = tasks.iter().map(line).collect();
    text + &lines.join("\n")
}

/// Owner of the pull request: the caller, else the epic's supervisor, else the author of the last task.
fn owner(cx: &WriteCx<'_, '_>, epic: EpicId, tasks: &[Task]) -> Result<Option<AgentId>, ToolError> {
    if let Some(caller) = cx.caller.id() {
        return Ok(Some(caller));
    }
    if let Some(leader) = cx.tx.agent_supervising(epic)? {
        return Ok(Some(leader.id));
    }
    for task in tasks.iter().rev() {
        if let Some(worker) = worker_of(cx.tx, task)? {
            return Ok(Some(worker.id));
        }
        if let Some(last) = cx.tx.dispatch_list(task.number)?.last() {
            return Ok(Some(last.agent));
        }
    }
    Ok(None)
}
