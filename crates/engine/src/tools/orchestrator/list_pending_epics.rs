//! `mcp__orchestrator__list_pending_epics`.

use model::{EpicId, EpicState, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::Epic;

use crate::call::cx::ReadCx;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tools::epic::get::TaskCounts;
use crate::tools::paging::{Cursor, Limit};

/// List the epics that are open and have no supervisor
///
/// `create_supervisor` starts one.
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
    /// The epics, oldest first
    epics: Vec<Pending>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Cursor>,
}

/// An epic that nobody leads.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pending {
    /// Its id
    epic_id: EpicId,
    /// What it is called
    title: String,
    /// Where it stands
    state: EpicState,
    /// When it was made
    created_at: Timestamp,
    /// How many of its tasks are in each state
    tasks: TaskCounts,
}

pub(crate) struct ListPendingEpics;

impl Tool for ListPendingEpics {
    const NAME: &'static str = "mcp__orchestrator__list_pending_epics";
    type Args = Args;
    type Answer = Answer;
}

impl Read for ListPendingEpics {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<Answer, ToolError> {
        let after = args.cursor.map_or(0, Cursor::number);
        let page = cx.tx.epic_page_unled(after, Limit::or(args.limit, 50))?;
        let pending = |epic: Epic| {
            let tasks = TaskCounts::in_epic(cx.tx, epic.id)?;
            let Epic { id, title, state, created_at, .. } = epic;
            Ok(Pending { epic_id: id, title, state, created_at, tasks })
        };
        Ok(Answer {
            epics: page.items.into_iter().map(pending).collect::<Result<_, ToolError>>()?,
            next_cursor: page.next.map(Cursor::from),
        })
    }
}
