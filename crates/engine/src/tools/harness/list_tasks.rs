//! `mcp__harness__list_tasks`.

use schemars::JsonSchema;
use serde::Deserialize;
use store::{Task, TaskFilter};
use wire::paging::PageCursor;
use wire::tasks::{TaskLine, TaskLines};

use crate::call::cx::ReadCx;
use crate::call::paging::Limit;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;

/// List the tasks, newest first
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Maximum number of entries (default 200)
    limit: Option<Limit>,
    /// `nextCursor` of the previous page
    cursor: Option<PageCursor>,
}

pub(crate) struct ListTasks;

impl Tool for ListTasks {
    const NAME: &'static str = "mcp__harness__list_tasks";
    type Args = Args;
    type Answer = TaskLines;
}

impl Read for ListTasks {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<TaskLines, ToolError> {
        let before = args.cursor.map_or(i64::MAX, PageCursor::number);
        let page =
            cx.tx.task_page_newest(&TaskFilter::default(), before, Limit::or(args.limit, 200))?;
        let next_cursor = page.next.map(PageCursor::from);
        let line = |task: Task| {
            Ok(TaskLine {
                dispatch_count: cx.tx.dispatch_count(task.number)?,
                state: task.state.name(),
                slug: task.slug,
                created: task.created_at,
                description: task.description.unwrap_or(task.title),
            })
        };
        let tasks = page.items.into_iter().map(line).collect::<Result<_, ToolError>>()?;
        Ok(TaskLines { tasks, next_cursor })
    }
}
