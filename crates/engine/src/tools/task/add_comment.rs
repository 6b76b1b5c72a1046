//! `mcp__task__add_comment`.

use model::Text;
use model::task::TaskRef;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::tasks::AddedComment;

use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::tasks::{task_change, task_hold};

/// Comment on a task
///
/// Agents that work on the task later read the comment.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The task: its id, slug or number (`TAS-12`); your own by default
    task_id: Option<TaskRef>,
    /// Text
    body: Text<100_000>,
}

pub(crate) struct AddComment;

impl Tool for AddComment {
    const NAME: &'static str = "mcp__task__add_comment";
    type Args = Args;
    type Answer = AddedComment;
}

impl Write for AddComment {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<AddedComment, ToolError> {
        let task = task_hold::named_or_own(cx.tx, cx.caller, args.task_id)?;
        task_hold::own_only(cx, &task)?;
        let by = (cx.caller.id(), cx.now);
        let comment_id = task_change::remark(cx.tx, &task, &args.body, by)?;
        Ok(AddedComment { comment_id, task_id: task.id, timestamp: cx.now })
    }
}
