//! `mcp__supervisor__force_complete_task`.

use model::agent::Outcome;
use model::task::{TaskRef, TaskStateName};
use model::{LogId, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use store::StopRequest;
use wire::event::{DecisionLogged, EventData};
use wire::tasks::ForcedTask;

use super::led_task;
use crate::call::cx::{WriteCx, fresh};
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::delivery::merge_queue::{self, worker_of};
use crate::tasks::task_change;

/// Declare a task `COMPLETED` without a merge
///
/// Use it for work that is no longer needed or was done in another way. Nothing is merged or lost:
/// the branch is unchanged. The agent that works on the task ends. The reason is logged as a
/// decision.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The task: its id, slug or number (`TAS-12`)
    task_id: TaskRef,
    /// Reason
    reason: Text<10_000>,
}

pub(crate) struct ForceCompleteTask;

impl Tool for ForceCompleteTask {
    const NAME: &'static str = "mcp__supervisor__force_complete_task";
    const CRITICAL: bool = true;
    const DESTRUCTIVE: bool = true;
    type Args = Args;
    type Answer = ForcedTask;
}

impl Write for ForceCompleteTask {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<ForcedTask, ToolError> {
        let mut task = led_task(cx.tx, cx.caller, &args.task_id)?;
        if args.reason.trim().is_empty() {
            return Err(ToolError::invalid("`reason` is empty").detail("field", "reason"));
        }
        let number = TaskRef::Number(task.number);
        let state = task.state.name();
        if matches!(state, TaskStateName::Completed | TaskStateName::Cancelled) {
            return Err(ToolError::conflict(format!("{number} is {} already", state.stored()))
                .detail("state", state.stored()));
        }
        let message = format!("Completed without a merge: {}", args.reason);
        merge_queue::take_out(cx.tx, &task, &message, cx.now)?;
        let (worker, by) = (worker_of(cx.tx, &task)?, (cx.caller.id(), cx.now));
        task_change::remark(cx.tx, &task, &message, by)?;
        merge_queue::complete(cx.tx, &mut task, by)?;
        let log_id = fresh(LogId::from_bits)?;
        let title = format!("{number} was completed by force");
        let data = EventData::DecisionLogged(DecisionLogged { log_id, title });
        cx.tell(Some(task.id), data)?;
        let reason = format!("its task was completed by force: {}", args.reason);
        let stop = StopRequest { outcome: Outcome::Killed, reason };
        let worker = worker.as_ref();
        merge_queue::retire(cx.tx, cx.settings, worker, &task, &stop, None, cx.now)?;
        tracing::warn!(task = %task.id, was = state.stored(), "task completed by force");
        Ok(ForcedTask {
            task_id: task.id,
            state: task.state.name().office(),
            branch_name: task.branch_name,
            log_id,
        })
    }
}
