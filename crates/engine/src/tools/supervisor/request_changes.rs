//! `mcp__supervisor__request_changes`.

use model::Text;
use model::task::TaskRef;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::tasks::ReturnedTask;

use super::led_task;
use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::delivery::merge_queue::{self, NOBODY_WORKS, in_review, worker_of};
use crate::mail::outgoing::MailText;
use crate::tasks::task_change;

/// Send a task in `REVIEW` back, with the requested changes
///
/// Its agent continues and receives the changes by mail. If that agent has ended, the task is
/// `PENDING`; the next agent continues from its branch and reads your text in the task's comments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The task: its id, slug or number (`TAS-12`)
    task_id: TaskRef,
    /// Requested changes, with reasons
    feedback: Text<100_000>,
}

pub(crate) struct RequestChanges;

impl Tool for RequestChanges {
    const NAME: &'static str = "mcp__supervisor__request_changes";
    type Args = Args;
    type Answer = ReturnedTask;
}

impl Write for RequestChanges {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<ReturnedTask, ToolError> {
        let mut task = led_task(cx.tx, cx.caller, &args.task_id)?;
        if args.feedback.trim().is_empty() {
            return Err(ToolError::invalid("`feedback` is empty").detail("field", "feedback"));
        }
        in_review(&task)?;
        merge_queue::take_out(cx.tx, &task, "changes were requested", cx.now)?;
        let by = (cx.caller.id(), cx.now);
        task_change::remark(cx.tx, &task, &format!("Changes requested:\n\n{}", args.feedback), by)?;
        let worker = worker_of(cx.tx, &task)?;
        let live = merge_queue::hold_back(cx.tx, &mut task, by)?;
        let number = TaskRef::Number(task.number);
        let next = if live.is_some() {
            "Submit it again with `update_status` and `REVIEW` when you are done."
        } else {
            NOBODY_WORKS
        };
        let word = MailText {
            subject: format!("Changes Requested: {number} {}", task.title),
            body: format!("{}\n\n{next}", args.feedback),
        };
        // Who asked for it need not be told that nobody is there.
        let above = task.epic.map(|epic| cx.tx.agent_supervising(epic)).transpose()?.flatten();
        if live.is_some() || above.is_some_and(|above| Some(above.id) != cx.caller.id()) {
            let from = cx.caller.sender();
            merge_queue::write_to(cx.tx, &task, worker.as_ref(), from, word, cx.now)?;
        }
        Ok(ReturnedTask {
            task_id: task.id,
            state: task.state.name().office(),
            agent_id: live.map(|live| live.id),
            branch_name: task.branch_name,
        })
    }
}
