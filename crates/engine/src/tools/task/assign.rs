//! `mcp__task__assign`.

use model::AgentId;
use model::task::{TaskMove, TaskRef};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::tasks::TaskView;

use crate::call::cx::{WriteCx, find_agent, find_task};
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::tasks::view::task_view;
use crate::tasks::{task_change, task_hold};

/// Assign a task to an agent
///
/// It becomes the agent's current task. A task that an agent has begun cannot be assigned.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The task: its id, slug or number (`TAS-12`)
    task_id: TaskRef,
    /// Agent to assign it to
    agent_id: AgentId,
}

pub(crate) struct Assign;

impl Tool for Assign {
    const NAME: &'static str = "mcp__task__assign";
    const IDEMPOTENT: bool = true;
    type Args = Args;
    type Answer = TaskView;
}

impl Write for Assign {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<TaskView, ToolError> {
        let mut task = find_task(cx.tx, &args.task_id)?;
        let agent = find_agent(cx.tx, args.agent_id)?;
        if agent.ended_at().is_some() {
            return Err(ToolError::wrong_state(format!("agent `{}` has ended", agent.id))
                .hint("`list_agents` lists live agents"));
        }
        let by = (cx.caller.id(), cx.now);
        task_change::apply(cx.tx, &mut task, TaskMove::Assign { to: agent.id }, by)?;
        task_hold::give(cx, &task, &agent)?;
        task_view(cx.tx, task)
    }
}
