//! Reviews, feedback and pull requests, with the answers of the review tools.

use model::agent::AgentStateName;
use model::review::{FeedbackPriority, FeedbackType, InstanceStatus, PullState, ReviewState};
use model::{AgentId, FeedbackId, TaskRef, Text, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A task in a few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewTask {
    /// Its number: `TAS-12`
    pub number: TaskRef,
    /// Its slug
    pub slug: String,
    /// Title
    pub title: String,
}

/// Feedback of a reviewer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackView {
    /// Its id
    pub id: FeedbackId,
    /// Type
    #[serde(rename = "type")]
    pub kind: FeedbackType,
    /// Priority
    pub priority: Option<FeedbackPriority>,
    /// Decoded body
    pub body: String,
    /// Action items
    pub items: Vec<String>,
    /// The commit by which it came; null until it is merged
    pub commit: Option<String>,
    /// Time of the message
    pub created_at: Timestamp,
}

/// A pull request in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullRequestView {
    /// `owner/name`
    pub repository: String,
    /// Its number there
    pub number: u64,
    /// Path or URL
    pub url: String,
    /// Current state
    pub state: PullState,
}

/// A review of an agent's work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewView {
    /// Author of the work
    pub coder_id: AgentId,
    /// The coder's role
    pub coder_role: String,
    /// Reviewing agent
    pub reviewer_id: AgentId,
    /// The reviewer's role
    pub reviewer_role: Option<String>,
    /// The slug of the coder's task
    pub task_slug: Option<String>,
    /// The coder's task
    pub task: Option<ReviewTask>,
    /// Number of the review, from 1
    pub iteration: u32,
    /// Maximum number of reviews
    pub max_iterations: u32,
    /// State
    pub state: ReviewState,
    /// True if it counts as a failed review
    pub failed: bool,
    /// Reviewed branch
    pub branch: String,
    /// Reviewed commit
    pub commit: String,
    /// Message of the coder
    pub message: Option<String>,
    /// Feedback of the reviewer
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<FeedbackView>,
    /// Status of the coder in the review toolset's vocabulary
    pub instance_status: InstanceStatus,
    /// The coder's pull request
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequestView>,
    /// The tmux session that shows the reviewer
    pub tmux_session: Option<String>,
    /// When it was asked for
    pub created_at: Timestamp,
    /// When it ended
    pub ended_at: Option<Timestamp>,
}

/// Reviews of an agent, with its limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoderView {
    /// The agent
    pub coder_id: AgentId,
    /// Its role
    pub role: String,
    /// Current state
    pub state: AgentStateName,
    /// The same in the words of the review's seed
    pub instance_status: InstanceStatus,
    /// The slug of its task
    pub task_slug: Option<String>,
    /// Its task
    pub task: Option<ReviewTask>,
    /// The branch its work is on; null where that is not on record
    pub branch: Option<String>,
    /// End of its last review
    pub reviewed_at: Option<Timestamp>,
    /// Number of reviews so far
    pub iterations: u32,
    /// Maximum number of reviews
    pub max_iterations: u32,
    /// Number of failed reviews
    pub failures: u32,
    /// After how many failures it is abandoned
    pub abandon_after: u32,
    /// Suggestions at the review limit
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
}

/// All reviews of an agent's work, including the work that it continues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewStory {
    /// Author of the work
    #[serde(flatten)]
    pub coder: CoderView,
    /// Its pull request
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequestView>,
    /// The reviews, first to last
    pub reviews: Vec<ReviewView>,
    /// Variables that the check would lack, or have with another value, if the work were approved without handing them on
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_variables: Vec<String>,
}

/// A page of reviews.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reviews {
    /// The agents that have had all their reviews; only on the first page
    pub limited: Vec<CoderView>,
    /// The reviews, oldest first
    pub reviews: Vec<ReviewView>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

/// Progress of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    /// It is done
    Done,
    /// It is recorded and continues; the same call waits for it
    Pending,
}

/// Issues that are open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedIssues {
    /// The issues, in the requested order; empty while they are being opened
    pub issues: Vec<CreatedIssue>,
    /// Progress of the request
    pub status: ActionStatus,
}

/// An issue on GitHub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedIssue {
    /// Its number
    pub number: u64,
    /// Its page
    pub url: String,
    /// Title
    pub title: String,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedPullRequest {
    /// Its number; null while it is being opened
    pub pr_number: Option<u64>,
    /// Its page
    pub pr_url: Option<String>,
    /// The branch that is to be merged
    pub branch_name: Option<String>,
    /// Into which
    pub base_branch: Option<String>,
    /// Status of the branch's author
    pub instance_status: InstanceStatus,
    /// Progress of the request
    pub status: ActionStatus,
}

/// A reviewer that looks at the caller's work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestedReview {
    /// The reviewer
    pub review_instance_id: AgentId,
    /// Its tmux session; null if its role has none
    pub session_name: Option<String>,
    /// Its worktree; null while it is being created
    pub worktree_path: Option<String>,
    /// The branch that is reviewed
    pub branch_name: Option<String>,
    /// Number of the review, from 1
    pub review_iteration: Option<u32>,
    /// Your status now
    pub instance_status: InstanceStatus,
    /// Progress of the request
    pub status: ActionStatus,
}

/// Feedback on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SentFeedback {
    /// The feedback
    pub feedback_id: FeedbackId,
    /// The commit by which it came; null where it came by mail because the author is in the middle of
    /// something, and is merged later
    pub git_commit_hash: Option<String>,
    /// Agent that received it
    pub target_instance_id: AgentId,
    /// Your own end: your work is done, and you are ended soon
    pub cleanup_status: &'static str,
    /// `merge` or `mail`; null until it is delivered
    pub delivered_by: Option<String>,
    /// Progress of the request
    pub status: ActionStatus,
}

/// Request to abandon an agent's work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Abandon")]
pub struct AbandonRequest {
    /// Reason
    pub reason: Option<Text<2000>>,
}

/// Abandoned work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Abandoned")]
pub struct AbandonedWork {
    /// The agent
    pub agent_id: AgentId,
    /// Why
    pub reason: String,
    /// Branch with its commits; null if it had no worktree
    pub branch: Option<String>,
}

/// Request for further reviews.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "AllowMore")]
pub struct AllowReviewsRequest {
    /// Number of further reviews, from 1 to 100 (default: 1)
    #[schemars(range(min = 1, max = 100))]
    pub more: Option<u32>,
}

/// Reviews allowed to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Allowed")]
pub struct AllowedReviews {
    /// The agent
    pub agent_id: AgentId,
    /// Number of reviews so far
    pub iterations: u64,
    /// Maximum number of reviews
    pub max_iterations: u64,
    /// Remaining reviews
    pub left: u64,
}
