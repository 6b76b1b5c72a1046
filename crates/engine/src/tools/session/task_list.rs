//! `mcp__session__task-list`.

use model::task::SessionStatus;
use schemars::JsonSchema;
use serde::Deserialize;
use store::TaskFilter;
use wire::paging::PageCursor;
use wire::session::SessionTasks;

use super::fields::OrEmpty;
use crate::call::cx::ReadCx;
use crate::call::paging::Limit;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tools::session::session_task;

/// List all tasks grouped by status
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Only tasks with this status
    status: Option<OrEmpty<SessionStatus>>,
    /// Maximum number of entries (default 200)
    limit: Option<Limit>,
    /// `nextCursor` of the previous page
    cursor: Option<PageCursor>,
}

pub(crate) struct TaskList;

impl Tool for TaskList {
    const NAME: &'static str = "mcp__session__task-list";
    type Args = Args;
    type Answer = SessionTasks;
}

impl Read for TaskList {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<SessionTasks, ToolError> {
        let filter = TaskFilter {
            states: OrEmpty::given(args.status)
                .map(|status| status.stored().collect())
                .unwrap_or_default(),
            epic: None,
            session: Some(cx.caller.session().to_owned()),
        };
        let after = args.cursor.map_or(0, PageCursor::number);
        let page = cx.tx.task_page(&filter, after, Limit::or(args.limit, 200))?;
        let mut answer = SessionTasks {
            count: page.items.len(),
            next_cursor: page.next.map(PageCursor::from),
            ..SessionTasks::default()
        };
        for task in page.items {
            let task = session_task(cx.tx, task)?;
            answer.group(task.status).push(task);
        }
        Ok(answer)
    }
}
