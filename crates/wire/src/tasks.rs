//! Tasks: the board, lists, one task in detail, history and graph, and the answers of the task tools.

use crate::paging::PageCursor;
use crate::reviews::PullRequestView;
use model::event::EventKind;
use model::review::MergeState;
use model::task::{OfficeState, Priority, TaskRef};
use model::{
    AgentId, AgentStateName, Column, EpicId, LogId, MailId, TaskId, TaskStateName, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A task on the board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskRow {
    /// Its id
    pub id: TaskId,
    /// Its number: 12 for `TAS-12`
    pub number: i64,
    /// Its slug
    pub slug: String,
    /// Title, one line
    pub title: String,
    /// State in the office's words
    pub state: OfficeState,
    /// The same as it is stored
    pub stored_state: TaskStateName,
    /// In which column
    pub column: Column,
    /// Priority: 0 is the most urgent, 4 the least
    pub priority: Priority,
    /// In which session
    pub session: String,
    /// The epic it belongs to
    pub epic: Option<EpicName>,
    /// Tasks that it depends on
    pub needs: Vec<TaskNeed>,
    /// Number of tasks that wait for it
    pub needed_by: i64,
    /// Agent that holds it, else the one assigned to it
    pub agent: Option<TaskAgent>,
    /// State of its approved work in the merge queue; null if it has none
    pub merge: Option<MergeState>,
    /// Cost of its agents in dollars; null if unknown
    pub cost_usd: Option<f64>,
    /// When it last changed
    pub updated_at: Timestamp,
}

/// An epic by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EpicName {
    /// Its id
    pub id: EpicId,
    /// Title
    pub title: String,
}

/// A task that another needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskNeed {
    /// Its number
    pub number: i64,
    /// True if it is completed or cancelled
    pub done: bool,
}

/// An agent on a task's card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskAgent {
    /// Its id
    pub id: AgentId,
    /// The end of its id, by which people call it
    pub short: String,
    /// Its role
    pub role: String,
    /// Current state
    pub state: AgentStateName,
    /// Start of its running time while it works, else of its current state
    pub since: Timestamp,
    /// Until when its model does not answer it
    pub limited_until: Option<Timestamp>,
    /// Open question to a person
    pub asks: Option<TaskQuestion>,
    /// Reviews so far and the limit
    pub review: Option<TaskReview>,
}

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskQuestion {
    /// The mail that asks
    pub mail_id: MailId,
    /// Subject
    pub subject: String,
    /// Since when it waits
    pub since: Timestamp,
}

/// Reviews of an agent, with its limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskReview {
    /// Number of reviews so far
    pub iteration: u32,
    /// Maximum number of reviews
    pub max: u32,
}

/// The board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Board {
    /// Its columns, from left to right
    pub columns: Vec<BoardColumn>,
    /// True if more tasks match than were searched
    pub truncated: bool,
}

/// A column of the board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardColumn {
    /// Column
    pub name: Column,
    /// Number of tasks
    pub count: i64,
    /// The first of them, by priority and then the newest first; what is done, only the newest first
    pub tasks: Vec<TaskRow>,
    /// Cursor of the next page, if there is one
    pub next_cursor: Option<String>,
}

/// A page of tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tasks {
    /// The tasks
    pub tasks: Vec<TaskRow>,
    /// Cursor of the next page, if there is one
    pub next_cursor: Option<String>,
    /// True if more tasks match than were searched
    pub truncated: bool,
}

/// A task in the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphNode {
    /// Its number
    pub number: i64,
    /// Title
    pub title: String,
    /// State
    pub state: TaskStateName,
    /// In which column
    pub column: Column,
    /// Priority
    pub priority: Priority,
}

/// That one task must be done before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphEdge {
    /// Task that must be done first
    pub from: i64,
    /// Task that waits for it
    pub to: i64,
}

/// Tasks and their dependencies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskGraph {
    /// The open tasks with dependencies, and the tasks they are connected with
    pub nodes: Vec<GraphNode>,
    /// Dependencies between the tasks
    pub edges: Vec<GraphEdge>,
    /// True if there are more tasks than shown
    pub truncated: bool,
}

/// One thing that happened to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryEntry {
    /// The number of its event
    pub number: i64,
    /// When
    pub at: Timestamp,
    /// Kind of the event
    pub kind: EventKind,
    /// Description of the change
    pub text: String,
    /// Acting agent; null for the operator
    pub by: Option<AgentId>,
    /// Text of a comment
    pub comment: Option<String>,
}

/// A page of a task's history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskHistory {
    /// The newest first
    pub history: Vec<HistoryEntry>,
    /// Cursor of the next page, if there is one
    pub next_cursor: Option<i64>,
}

