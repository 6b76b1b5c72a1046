//! `mcp__task__get`.

use model::task::TaskRef;
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Comment, Dispatch};

use super::TaskView;
use crate::call::cx::{ReadCx, find_task, task_for};
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tools::paging::Cursor;

/// Get a task with its remarks and who worked on it
///
/// The last 50 remarks come first. Where there are more, `earlierComments` says how many and
/// `commentsCursor` gets the 50 before.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The task: its id, slug or number (`TAS-12`)
    task_id: TaskRef,
    /// Earlier remarks: `commentsCursor` of the answer before
    comments_cursor: Option<Cursor>,
}

/// A task and its story.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    // Only ever written, so that flattening cannot swallow a field.
    #[serde(flatten)]
    task: TaskView,
    /// The last 50 remarks, or the last 50 before the cursor, oldest first
    comments: Vec<CommentView>,
    /// Number of earlier comments not in this answer; absent if there are none
    #[serde(skip_serializing_if = "Option::is_none")]
    earlier_comments: Option<u64>,
    /// Where the earlier remarks go on; absent where there are none
    #[serde(skip_serializing_if = "Option::is_none")]
    comments_cursor: Option<Cursor>,
    /// The agents that worked on it, in order
    history: Vec<DispatchView>,
}

/// A remark.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CommentView {
    /// Its number
    id: i64,
    /// Who wrote it; null is the human
    agent_id: Option<AgentId>,
    /// What it says
    body: String,
    /// When it was written
    created_at: Timestamp,
}

impl From<Comment> for CommentView {
    fn from(comment: Comment) -> Self {
        Self {
            id: comment.number,
            agent_id: comment.agent,
            body: comment.body,
            created_at: comment.created_at,
        }
    }
}

/// An agent's work on a task.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DispatchView {
    /// Who
    agent_id: AgentId,
    /// In which role
    role: String,
    /// How it ended; `running` while it goes on
    status: String,
    /// From when
    started_at: Timestamp,
    /// Until when
    ended_at: Option<Timestamp>,
}

impl From<Dispatch> for DispatchView {
    fn from(dispatch: Dispatch) -> Self {
        Self {
            agent_id: dispatch.agent,
            role: dispatch.role,
            status: dispatch.status.unwrap_or_else(|| "running".to_owned()),
            started_at: dispatch.started_at,
            ended_at: dispatch.ended_at,
        }
    }
}

/// Remarks in one answer.
const COMMENTS: u32 = 50;

pub(crate) struct Get;

impl Tool for Get {
    const NAME: &'static str = "mcp__task__get";
    type Args = Args;
    type Answer = Answer;
}

impl Read for Get {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<Answer, ToolError> {
        let task = task_for(cx.tx, cx.caller, find_task(cx.tx, &args.task_id)?)?;
        let before = args.comments_cursor.map_or(i64::MAX, Cursor::number);
        let comments = cx.tx.comment_list_before(task.number, before, COMMENTS)?;
        let first = comments.first().map_or(before, |comment| comment.number);
        let earlier = cx.tx.comment_count_before(task.number, first)?;
        let history = cx.tx.dispatch_list(task.number)?;
        Ok(Answer {
            task: TaskView::of(cx.tx, task)?,
            comments: comments.into_iter().map(CommentView::from).collect(),
            earlier_comments: (earlier > 0).then_some(earlier),
            comments_cursor: (earlier > 0).then(|| Cursor::from(first)),
            history: history.into_iter().map(DispatchView::from).collect(),
        })
    }
}
