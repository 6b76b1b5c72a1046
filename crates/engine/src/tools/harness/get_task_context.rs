//! `mcp__harness__get_task_context`.

use model::TaskRef;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::tasks::TaskContext;

use crate::call::cx::{ReadCx, find_task};
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::crew::context::task_context;

/// Get the context of a task: request, earlier work, comments and notes
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The task: its slug, its number (`TAS-12`) or its id
    task_slug: TaskRef,
}

pub(crate) struct GetTaskContext;

impl Tool for GetTaskContext {
    const NAME: &'static str = "mcp__harness__get_task_context";
    type Args = Args;
    type Answer = TaskContext;
}

impl Read for GetTaskContext {
    fn read(cx: &ReadCx<'_>, Args { task_slug }: Args) -> Result<TaskContext, ToolError> {
        let task = find_task(cx.tx, &task_slug)?;
        Ok(TaskContext { context: task_context(cx.tx, &task)? })
    }
}
