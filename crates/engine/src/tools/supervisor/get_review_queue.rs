//! `mcp__supervisor__get_review_queue`.

use model::EpicId;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::merges::ReviewQueueAnswer;
use wire::paging::PageCursor;

use crate::call::cx::ReadCx;
use crate::call::paging::Limit;
use crate::call::tool::{Probe, Tool};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::delivery::merge_queue::{ReviewScope, Waiting, look_at};
use crate::tasks::epic::find_epic;

/// List work that waits for approval, and approved work that waits to be merged
///
/// For each task in `REVIEW`: its branch, the size of its changes, whether it merges cleanly now,
/// and the other branches that change the same files, with the conflicting lines. Approve first the
/// work that conflicts with the fewest others.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Only tasks of this epic; by default your own epic's, or all if you have none
    epic_id: Option<EpicId>,
    /// Maximum number of tasks (default 50)
    limit: Option<Limit>,
    /// `nextCursor` of the previous page
    cursor: Option<PageCursor>,
}

pub(crate) struct GetReviewQueue;

impl Tool for GetReviewQueue {
    const NAME: &'static str = "mcp__supervisor__get_review_queue";
    type Args = Args;
    type Answer = ReviewQueueAnswer;
}

impl Probe for GetReviewQueue {
    type Question = Waiting;

    fn question(cx: &ReadCx<'_>, args: Args) -> Result<Waiting, ToolError> {
        if let Some(epic) = args.epic_id {
            find_epic(cx.tx, epic)?;
        }
        let own = cx.caller.agent.as_ref().and_then(|agent| agent.epic);
        let scope = ReviewScope {
            epic: args.epic_id.or(own),
            after: args.cursor.map_or(0, PageCursor::number),
            limit: Limit::or(args.limit, 50),
        };
        look_at(cx.tx, scope)
    }

    fn answer(engine: &Core, waiting: Waiting) -> Result<ReviewQueueAnswer, ToolError> {
        waiting.ask_git(engine)
    }
}
