//! `mcp__session__task-add`.

use model::Text;
use model::task::{Priority, SessionStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::session::{AddedTasks, SessionTask};

use super::fields::{DependsOn, OrEmpty};
use super::{at, go};
use crate::call::cx::{WriteCx, find_task};
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::tasks::task_add::{TaskDraft, add};
use crate::tasks::task_needs;
use crate::tools::items::Items;
use crate::tools::session::session_task;

/// Add one or more tasks
///
/// Either all are added or none. A task with the same content as an open task of the session is
/// refused.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The tasks, 1 to 100
    tasks: Items<Item, 1, 100>,
}

/// A task to be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Item {
    /// Description
    content: Text<4000>,
    /// Status (default `remaining`)
    status: Option<OrEmpty<SessionStatus>>,
    /// Priority: 0 is the most urgent, 4 the least (default 2)
    priority: Option<OrEmpty<Priority>>,
    /// Tasks that it depends on: one, several with commas, or a list
    depends_on: Option<DependsOn>,
}

pub(crate) struct TaskAdd;

impl Tool for TaskAdd {
    const NAME: &'static str = "mcp__session__task-add";
    type Args = Args;
    type Answer = AddedTasks;
}

impl Write for TaskAdd {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<AddedTasks, ToolError> {
        let in_a_loop = cx.caller.agent.as_ref().is_some_and(|agent| agent.session.is_some());
        if !in_a_loop && !cx.caller.may(cx.settings, "mcp__task__create") {
            return Err(ToolError::denied(
                "outside a loop `task-add` needs permission for `mcp__task__create`",
            ));
        }
        let items = args.tasks.into_inner();
        // Only what was there before: a number of this batch would be a guess, which another
        // caller may have made wrong.
        for (index, item) in items.iter().enumerate() {
            for need in item.depends_on.iter().flat_map(|needs| &needs.0) {
                find_task(cx.tx, need).map_err(|error| at("tasks", index, error))?;
            }
        }
        let mut tasks = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            tasks.push(add_one(cx, item).map_err(|error| at("tasks", index, error))?);
        }
        Ok(AddedTasks { count: tasks.len(), tasks })
    }
}

fn add_one(cx: &mut WriteCx<'_, '_>, item: Item) -> Result<SessionTask, ToolError> {
    let draft = TaskDraft {
        title: item.content.into_inner(),
        priority: OrEmpty::given(item.priority).unwrap_or_default(),
        ..TaskDraft::default()
    };
    let session = cx.caller.session();
    if let Some(same) = cx.tx.task_with_title(session, &draft.title)? {
        let number = format!("TAS-{}", same.number);
        let message =
            format!("session `{session}` already has an open task with this content: {number}");
        return Err(ToolError::conflict(message).detail("task", number));
    }
    let mut task = add(cx, draft)?;
    task_needs::add(cx, &mut task, &item.depends_on.unwrap_or_default().0)?;
    if let Some(status) = OrEmpty::given(item.status) {
        go(cx, &mut task, status)?;
    }
    session_task(cx.tx, task)
}
