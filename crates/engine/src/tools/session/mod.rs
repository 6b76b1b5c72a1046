//! `session`: the tasks and notes of a named run of the loop, in the session's own words.

mod fields;
pub(super) mod iteration_summary;
pub(super) mod note_add;
pub(super) mod note_list;
pub(super) mod session_complete;
pub(super) mod task_add;
pub(super) mod task_list;
pub(super) mod task_next;
pub(super) mod task_update;

use model::task::{Claim, SessionStatus, TaskMove, TaskRef};
use store::{Task, Tx};
use wire::session::SessionTask;

use crate::call::cx::WriteCx;
use crate::core::error::{Code, ToolError};
use crate::tasks::task_change;
use crate::tasks::task_hold::{self, MoveExtent};

fn session_task(tx: &Tx<'_>, task: Task) -> Result<SessionTask, ToolError> {
    let needs = if task.needs == 0 { Vec::new() } else { tx.task_needs(task.number)? };
    Ok(SessionTask {
        id: TaskRef::Number(task.number),
        content: task.title,
        status: task.state.name().session(),
        priority: task.priority,
        depends_on: needs.into_iter().map(TaskRef::Number).collect(),
    })
}

/// Moves a task to a status through whatever lies between. To be there already is no move.
fn go(cx: &mut WriteCx<'_, '_>, task: &mut Task, status: SessionStatus) -> Result<(), ToolError> {
    let task_move = match status {
        SessionStatus::InProgress => {
            begin(cx, task)?;
            return Ok(());
        }
        status if task.state.name().session() == status => return Ok(()),
        SessionStatus::Remaining => TaskMove::Release,
        SessionStatus::Blocked => TaskMove::Block { reason: None },
        SessionStatus::Cancelled => TaskMove::Cancel { reason: None },
        SessionStatus::Completed => {
            task_hold::holder_only(cx, task)?;
            task_hold::approver_only(cx, task)?;
            TaskMove::Complete
        }
    };
    task_hold::not_anothers(cx, task)?;
    if let (SessionStatus::Completed, Some(agent)) = (status, &cx.caller.agent) {
        // Who completes a task that nobody had has done it.
        task.assigned_agent.get_or_insert(agent.id);
        cx.tx.dispatch_begin(task.number, agent.id, &agent.role, cx.now)?;
    }
    task_change::apply_through(cx.tx, task, &task_move, (cx.caller.id(), cx.now))
}

/// Begins a task, or goes on with it. An iteration of a loop begins one and no more, so that each agent has its whole
/// mind for one thing.
fn begin(cx: &mut WriteCx<'_, '_>, task: &mut Task) -> Result<Option<Claim>, ToolError> {
    let Some((session, number)) = cx.caller.iteration() else {
        return task_hold::start(cx, task, MoveExtent::Through);
    };
    let begun = cx.tx.iteration_get(session, number)?.and_then(|iteration| iteration.task);
    if let Some(other) = begun.filter(|other| *other != task.number) {
        let other = TaskRef::Number(other).to_string();
        let message =
            format!("iteration {number} has already begun {other}; an iteration works on one task");
        return Err(ToolError::conflict(message)
            .hint("finish it, or set it to `blocked` with a note that explains why")
            .hint("then sum up with `iteration-summary` and end: the next iteration takes another")
            .detail("task", other));
    }
    let claim = task_hold::start(cx, task, MoveExtent::Through)?;
    cx.tx.iteration_set_task(session, number, task.number)?;
    Ok(claim)
}

/// Says which item of a batch is to blame.
fn at(list: &str, index: usize, mut error: ToolError) -> ToolError {
    if matches!(error.code, Code::InternalError | Code::TransientError | Code::ExternalError) {
        return error;
    }
    error.message = format!("`{list}[{index}]`: {}", error.message);
    error.detail("index", index)
}
