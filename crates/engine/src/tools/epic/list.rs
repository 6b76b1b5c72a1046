//! `mcp__epic__list`.

use schemars::JsonSchema;
use serde::Deserialize;
use wire::epics::EpicsAnswer;
use wire::paging::PageCursor;

use crate::call::cx::ReadCx;
use crate::call::paging::Limit;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tools::epic::epic_view;

/// List epics, oldest first
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Maximum number of entries (default 50)
    limit: Option<Limit>,
    /// `nextCursor` of the previous page
    cursor: Option<PageCursor>,
}

pub(crate) struct List;

impl Tool for List {
    const NAME: &'static str = "mcp__epic__list";
    type Args = Args;
    type Answer = EpicsAnswer;
}

impl Read for List {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<EpicsAnswer, ToolError> {
        let after = args.cursor.map_or(0, PageCursor::number);
        let page = cx.tx.epic_page(after, Limit::or(args.limit, 50))?;
        Ok(EpicsAnswer {
            epics: page.items.into_iter().map(epic_view).collect(),
            next_cursor: page.next.map(PageCursor::from),
        })
    }
}
