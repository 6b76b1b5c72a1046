//! Epics: the board's rows with their progress, and the answers of the epic tools.

use crate::paging::PageCursor;
use model::Column;
use model::task::OfficeState;
use model::{AgentId, EpicId, EpicState, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of tasks by column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ColumnCounts {
    /// Blocked
    pub blocked: i64,
    /// Free to be started
    pub ready: i64,
    /// In progress
    pub in_progress: i64,
    /// Waiting for review
    pub in_review: i64,
    /// Completed, failed or cancelled
    pub done: i64,
}

impl ColumnCounts {
    /// Returns the count of a column.
    pub const fn of(&self, column: Column) -> i64 {
        match column {
            Column::Blocked => self.blocked,
            Column::Ready => self.ready,
            Column::InProgress => self.in_progress,
            Column::InReview => self.in_review,
            Column::Done => self.done,
        }
    }

    /// Adds to the count of a column.
    pub const fn add(&mut self, column: Column, count: i64) {
        match column {
            Column::Blocked => self.blocked += count,
            Column::Ready => self.ready += count,
            Column::InProgress => self.in_progress += count,
            Column::InReview => self.in_review += count,
            Column::Done => self.done += count,
        }
    }
}

/// An epic and how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Epic")]
pub struct EpicRow {
    /// Its id
    pub id: EpicId,
    /// Its place among all epics
    pub number: i64,
    /// Title
    pub title: String,
    /// Description
    pub description: Option<String>,
    /// State
    pub state: EpicState,
    /// Number of its tasks by column
    pub counts: ColumnCounts,
    /// Number of tasks
    pub tasks: i64,
    /// Number of completed tasks
    pub done: i64,
    /// Reported cost of its agents in dollars; null if none reported
    pub cost_usd: Option<f64>,
    /// Supervising agent; null if there is none
    pub supervisor_id: Option<AgentId>,
    /// When it was created
    pub created_at: Timestamp,
    /// When it last changed
    pub updated_at: Timestamp,
}

/// A page of epics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Epics {
    /// The epics, oldest first
    pub epics: Vec<EpicRow>,
    /// Cursor of the next page, if there is one
    pub next_cursor: Option<i64>,
}

/// An epic, as the office shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EpicView {
    /// Its id
    pub id: EpicId,
    /// Its issue in Linear
    pub linear_issue_id: Option<String>,
    /// URL of that issue
    pub linear_issue_url: Option<String>,
    /// Title
    pub title: String,
    /// Description
    pub description: Option<String>,
    /// State
    pub state: EpicState,
    /// When it was created
    pub created_at: Timestamp,
    /// When it last changed
    pub updated_at: Timestamp,
    /// When it was done
    pub completed_at: Option<Timestamp>,
}

/// An epic and how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EpicAnswer {
    /// The epic
    #[serde(flatten)]
    pub epic: EpicView,
    /// Number of its tasks by state
    pub task_counts: EpicTaskCounts,
}

/// Tasks by state; cancelled ones count as failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub struct EpicTaskCounts {
    /// Free to claim
    pub pending: i64,
    /// Assigned to an agent that has not begun
    pub assigned: i64,
    /// In progress
    pub in_progress: i64,
    /// Waiting for review
    pub review: i64,
    /// Blocked
    pub blocked: i64,
    /// Done
    pub completed: i64,
    /// Failed or cancelled
    pub failed: i64,
}

impl EpicTaskCounts {
    /// Returns the count of a state, to be changed.
    pub const fn of(&mut self, state: OfficeState) -> &mut i64 {
        match state {
            OfficeState::Pending => &mut self.pending,
            OfficeState::Assigned => &mut self.assigned,
            OfficeState::InProgress => &mut self.in_progress,
            OfficeState::Review => &mut self.review,
            OfficeState::Blocked => &mut self.blocked,
            OfficeState::Completed => &mut self.completed,
            OfficeState::Failed => &mut self.failed,
        }
    }
}

/// A page of epics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EpicsAnswer {
    /// The epics
    pub epics: Vec<EpicView>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

/// The pull request of an epic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EpicPullRequest {
    /// The epic
    pub epic_id: EpicId,
    /// Its number; null while it is being opened
    pub pr_number: Option<u64>,
    /// Its page
    pub pr_url: Option<String>,
    /// The branch that is to be merged
    pub branch_name: String,
    /// Into which
    pub base_branch: Option<String>,
    /// Progress of the request
    pub status: EpicPullRequestStatus,
}

/// State of a pull request's creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EpicPullRequestStatus {
    /// It is there
    Done,
    /// It is being opened; the same call again waits for it
    Pending,
}
