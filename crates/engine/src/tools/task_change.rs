//! How a task is moved: decide, remember, tell. Every tool and reaction moves tasks through here.

use model::event::EventKind;
use model::task::{Standing, TaskMove, TaskState};
use model::{AgentId, Timestamp};
use serde_json::json;
use store::{EventDraft, Task, Tx};

use crate::error::ToolError;

/// Who moves a task, and when.
pub(crate) type Mover = (Option<AgentId>, Timestamp);

/// Moves a task one step, and tells of it.
pub(crate) fn apply(
    tx: &mut Tx<'_>,
    task: &mut Task,
    wish: TaskMove,
    by: Mover,
) -> Result<(), ToolError> {
    let state = task.state.apply(wish, standing(task)).map_err(refused)?;
    save(tx, task, state, by)
}

/// Moves a task through as many steps as it takes, and tells of it once.
pub(crate) fn apply_through(
    tx: &mut Tx<'_>,
    task: &mut Task,
    wish: &TaskMove,
    by: Mover,
) -> Result<(), ToolError> {
    let state = task.state.apply_through(wish, standing(task)).map_err(refused)?;
    save(tx, task, state, by)
}

fn refused(error: model::task::IllegalMove) -> ToolError {
    ToolError::conflict(error.to_string())
        .detail("from", error.from.stored())
        .detail("to", error.to.stored())
}

const fn standing(task: &Task) -> Standing {
    if task.epic.is_some() { Standing::InEpic } else { Standing::Alone }
}

fn save(
    tx: &mut Tx<'_>,
    task: &mut Task,
    state: TaskState,
    (agent, now): Mover,
) -> Result<(), ToolError> {
    if state == task.state {
        return Ok(());
    }
    let before = task.state.name();
    let assigned = match &state {
        TaskState::Assigned { to } => Some(*to),
        _ => None,
    };
    // A task that goes back to everybody belongs to nobody.
    task.assigned_agent = match &state {
        TaskState::Assigned { to } => Some(*to),
        TaskState::Pending => None,
        _ => state.claim().map(|claim| claim.holder).or(task.assigned_agent),
    };
    if let Some(claim) = state.claim() {
        task.claim_number = task.claim_number.max(claim.number);
    }
    task.state = state;
    tx.task_save(task, now).map_err(|error| match error {
        store::StoreError::Duplicate(_) => ToolError::conflict(format!(
            "another open task of the session says the same as `{}`",
            task.slug
        )),
        other => other.into(),
    })?;
    let kind =
        if assigned.is_some() { EventKind::TaskAssigned } else { EventKind::TaskUpdated };
    let data = json!({
        "taskId": task.id, "slug": task.slug, "number": task.number,
        "from": before, "to": task.state.name(), "assignedAgentId": task.assigned_agent,
    });
    tx.event_append(now, &EventDraft { kind, agent, task: Some(task.id), data })?;
    Ok(())
}
