//! `mcp__session__task-update`.

use model::task::{Priority, SessionStatus, TaskRef, TaskStateName};
use schemars::JsonSchema;
use serde::Deserialize;
use store::Task;
use wire::session::SessionTask;

use super::fields::{DependsOn, OrEmpty};
use super::go;
use crate::call::cx::{WriteCx, find_task};
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::tasks::{task_change, task_hold, task_needs};
use crate::tools::session::session_task;

/// Update a task's status, priority or dependencies
///
/// Absent or empty fields stay unchanged. `in_progress` claims the task for you; a task that another
/// agent holds cannot be completed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The task: its number (`TAS-12`), id or slug
    id: TaskRef,
    /// New state
    status: Option<OrEmpty<SessionStatus>>,
    /// Priority: 0 is the most urgent, 4 the least
    priority: Option<OrEmpty<Priority>>,
    /// Further tasks that it depends on: one, several with commas, or a list
    depends_on: Option<DependsOn>,
    /// Number of your claim: the update is refused if the claim is no longer yours
    claim: Option<i64>,
}

pub(crate) struct TaskUpdate;

impl Tool for TaskUpdate {
    const NAME: &'static str = "mcp__session__task-update";
    const IDEMPOTENT: bool = true;
    type Args = Args;
    type Answer = SessionTask;
}

impl Write for TaskUpdate {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<SessionTask, ToolError> {
        let mut task = find_task(cx.tx, &args.id)?;
        of_session(cx, &task)?;
        if let Some(claim) = args.claim {
            fence(&task, claim)?;
        }
        let needs = args.depends_on.unwrap_or_default().0;
        let mut changed = task_needs::add(cx, &mut task, &needs)?;
        if let Some(priority) = OrEmpty::given(args.priority) {
            changed |= priority != task.priority;
            task.priority = priority;
        }
        let before = task.state.clone();
        if let Some(status) = OrEmpty::given(args.status) {
            go(cx, &mut task, status)?;
        }
        // A move tells of the rest too.
        if changed && task.state == before {
            task_change::touch(cx.tx, &mut task, (cx.caller.id(), cx.now))?;
        }
        session_task(cx.tx, task)
    }
}

/// Refuses a task of another session, unless it is the caller's own. The operator reaches all.
fn of_session(cx: &WriteCx<'_, '_>, task: &Task) -> Result<(), ToolError> {
    let session = cx.caller.session();
    match &cx.caller.agent {
        Some(agent) if task.session != session && !task_hold::is_own(agent, task) => {
            Err(ToolError::not_found(format!(
                "{} is not a task of session `{session}`",
                TaskRef::Number(task.number)
            ))
            .hint("`task-list` lists them"))
        }
        _ => Ok(()),
    }
}

/// Refuses work under a claim that another agent has taken over, or that was given back.
fn fence(task: &Task, claim: i64) -> Result<(), ToolError> {
    let free = matches!(task.state.name(), TaskStateName::Pending | TaskStateName::Assigned);
    if claim == task.claim_number && !free {
        return Ok(());
    }
    Err(ToolError::conflict(format!(
        "the claim {claim} is outdated: {} was released or claimed by another agent since",
        TaskRef::Number(task.number)
    ))
    .detail("claim", task.claim_number)
    .hint("claim it again with `status: in_progress`, or take the next with `task-next`"))
}
