//! `mcp__task__update_status`.

use model::Text;
use model::task::{OfficeState, TaskMove, TaskRef, TaskStateName};
use schemars::JsonSchema;
use serde::Deserialize;
use store::Task;
use wire::tasks::TaskView;

use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::tasks::task_change;
use crate::tasks::task_hold::{self, MoveExtent};
use crate::tasks::view::task_view;

/// Move a task to another state
///
/// `IN_PROGRESS` claims the task for you. A task of an epic is completed through `REVIEW`, by a
/// supervisor, an orchestrator or the operator.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The task: its id, slug or number (`TAS-12`); your own by default
    task_id: Option<TaskRef>,
    /// New state
    status: OfficeState,
    /// Reason; stored with `BLOCKED` and `FAILED`
    reason: Option<Text<4000>>,
}

pub(crate) struct UpdateStatus;

impl Tool for UpdateStatus {
    const NAME: &'static str = "mcp__task__update_status";
    const CRITICAL: bool = true;
    const IDEMPOTENT: bool = true;
    type Args = Args;
    type Answer = TaskView;
}

impl Write for UpdateStatus {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<TaskView, ToolError> {
        let mut task = task_hold::named_or_own(cx.tx, cx.caller, args.task_id)?;
        task_hold::own_only(cx, &task)?;
        task_hold::not_anothers(cx, &task)?;
        let reason = args.reason.map(Text::into_inner);
        let task_move = match args.status {
            OfficeState::InProgress => {
                task_hold::start(cx, &mut task, MoveExtent::Step)?;
                return task_view(cx.tx, task);
            }
            OfficeState::Assigned if task.state.name() == TaskStateName::Assigned => {
                return task_view(cx.tx, task);
            }
            OfficeState::Assigned => {
                return Err(ToolError::invalid("`status`: `ASSIGNED` needs an agent")
                    .detail("field", "status")
                    .hint("use `mcp__task__assign` with the task and the agent"));
            }
            OfficeState::Pending => release(&task)?,
            OfficeState::Review => TaskMove::Submit,
            OfficeState::Blocked => TaskMove::Block { reason },
            OfficeState::Completed => {
                task_hold::approver_only(cx, &task)?;
                TaskMove::Complete
            }
            OfficeState::Failed => TaskMove::Fail { reason },
        };
        let by = (cx.caller.id(), cx.now);
        task_change::apply(cx.tx, &mut task, task_move, by)?;
        task_view(cx.tx, task)
    }
}

/// Back to everybody. In the office what was begun does not go back by a word: it ends in review,
/// blocked or failed, or with its agent.
fn release(task: &Task) -> Result<TaskMove, ToolError> {
    match task.state.name() {
        TaskStateName::InProgress | TaskStateName::Blocked => {
            Err(task_change::refusal(task, TaskStateName::Pending))
        }
        _ => Ok(TaskMove::Release),
    }
}
