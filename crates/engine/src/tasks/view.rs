//! From a task of the record to the shape that tools answer.

use model::task::TaskRef;
use store::{Task, Tx};
use wire::tasks::TaskView;

use crate::core::error::ToolError;

/// Reads a task with the tasks that it needs.
pub(crate) fn task_view(tx: &Tx<'_>, task: Task) -> Result<TaskView, ToolError> {
    let depends_on = if task.needs == 0 { Vec::new() } else { tx.task_need_ids(task.number)? };
    Ok(TaskView {
        depends_on,
        id: task.id,
        slug: task.slug,
        number: TaskRef::Number(task.number),
        title: task.title,
        description: task.description,
        state: task.state.name().office(),
        stored_state: task.state.name(),
        priority: task.priority,
        epic_id: task.epic,
        assigned_agent_id: task.assigned_agent,
        worktree_path: task.worktree_path,
        branch_name: task.branch_name,
        pr_url: task.pr_url,
        created_at: task.created_at,
        updated_at: task.updated_at,
    })
}
