//! `mcp__harness__list_tasks`.

use model::Timestamp;
use model::task::TaskStateName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::Task;

use crate::call::cx::ReadCx;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tools::paging::{Cursor, Limit};

/// List the tasks, newest first
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// At most so many (default 200)
    limit: Option<Limit>,
    /// Go on from `nextCursor` of the page before
    cursor: Option<Cursor>,
}

/// The tasks.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// The tasks, newest first
    tasks: Vec<TaskLine>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Cursor>,
}

/// One task.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskLine {
    /// Its slug
    slug: String,
    /// When it was made
    created: Timestamp,
    /// What is to be done
    description: String,
    /// How many agents have worked on it
    dispatch_count: i64,
    /// Where it stands
    state: TaskStateName,
}

pub(crate) struct ListTasks;

impl Tool for ListTasks {
    const NAME: &'static str = "mcp__harness__list_tasks";
    type Args = Args;
    type Answer = Answer;
}

impl Read for ListTasks {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<Answer, ToolError> {
        let before = args.cursor.map_or(i64::MAX, Cursor::number);
        let page = cx.tx.task_page_newest(before, Limit::or(args.limit, 200))?;
        let next_cursor = page.next.map(Cursor::from);
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
        Ok(Answer { tasks, next_cursor })
    }
}
