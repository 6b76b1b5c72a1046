//! Moves tasks: decide, record, notify. Every tool and service moves tasks through this module.

use model::task::{EpicMembership, IllegalMove, SessionStatus, TaskMove, TaskState, TaskStateName};
use model::{AgentId, Timestamp};
use store::{EventDraft, Task, Tx};
use wire::event::{EventData, TaskChange, TaskCommented};

use crate::core::error::ToolError;

/// Agent that moves a task, and the time.
pub(crate) type Mover = (Option<AgentId>, Timestamp);

/// Moves a task one step, and tells of it.
pub(crate) fn apply(
    tx: &mut Tx<'_>,
    task: &mut Task,
    task_move: TaskMove,
    by: Mover,
) -> Result<(), ToolError> {
    let state = task.state.apply(task_move, membership(task)).map_err(refused)?;
    save(tx, task, state, by)
}

/// Moves a task through as many steps as it takes, and tells of it once.
pub(crate) fn apply_through(
    tx: &mut Tx<'_>,
    task: &mut Task,
    task_move: &TaskMove,
    by: Mover,
) -> Result<(), ToolError> {
    let state = task.state.apply_through(task_move, membership(task)).map_err(refused)?;
    save(tx, task, state, by)
}

/// Remarks on a task, tells of it, and gives the remark's number.
pub(crate) fn remark(
    tx: &mut Tx<'_>,
    task: &Task,
    body: &str,
    by: Mover,
) -> Result<i64, ToolError> {
    let (agent, now) = by;
    let comment = tx.comment_insert(task.number, agent, body, now)?;
    let data = EventData::TaskCommented(TaskCommented {
        task_id: task.id,
        slug: task.slug.clone(),
        number: task.number,
        comment_id: comment,
    });
    tx.event_append(now, &EventDraft { agent, task: Some(task.id), data })?;
    Ok(comment)
}

/// Tells that a task changed in another way than by moving, and remembers it.
pub(crate) fn touch(tx: &mut Tx<'_>, task: &mut Task, by: Mover) -> Result<(), ToolError> {
    let from = task.state.name();
    remember(tx, task, EventData::TaskUpdated, from, by)
}

/// Why a task may not go where it was to go.
pub(crate) fn refusal(task: &Task, to: TaskStateName) -> ToolError {
    refused(IllegalMove { from: task.state.name(), to, membership: membership(task) })
}

fn refused(error: IllegalMove) -> ToolError {
    let refused = ToolError::conflict(error.to_string())
        .detail("from", error.from.stored())
        .detail("to", error.to.stored());
    match error.first_step() {
        Some(first) => refused.detail("first", first.stored()),
        None => refused,
    }
}

const fn membership(task: &Task) -> EpicMembership {
    if task.epic.is_some() { EpicMembership::InEpic } else { EpicMembership::Alone }
}

fn save(tx: &mut Tx<'_>, task: &mut Task, state: TaskState, by: Mover) -> Result<(), ToolError> {
    if state == task.state {
        return Ok(());
    }
    let before = task.state.name();
    let had = task.assigned_agent;
    // A task that goes back to everybody belongs to nobody.
    task.assigned_agent = match &state {
        TaskState::Assigned { to } => Some(*to),
        TaskState::Pending => None,
        _ => state.claim().map(|claim| claim.holder).or(task.assigned_agent),
    };
    // Nor is it the current task of an agent that was given it and has not begun it.
    let is_taken_back = before == TaskStateName::Assigned && task.assigned_agent.is_none();
    if let Some(old) = had
        && (is_taken_back || task.assigned_agent.is_some_and(|new| new != old))
    {
        tx.agent_drop_task(old, task.id, by.1)?;
    }
    if let Some(claim) = state.claim() {
        task.claim_number = task.claim_number.max(claim.number);
    }
    task.state = state;
    if before == TaskStateName::Review && task.state.name() != before {
        tx.check_environment_drop(task.id)?;
    }
    // Work that goes on opens a completed session again.
    let open = |name: TaskStateName| {
        matches!(name.session(), SessionStatus::Remaining | SessionStatus::InProgress)
    };
    if open(task.state.name()) && !open(before) {
        tx.session_reopen(&task.session)?;
    }
    let event = match task.state {
        TaskState::Assigned { .. } => EventData::TaskAssigned,
        _ => EventData::TaskUpdated,
    };
    remember(tx, task, event, before, by)
}

fn remember(
    tx: &mut Tx<'_>,
    task: &mut Task,
    event: fn(TaskChange) -> EventData,
    before: TaskStateName,
    by: Mover,
) -> Result<(), ToolError> {
    let (agent, now) = by;
    task.updated_at = now;
    tx.task_save(task, now)?;
    let data = event(TaskChange {
        task_id: task.id,
        slug: task.slug.clone(),
        number: task.number,
        from: before,
        to: task.state.name(),
        assigned_agent_id: task.assigned_agent,
        reason: task.state.reason().map(str::to_owned),
        priority: task.priority,
    });
    tx.event_append(now, &EventDraft { agent, task: Some(task.id), data })?;
    Ok(())
}
