//! `mcp__session__task-next`.

use model::task::{Priority, SessionStatus, TaskRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::begin;
use crate::call::cx::{WriteCx, task_for};
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;

/// Get the next task: the unblocked one of the first priority, oldest first
///
/// With `claim` it is yours from now on: nobody else gets it, and it is your current task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Take it at once (default false)
    claim: Option<bool>,
}

/// What to do next.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// The task; null where none is ready
    task: Option<Next>,
    /// The number of your claim: `task-update` takes it, and refuses work under an old one
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<i64>,
}

/// The next task.
#[derive(Debug, Serialize, JsonSchema)]
struct Next {
    /// Its number: `TAS-12`
    id: TaskRef,
    /// What is to be done
    content: String,
    /// How urgent it is: 0 comes first, 4 last
    priority: Priority,
    /// Where it stands
    status: SessionStatus,
    /// What is to be done, at length, where that was said
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

pub(crate) struct TaskNext;

impl Tool for TaskNext {
    const NAME: &'static str = "mcp__session__task-next";
    type Args = Args;
    type Answer = Answer;
}

impl Write for TaskNext {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<Answer, ToolError> {
        let wants = args.claim == Some(true);
        if wants {
            // The operator holds no tasks.
            cx.caller.agent()?;
        }
        let Some(mut task) = cx.tx.task_next(cx.caller.session(), cx.caller.id())? else {
            return Ok(Answer { task: None, claim: None });
        };
        let claim = if wants { begin(cx, &mut task)? } else { None };
        let task = task_for(cx.tx, cx.caller, task)?;
        let next = Next {
            id: TaskRef::Number(task.number),
            status: task.state.name().session(),
            content: task.title,
            priority: task.priority,
            description: task.description,
        };
        Ok(Answer { task: Some(next), claim: claim.map(|claim| claim.number) })
    }
}
