//! Answers of the session tools: tasks and notes of one loop.

use crate::paging::PageCursor;
use model::task::{Priority, SessionStatus, TaskRef};
use model::{AgentId, NoteType, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A task, as the session shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTask {
    /// Its number: `TAS-12`
    pub id: TaskRef,
    /// Description
    pub content: String,
    /// State
    pub status: SessionStatus,
    /// Priority: 0 is the most urgent, 4 the least
    pub priority: Priority,
    /// Tasks that it depends on
    pub depends_on: Vec<TaskRef>,
}

/// That it is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedSummary {
    /// The iteration
    pub iteration: u32,
    /// Always true
    pub recorded: bool,
}

/// Added entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AddedNotes {
    /// The notes, in the given order
    pub notes: Vec<AddedNote>,
    /// Number of entries
    pub count: usize,
}

/// A note that was added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AddedNote {
    /// Its number: `NOT-3`
    pub id: String,
    /// Kind of note
    #[serde(rename = "type")]
    pub kind: NoteType,
}

/// A page of notes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionNotes {
    /// The notes
    pub notes: Vec<SessionNote>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionNote {
    /// Its number: `NOT-3`
    pub id: String,
    /// Kind of note
    #[serde(rename = "type")]
    pub kind: NoteType,
    /// Text
    pub content: String,
    /// Iteration in which it was written
    pub iteration: u32,
    /// Author; null for the human
    pub agent_id: Option<AgentId>,
    /// When it was written
    pub created_at: Timestamp,
}

/// That it is complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompletedSession {
    /// The session
    pub session: String,
    /// Always true
    pub complete: bool,
}

/// Added entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AddedTasks {
    /// The tasks, in the given order
    pub tasks: Vec<SessionTask>,
    /// Number of entries
    pub count: usize,
}

/// The tasks of a session, oldest first in each group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTasks {
    /// Not begun
    pub remaining: Vec<SessionTask>,
    /// In progress
    pub in_progress: Vec<SessionTask>,
    /// Blocked
    pub blocked: Vec<SessionTask>,
    /// Done
    pub completed: Vec<SessionTask>,
    /// No longer needed
    pub cancelled: Vec<SessionTask>,
    /// Number of entries in this answer
    pub count: usize,
    /// Cursor of the next page, if there is one
    #[serde(rename = "nextCursor", skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

impl SessionTasks {
    /// Returns the tasks of a status.
    pub const fn group(&mut self, status: SessionStatus) -> &mut Vec<SessionTask> {
        match status {
            SessionStatus::Remaining => &mut self.remaining,
            SessionStatus::InProgress => &mut self.in_progress,
            SessionStatus::Blocked => &mut self.blocked,
            SessionStatus::Completed => &mut self.completed,
            SessionStatus::Cancelled => &mut self.cancelled,
        }
    }
}

/// The next task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NextTask {
    /// The task; null if none is ready
    pub task: Option<NextTaskItem>,
    /// Number of your claim; `task-update` takes it and refuses updates under an old one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<i64>,
}

/// The next task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NextTaskItem {
    /// Its number: `TAS-12`
    pub id: TaskRef,
    /// Description
    pub content: String,
    /// Priority: 0 is the most urgent, 4 the least
    pub priority: Priority,
    /// State
    pub status: SessionStatus,
    /// Description, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}
