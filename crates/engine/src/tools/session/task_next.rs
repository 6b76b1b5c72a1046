//! `mcp__session__task-next`.

use model::task::TaskRef;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::session::{NextTask, NextTaskItem};

use super::begin;
use crate::call::cx::{WriteCx, task_for};
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;

/// Get the next task: the oldest unblocked one of the highest priority
///
/// With `claim` it becomes yours and your current task; no other agent gets it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Claim it at once (default false)
    claim: Option<bool>,
}

pub(crate) struct TaskNext;

impl Tool for TaskNext {
    const NAME: &'static str = "mcp__session__task-next";
    type Args = Args;
    type Answer = NextTask;
}

impl Write for TaskNext {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<NextTask, ToolError> {
        let wants = args.claim == Some(true);
        if wants {
            // The operator holds no tasks.
            cx.caller.agent()?;
        }
        let Some(mut task) = cx.tx.task_next(cx.caller.session(), cx.caller.id())? else {
            return Ok(NextTask { task: None, claim: None });
        };
        let claim = if wants { begin(cx, &mut task)? } else { None };
        let task = task_for(cx.tx, cx.caller, task)?;
        let next = NextTaskItem {
            id: TaskRef::Number(task.number),
            status: task.state.name().session(),
            content: task.title,
            priority: task.priority,
            description: task.description,
        };
        Ok(NextTask { task: Some(next), claim: claim.map(|claim| claim.number) })
    }
}
