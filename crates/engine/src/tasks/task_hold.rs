//! Ownership of tasks: permission to move them, and claims.

use model::TaskStateName;
use model::task::{Claim, TaskMove, TaskRef, TaskState};
use store::{Agent, Task, Tx};

use super::task_change;
use crate::call::cx::{Caller, WriteCx, find_task};
use crate::core::error::ToolError;

/// Extent of a move.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MoveExtent {
    /// One step, as in the office
    Step,
    /// Through the steps between, as in a session
    Through,
}

/// The task that is named or, where none is, the caller's own.
pub(crate) fn named_or_own(
    tx: &Tx<'_>,
    caller: &Caller,
    name: Option<TaskRef>,
) -> Result<Task, ToolError> {
    if let Some(name) = name {
        return find_task(tx, &name);
    }
    let own = caller.agent()?.task.ok_or_else(|| {
        ToolError::wrong_state("you have no current task").hint("name one with `taskId`")
    })?;
    find_task(tx, &TaskRef::Id(own))
}

/// True if the caller may move tasks held by others.
fn gives_out(cx: &WriteCx<'_, '_>) -> bool {
    cx.caller.may(cx.settings, "mcp__task__assign")
}

/// Refuses a task that is not the caller's own, where the caller may only touch those.
pub(crate) fn own_only(cx: &WriteCx<'_, '_>, task: &Task) -> Result<(), ToolError> {
    let Some(agent) = &cx.caller.agent else { return Ok(()) };
    let limited = cx.caller.may(cx.settings, "mcp__task__update_status") && !gives_out(cx);
    if !limited || is_own(agent, task) {
        return Ok(());
    }
    Err(ToolError::denied(format!(
        "{} is not your task: you may only change your own tasks",
        TaskRef::Number(task.number)
    )))
}

/// True if the agent works on, holds or was assigned the task.
pub(crate) fn is_own(agent: &Agent, task: &Task) -> bool {
    agent.task == Some(task.id)
        || task.assigned_agent == Some(agent.id)
        || task.state.claim().is_some_and(|claim| claim.holder == agent.id)
}

/// Another live agent that holds the task, or that it was given to.
fn other_holder(cx: &WriteCx<'_, '_>, task: &Task) -> Result<Option<Agent>, ToolError> {
    let holder = match &task.state {
        TaskState::Assigned { to } => Some(*to),
        state => state.claim().map(|claim| claim.holder),
    };
    let Some(holder) = holder.filter(|holder| Some(*holder) != cx.caller.id()) else {
        return Ok(None);
    };
    Ok(cx.tx.agent_get(holder)?.filter(|agent| agent.ended_at().is_none()))
}

fn held(task: &Task, holder: &Agent) -> ToolError {
    let number = TaskRef::Number(task.number);
    let verb = match task.state.name() {
        TaskStateName::Assigned => "is assigned to",
        _ => "is held by",
    };
    ToolError::conflict(format!("{number} {verb} agent `{}` ({})", holder.id, holder.role))
        .detail("holder", holder.id.to_string())
        .detail("task", number.to_string())
}

/// Refuses what another live agent holds, but not to those who give tasks out.
pub(crate) fn not_anothers(cx: &WriteCx<'_, '_>, task: &Task) -> Result<(), ToolError> {
    if gives_out(cx) {
        return Ok(());
    }
    other_holder(cx, task)?.map_or(Ok(()), |holder| Err(held(task, &holder)))
}

/// Refuses what another live agent holds to every agent: work is reported by who does it.
pub(crate) fn holder_only(cx: &WriteCx<'_, '_>, task: &Task) -> Result<(), ToolError> {
    if cx.caller.agent.is_none() {
        return Ok(());
    }
    other_holder(cx, task)?.map_or(Ok(()), |holder| Err(held(task, &holder)))
}

/// Categories whose agents approve work that is in review.
const APPROVERS: [&str; 2] = ["supervisor", "orchestrator"];

/// Refuses to complete what is in review to everybody who may not approve it: in an epic to all but supervisors,
/// orchestrators and the operator, elsewhere to the agent that did the work.
pub(crate) fn approver_only(cx: &WriteCx<'_, '_>, task: &Task) -> Result<(), ToolError> {
    let Some(agent) = &cx.caller.agent else { return Ok(()) };
    if task.state.name() != TaskStateName::Review || APPROVERS.contains(&agent.category.as_str()) {
        return Ok(());
    }
    if task.epic.is_none() && gives_out(cx) && !is_own(agent, task) {
        return Ok(());
    }
    let number = TaskRef::Number(task.number);
    let why = if task.epic.is_some() { "belongs to an epic and is" } else { "is" };
    Err(ToolError::denied(format!(
        "{number} {why} in review: only a supervisor, an orchestrator or the operator completes it"
    ))
    .hint("wait for the review; `IN_PROGRESS` takes it back to work on it again")
    .detail("task", number.to_string()))
}

/// Begins a task, or goes on with it. An agent thereby claims it, and it becomes the agent's
/// current task; the claim is answered.
pub(crate) fn start(
    cx: &mut WriteCx<'_, '_>,
    task: &mut Task,
    stride: MoveExtent,
) -> Result<Option<Claim>, ToolError> {
    let claim = claim(cx, task)?;
    let (task_move, by) = (TaskMove::Start { claim }, (cx.caller.id(), cx.now));
    match stride {
        MoveExtent::Step => task_change::apply(cx.tx, task, task_move, by)?,
        MoveExtent::Through => task_change::apply_through(cx.tx, task, &task_move, by)?,
    }
    if let (Some(_), Some(agent)) = (claim, &cx.caller.agent) {
        give(cx, task, agent)?;
    }
    Ok(claim)
}

/// Makes a task an agent's current one, and notes that the agent works on it.
pub(crate) fn give(cx: &mut WriteCx<'_, '_>, task: &Task, agent: &Agent) -> Result<(), ToolError> {
    cx.tx.agent_set_task(agent.id, task.id, task.epic, cx.now)?;
    cx.tx.dispatch_begin(task.number, agent.id, &agent.role, cx.now)?;
    Ok(())
}

/// The claim with which the caller begins: none for the operator, and none where a task goes back
/// to the one who holds it.
fn claim(cx: &WriteCx<'_, '_>, task: &Task) -> Result<Option<Claim>, ToolError> {
    let Some(agent) = &cx.caller.agent else { return Ok(None) };
    if let Some(holder) = other_holder(cx, task)? {
        match task.state.name() {
            // Who gives tasks out sends one back after a review, or frees it; its holder goes on.
            TaskStateName::Review | TaskStateName::Blocked if gives_out(cx) => return Ok(None),
            TaskStateName::Assigned if gives_out(cx) => {}
            _ => return Err(held(task, &holder)),
        }
    }
    Ok(Some(match task.state.claim() {
        Some(mine) if (mine.holder, mine.attempt) == (agent.id, agent.attempt) => mine,
        _ => Claim { holder: agent.id, attempt: agent.attempt, number: task.claim_number + 1 },
    }))
}
