//! `task`: units of work, as the office speaks of them.

pub(super) mod add_comment;
pub(super) mod assign;
pub(super) mod create;
pub(super) mod get;
pub(super) mod list;
pub(super) mod update_status;

use model::task::{OfficeState, Priority, TaskRef, TaskStateName};
use model::{AgentId, EpicId, TaskId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use store::{Task, Tx};

use crate::core::error::ToolError;

/// A task, as the office shows it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskView {
    /// Its id
    id: TaskId,
    /// Its name for people
    slug: String,
    /// Its number: `TAS-12`
    number: TaskRef,
    /// What is to be done, in short
    title: String,
    /// What is to be done, at length
    description: Option<String>,
    /// Where it stands
    state: OfficeState,
    /// The same as it is stored, which tells cancelled from failed
    stored_state: TaskStateName,
    /// How urgent it is: 0 comes first, 4 last
    priority: Priority,
    /// The tasks that must be done before it
    depends_on: Vec<TaskId>,
    /// The epic it belongs to
    epic_id: Option<EpicId>,
    /// The agent it was last given to
    assigned_agent_id: Option<AgentId>,
    /// Where its files are
    worktree_path: Option<String>,
    /// The branch it is done on
    branch_name: Option<String>,
    /// Its pull request
    pr_url: Option<String>,
    /// When it was made
    created_at: Timestamp,
    /// When it last changed
    updated_at: Timestamp,
}

impl TaskView {
    /// A task with what it needs.
    pub(crate) fn of(tx: &Tx<'_>, task: Task) -> Result<Self, ToolError> {
        let depends_on = if task.needs == 0 { Vec::new() } else { tx.task_need_ids(task.number)? };
        Ok(Self {
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
}
