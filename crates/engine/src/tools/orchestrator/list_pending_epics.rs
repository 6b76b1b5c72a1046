//! `mcp__orchestrator__list_pending_epics`.

use schemars::JsonSchema;
use serde::Deserialize;
use store::Epic;
use wire::paging::PageCursor;
use wire::supervisors::{PendingEpic, PendingEpics};

use crate::call::cx::ReadCx;
use crate::call::paging::Limit;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tools::epic::get::epic_task_counts;

/// List open epics without a supervisor
///
/// Start one with `create_supervisor`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Maximum number of entries (default 50)
    limit: Option<Limit>,
    /// `nextCursor` of the previous page
    cursor: Option<PageCursor>,
}

pub(crate) struct ListPendingEpics;

impl Tool for ListPendingEpics {
    const NAME: &'static str = "mcp__orchestrator__list_pending_epics";
    type Args = Args;
    type Answer = PendingEpics;
}

impl Read for ListPendingEpics {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<PendingEpics, ToolError> {
        let after = args.cursor.map_or(0, PageCursor::number);
        let page = cx.tx.epic_page_unled(after, Limit::or(args.limit, 50))?;
        let pending = |epic: Epic| {
            let tasks = epic_task_counts(cx.tx, epic.id)?;
            let Epic { id, title, state, created_at, .. } = epic;
            Ok(PendingEpic { epic_id: id, title, state, created_at, tasks })
        };
        Ok(PendingEpics {
            epics: page.items.into_iter().map(pending).collect::<Result<_, ToolError>>()?,
            next_cursor: page.next.map(PageCursor::from),
        })
    }
}