/// A task, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WholeTask")]
pub struct TaskDetails {
    /// The task as on the board
    #[serde(flatten)]
    pub row: TaskRow,
    /// Description
    pub description: Option<String>,
    /// Reason of its state, if one was given
    pub reason: Option<String>,
    /// Number of the current claim
    pub fence: i64,
    /// Number of agents that ended without finishing it
    pub attempts: u32,
    /// Tasks it depends on, the first 100
    pub waits_for: Vec<TaskLink>,
    /// Tasks that depend on it, the first 100
    pub waited_for_by: Vec<TaskLink>,
    /// The last 100 remarks, oldest first
    pub comments: Vec<TaskComment>,
    /// The last 100 agents that worked on it, newest first
    pub dispatches: Vec<TaskDispatch>,
    /// Number of agents that worked on it
    pub agents: i64,
    /// Budget in dollars of its holder and descendants; null without one
    pub budget_usd: Option<f64>,
    /// The last 50 things that happened, newest first
    pub history: Vec<HistoryEntry>,
    /// Cursor of older entries, if there are any
    pub history_cursor: Option<i64>,
    /// Branch of the work
    pub branch_name: Option<String>,
    /// Its pull request, if Adjutant opened it
    pub pull_request: Option<PullRequestView>,
    /// URL of its pull request
    pub pr_url: Option<String>,
    /// Context for the next agent, as Markdown
    pub context: String,
    /// When it was created
    pub created_at: Timestamp,
}

/// A task beside another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskLink {
    /// Its number
    pub number: i64,
    /// Title
    pub title: String,
    /// State
    pub state: TaskStateName,
    /// In which column
    pub column: Column,
}

/// A remark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskComment {
    /// Its number
    pub id: i64,
    /// Author; null for the operator
    pub agent_id: Option<AgentId>,
    /// Its writer's role
    pub role: Option<String>,
    /// Decoded body
    pub body: String,
    /// When it was written
    pub created_at: Timestamp,
}

/// An agent's work on a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskDispatch {
    /// Agent id
    pub agent_id: AgentId,
    /// The end of its id
    pub short: String,
    /// Role
    pub role: String,
    /// Final status; `running` until it ends
    pub status: String,
    /// From when
    pub started_at: Timestamp,
    /// Until when
    pub ended_at: Option<Timestamp>,
    /// Short result
    pub summary: Option<String>,
    /// Cost in dollars; null if unknown
    pub cost_usd: Option<f64>,
}

/// A task's context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskContext {
    /// Markdown; texts of others are quoted
    pub context: String,
}

/// The tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskLines {
    /// The tasks, newest first
    pub tasks: Vec<TaskLine>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskLine {
    /// Its slug
    pub slug: String,
    /// When it was created
    pub created: Timestamp,
    /// Description
    pub description: String,
    /// Number of agents that worked on it
    pub dispatch_count: i64,
    /// State
    pub state: TaskStateName,
}

/// A task, as the office shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    /// Its id
    pub id: TaskId,
    /// Its slug
    pub slug: String,
    /// Its number: `TAS-12`
    pub number: TaskRef,
    /// Title
    pub title: String,
    /// Description
    pub description: Option<String>,
    /// State
    pub state: OfficeState,
    /// State as stored, which distinguishes cancelled from failed
    pub stored_state: TaskStateName,
    /// Priority: 0 is the most urgent, 4 the least
    pub priority: Priority,
    /// Tasks that it depends on
    pub depends_on: Vec<TaskId>,
    /// The epic it belongs to
    pub epic_id: Option<EpicId>,
    /// Agent it was last assigned to
    pub assigned_agent_id: Option<AgentId>,
    /// Path of its files
    pub worktree_path: Option<String>,
    /// Branch of the work
    pub branch_name: Option<String>,
    /// Its pull request
    pub pr_url: Option<String>,
    /// When it was created
    pub created_at: Timestamp,
    /// When it last changed
    pub updated_at: Timestamp,
}

/// A task and its story.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskAnswer {
    /// The task
    #[serde(flatten)]
    pub task: TaskView,
    /// Last 50 comments, or the last 50 before the cursor, oldest first
    pub comments: Vec<CommentLine>,
    /// Number of earlier comments not in this answer; absent if there are none
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier_comments: Option<u64>,
    /// Cursor of earlier comments; absent if there are none
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments_cursor: Option<PageCursor>,
    /// The agents that worked on it, in order
    pub history: Vec<DispatchLine>,
}

/// A remark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommentLine {
    /// Its number
    pub id: i64,
    /// Author; null for the human
    pub agent_id: Option<AgentId>,
    /// Decoded body
    pub body: String,
    /// When it was written
    pub created_at: Timestamp,
}

/// An agent's work on a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DispatchLine {
    /// Agent id
    pub agent_id: AgentId,
    /// Role
    pub role: String,
    /// Final status; `running` until it ends
    pub status: String,
    /// From when
    pub started_at: Timestamp,
    /// Until when
    pub ended_at: Option<Timestamp>,
}

/// A page of tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TasksAnswer {
    /// The tasks
    pub tasks: Vec<TaskView>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

/// That a remark is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddedComment {
    /// The remark
    pub comment_id: i64,
    /// The task
    pub task_id: TaskId,
    /// When it was written
    pub timestamp: Timestamp,
}

/// That a task counts as done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForcedTask {
    /// The task
    pub task_id: TaskId,
    /// Current state
    pub state: OfficeState,
    /// Its branch, which was not merged
    pub branch_name: Option<String>,
    /// The entry in the log of decisions
    pub log_id: LogId,
}

/// That a task was sent back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReturnedTask {
    /// The task
    pub task_id: TaskId,
    /// Current state
    pub state: OfficeState,
    /// Agent that continues it; null if there is none yet
    pub agent_id: Option<AgentId>,
    /// Branch on which the work continues
    pub branch_name: Option<String>,
}
