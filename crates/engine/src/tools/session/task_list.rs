//! `mcp__session__task-list`.

use model::task::SessionStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::TaskFilter;

use super::SessionTask;
use super::fields::OrEmpty;
use crate::call::cx::ReadCx;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tools::paging::{Cursor, Limit};

/// List all tasks grouped by status
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Only those of this status
    status: Option<OrEmpty<SessionStatus>>,
    /// At most so many (default 200)
    limit: Option<Limit>,
    /// Go on from `nextCursor` of the page before
    cursor: Option<Cursor>,
}

/// The tasks of a session, oldest first in each group.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// Not begun
    remaining: Vec<SessionTask>,
    /// Being worked on
    in_progress: Vec<SessionTask>,
    /// Held up
    blocked: Vec<SessionTask>,
    /// Done
    completed: Vec<SessionTask>,
    /// Not wanted any more
    cancelled: Vec<SessionTask>,
    /// How many are in this answer
    count: usize,
    /// Where the next page begins, if there is one
    #[serde(rename = "nextCursor", skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Cursor>,
}

impl Answer {
    const fn group(&mut self, status: SessionStatus) -> &mut Vec<SessionTask> {
        match status {
            SessionStatus::Remaining => &mut self.remaining,
            SessionStatus::InProgress => &mut self.in_progress,
            SessionStatus::Blocked => &mut self.blocked,
            SessionStatus::Completed => &mut self.completed,
            SessionStatus::Cancelled => &mut self.cancelled,
        }
    }
}

pub(crate) struct TaskList;

impl Tool for TaskList {
    const NAME: &'static str = "mcp__session__task-list";
    type Args = Args;
    type Answer = Answer;
}

impl Read for TaskList {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<Answer, ToolError> {
        let filter = TaskFilter {
            states: OrEmpty::said(args.status)
                .map(|status| status.stored().collect())
                .unwrap_or_default(),
            epic: None,
            session: Some(cx.caller.session().to_owned()),
        };
        let after = args.cursor.map_or(0, Cursor::number);
        let page = cx.tx.task_page(&filter, after, Limit::or(args.limit, 200))?;
        let mut answer = Answer {
            count: page.items.len(),
            next_cursor: page.next.map(Cursor::from),
            ..Answer::default()
        };
        for task in page.items {
            let task = SessionTask::of(cx.tx, task)?;
            answer.group(task.status).push(task);
        }
        Ok(answer)
    }
}
