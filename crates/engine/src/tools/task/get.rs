//! `mcp__task__get`.

use model::task::TaskRef;
use schemars::JsonSchema;
use serde::Deserialize;
use store::{Comment, Dispatch};
use wire::paging::PageCursor;
use wire::tasks::{CommentLine, DispatchLine, TaskAnswer};

use crate::call::cx::{ReadCx, find_task, task_for};
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tasks::view::task_view;

/// Get a task with its comments and the agents that worked on it
///
/// The answer has the last 50 comments. If there are more, `earlierComments` has their number, and
/// `commentsCursor` gets the 50 before.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The task: its id, slug or number (`TAS-12`)
    task_id: TaskRef,
    /// `commentsCursor` of the previous answer, for earlier comments
    comments_cursor: Option<PageCursor>,
}

fn comment_line(comment: Comment) -> CommentLine {
    CommentLine {
        id: comment.number,
        agent_id: comment.agent,
        body: comment.body,
        created_at: comment.created_at,
    }
}

fn dispatch_line(dispatch: Dispatch) -> DispatchLine {
    DispatchLine {
        agent_id: dispatch.agent,
        role: dispatch.role,
        status: dispatch.status.unwrap_or_else(|| "running".to_owned()),
        started_at: dispatch.started_at,
        ended_at: dispatch.ended_at,
    }
}

/// Remarks in one answer.
const COMMENTS: u32 = 50;

pub(crate) struct Get;

impl Tool for Get {
    const NAME: &'static str = "mcp__task__get";
    type Args = Args;
    type Answer = TaskAnswer;
}

impl Read for Get {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<TaskAnswer, ToolError> {
        let task = task_for(cx.tx, cx.caller, find_task(cx.tx, &args.task_id)?)?;
        let before = args.comments_cursor.map_or(i64::MAX, PageCursor::number);
        let comments = cx.tx.comment_list_before(task.number, before, COMMENTS)?;
        let first = comments.first().map_or(before, |comment| comment.number);
        let earlier = cx.tx.comment_count_before(task.number, first)?;
        let history = cx.tx.dispatch_list(task.number)?;
        Ok(TaskAnswer {
            task: task_view(cx.tx, task)?,
            comments: comments.into_iter().map(comment_line).collect(),
            earlier_comments: (earlier > 0).then_some(earlier),
            comments_cursor: (earlier > 0).then(|| PageCursor::from(first)),
            history: history.into_iter().map(dispatch_line).collect(),
        })
    }
}
