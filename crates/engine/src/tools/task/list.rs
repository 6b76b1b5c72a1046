//! `mcp__task__list`.

use model::EpicId;
use model::task::OfficeState;
use schemars::JsonSchema;
use serde::Deserialize;
use store::TaskFilter;
use wire::paging::PageCursor;
use wire::tasks::TasksAnswer;

use crate::call::cx::ReadCx;
use crate::call::paging::Limit;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tasks::epic::find_epic;
use crate::tasks::view::task_view;

/// List tasks, oldest first by default
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Only tasks in this state; `FAILED` includes cancelled ones
    state: Option<OfficeState>,
    /// Only tasks of this epic
    epic_id: Option<EpicId>,
    /// True to list the newest first
    newest_first: Option<bool>,
    /// Maximum number of entries (default 50)
    limit: Option<Limit>,
    /// `nextCursor` of the previous page
    cursor: Option<PageCursor>,
}

pub(crate) struct List;

impl Tool for List {
    const NAME: &'static str = "mcp__task__list";
    type Args = Args;
    type Answer = TasksAnswer;
}

impl Read for List {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<TasksAnswer, ToolError> {
        if let Some(epic) = args.epic_id {
            find_epic(cx.tx, epic)?;
        }
        let states = args.state.map(|state| state.stored().collect()).unwrap_or_default();
        let filter = TaskFilter { states, epic: args.epic_id, session: None };
        let (cursor, limit) = (args.cursor.map(PageCursor::number), Limit::or(args.limit, 50));
        let page = if args.newest_first == Some(true) {
            cx.tx.task_page_newest(&filter, cursor.unwrap_or(i64::MAX), limit)?
        } else {
            cx.tx.task_page(&filter, cursor.unwrap_or(0), limit)?
        };
        let tasks = page.items.into_iter().map(|task| task_view(cx.tx, task));
        Ok(TasksAnswer {
            tasks: tasks.collect::<Result<_, _>>()?,
            next_cursor: page.next.map(PageCursor::from),
        })
    }
}
