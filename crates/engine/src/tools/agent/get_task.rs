//! `mcp__agent__get_task`.

use schemars::JsonSchema;
use serde::Deserialize;
use wire::tasks::TaskView;

use super::current_task;
use crate::call::cx::{ReadCx, task_for};
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tasks::view::task_view;

/// Get the task that you work on
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

pub(crate) struct GetTask;

impl Tool for GetTask {
    const NAME: &'static str = "mcp__agent__get_task";
    const CRITICAL: bool = true;
    type Args = Args;
    type Answer = TaskView;
}

impl Read for GetTask {
    fn read(cx: &ReadCx<'_>, Args {}: Args) -> Result<TaskView, ToolError> {
        let task = current_task(cx, cx.caller.agent()?)?;
        task_view(cx.tx, task_for(cx.tx, cx.caller, task)?)
    }
}
