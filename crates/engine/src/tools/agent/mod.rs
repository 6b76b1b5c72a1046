//! `agent`: what an agent can learn about itself.

pub(super) mod get_epic;
pub(super) mod get_status;
pub(super) mod get_task;

use store::{Agent, Task};

use crate::call::cx::{ReadCx, find_task};
use crate::core::error::ToolError;

/// The task that an agent works on, or why there is none.
fn current_task(cx: &ReadCx<'_>, agent: &Agent) -> Result<Task, ToolError> {
    let task = agent.task.ok_or_else(|| {
        ToolError::wrong_state("you have no current task")
            .hint("`task-next` with `claim: true` takes one; a supervisor can assign one")
    })?;
    find_task(cx.tx, &model::TaskRef::Id(task))
}
