//! The merge queue: approved work on its way into branches, and work that waits for approval.

use crate::paging::PageCursor;
use crate::tasks::TaskView;
use model::agent::AgentStateName;
use model::review::MergeState;
use model::task::TaskRef;
use model::{AgentId, MergeId, TaskId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lines of a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LineRange {
    /// The first
    pub from: u32,
    /// The last
    pub to: u32,
}

/// A file that two sides changed in ways that do not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConflictView {
    /// The file
    pub file: String,
    /// The lines of the merged text that are in conflict
    pub lines: Vec<LineRange>,
    /// `content`, `add/add`, `modify/delete`, `binary` and the like
    pub kind: String,
}

/// Approved work on its way into a branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MergeView {
    /// Its id
    pub id: MergeId,
    /// The task
    pub task_id: TaskId,
    /// Its slug
    pub slug: String,
    /// Its number: `TAS-12`
    pub number: TaskRef,
    /// Title of the task
    pub title: String,
    /// Branch
    pub branch: String,
    /// Target branch
    pub target: String,
    /// The commit that was approved
    pub commit: String,
    /// The commit it was merged as
    pub merged_commit: Option<String>,
    /// Current state
    pub state: MergeState,
    /// Position in the queue of its target branch, from 1; null if it does not wait
    pub position: Option<u32>,
    /// Reason why it was sent back or is held
    pub reason: Option<String>,
    /// Conflicts
    pub conflicts: Vec<ConflictView>,
    /// End of the check's output, if the check failed
    pub check_output: Option<String>,
    /// End of the output of the set-up before the check, if the set-up failed
    pub setup_output: Option<String>,
    /// Conflicting files
    pub files: Vec<String>,
    /// Variables that the check would lack, or have with another value, because the server that had them has ended
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_variables: Vec<String>,
    /// Author of the work
    pub agent_id: Option<AgentId>,
    /// Approver; null for the human
    pub approved_by: Option<AgentId>,
    /// When it was approved
    pub created_at: Timestamp,
    /// When it ended
    pub ended_at: Option<Timestamp>,
}

/// A check that runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckingView {
    /// When it was started; null while it is about to be
    pub started_at: Option<Timestamp>,
    /// Last lines of output
    pub output: Vec<String>,
}

/// A merge that is watched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Merge")]
pub struct WatchedMerge {
    /// The merge
    #[serde(flatten)]
    pub merge: MergeView,
    /// The check that runs; absent while none does
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checking: Option<CheckingView>,
}

/// A page of approved work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Merges {
    /// Each on its way into a branch, oldest first
    pub merges: Vec<MergeView>,
    /// Recently ended ones, newest first; only if requested
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<MergeView>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

/// Another branch for the same target that changes the same files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BranchOverlap {
    /// Its task
    pub task_id: TaskId,
    /// Slug of its task
    pub slug: String,
    /// The files that both change
    pub files: Vec<String>,
    /// Conflicts between the two; null if there were too many pairs to try
    pub conflicts: Option<Vec<ConflictView>>,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewedPullRequest {
    /// Its number
    pub number: u64,
    /// Path or URL
    pub url: String,
    /// Current state
    pub state: model::review::PullState,
}

/// A task in review, with the state of its branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewedTask {
    /// The task
    #[serde(flatten)]
    pub task: TaskView,
    /// Branch of the work; null if it has none of its own
    pub branch: Option<String>,
    /// Head of that branch: the commit that an approval covers
    pub commit: Option<String>,
    /// Target branch
    pub target: Option<String>,
    /// Number of changed files
    pub changed_files: u64,
    /// Number of added lines
    pub additions: u64,
    /// Number of removed lines
    pub deletions: u64,
    /// Uncommitted files in its worktree; an approval does not cover them
    pub uncommitted: Vec<String>,
    /// Its pull request
    pub pull_request: Option<ReviewedPullRequest>,
    /// Other branches for the same target that change the same files
    pub overlaps: Vec<BranchOverlap>,
    /// True if it merges cleanly now; null if unknown
    pub merges_cleanly: Option<bool>,
    /// Conflicts
    pub conflicts: Vec<ConflictView>,
    /// Reason if git cannot read it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Work waiting for approval, and approved work waiting to be merged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewQueueAnswer {
    /// The tasks in `REVIEW`, oldest first
    pub tasks: Vec<ReviewedTask>,
    /// Approved work that is not merged yet, in order
    pub queue: Vec<MergeView>,
    /// Cursor of the next page of tasks, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

/// Author of a task's work, with its reviews.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewedWorker {
    /// The agent
    pub id: AgentId,
    /// Its role
    pub role: String,
    /// Current state
    pub state: AgentStateName,
    /// Number of reviews so far
    pub iterations: u32,
    /// Maximum number of reviews
    pub max_iterations: u32,
}

/// A task in review, with its state in git and the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewDeskTask {
    /// The task and the state of its branch
    #[serde(flatten)]
    pub task: ReviewedTask,
    /// Commits of its target that its branch lacks, up to 1000; null if unknown
    pub behind: Option<u64>,
    /// Author of the work
    pub worker: Option<ReviewedWorker>,
    /// Supervisor of its epic, who approves it or sends it back; null if a person does
    pub supervisor_id: Option<AgentId>,
    /// Its previous merge; null if it was never approved
    pub last_merge: Option<MergeView>,
    /// Variables that the check would lack, or have with another value, if it were approved without handing them on
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_variables: Vec<String>,
}

/// Work waiting for approval, and approved work waiting to be merged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ReviewQueue")]
pub struct ReviewDesk {
    /// The tasks in `REVIEW`, oldest first
    pub tasks: Vec<ReviewDeskTask>,
    /// Approved work that is not merged yet, in order
    pub queue: Vec<MergeView>,
    /// Cursor of the next page of tasks, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

/// Outcome of an approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovedTask {
    /// The task
    pub task_id: TaskId,
    /// Id of the merge; null if there is nothing to merge
    pub merge_id: Option<MergeId>,
    /// Current state
    pub status: ApprovalStatus,
    /// The commit by which it was merged
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Reason why it was sent back or is held
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Conflicts
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<ConflictView>,
    /// End of the check's output, if the check failed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_output: Option<String>,
    /// End of the output of the set-up before the check, if the set-up failed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup_output: Option<String>,
}

/// State of approved work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// It is in
    Merged,
    /// It does not match, and continues
    SentBack,
    /// A person has to see to something
    Held,
    /// It waits for its turn, or is being checked
    Queued,
    /// It had no branch of its own, so there was nothing to merge
    Completed,
}
