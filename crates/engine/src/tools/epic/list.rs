//! `mcp__epic__list`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EpicView;
use crate::call::cx::ReadCx;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tools::paging::{Cursor, Limit};

/// List epics, oldest first
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// At most so many (default 50)
    limit: Option<Limit>,
    /// Go on from `nextCursor` of the page before
    cursor: Option<Cursor>,
}

/// A page of epics.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// The epics
    epics: Vec<EpicView>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Cursor>,
}

pub(crate) struct List;

impl Tool for List {
    const NAME: &'static str = "mcp__epic__list";
    type Args = Args;
    type Answer = Answer;
}

impl Read for List {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<Answer, ToolError> {
        let after = args.cursor.map_or(0, Cursor::number);
        let page = cx.tx.epic_page(after, Limit::or(args.limit, 50))?;
        Ok(Answer {
            epics: page.items.into_iter().map(EpicView::from).collect(),
            next_cursor: page.next.map(Cursor::from),
        })
    }
}
