//! Events on the way from work to a merge: reviews, pull requests, issues, merges, worktrees, jobs of the outbox.

use model::review::{
    FeedbackType, MergeState, OutboxJobKind, PullState, ReviewState, WorktreeState,
};
use model::{AgentId, EpicId, FeedbackId, MergeId, OutboxJobId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Payload of `review.requested`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewRequested {
    /// Agent whose work is reviewed
    pub coder_id: AgentId,
    /// Agent that reviews it
    pub reviewer_id: AgentId,
    /// Number of the review, from 1
    pub iteration: u32,
    /// Branch that is reviewed
    pub branch: String,
    /// Commit that is reviewed
    pub commit: String,
}

/// Payload of `review.feedback`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewFeedback {
    /// The feedback
    pub feedback_id: FeedbackId,
    /// Agent that reviewed
    pub reviewer_id: AgentId,
    /// Verdict; absent where the reviewer's commit was merged later
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<FeedbackType>,
    /// Number of the review, from 1; absent where the reviewer's commit was merged later
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iteration: Option<u32>,
    /// Reviewer's commit in the coder's branch
    pub commit: Option<String>,
}

/// Payload of `review.ended`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewEnded {
    /// Agent whose work was reviewed
    pub coder_id: AgentId,
    /// Agent that reviewed it
    pub reviewer_id: AgentId,
    /// Number of the review, from 1
    pub iteration: u32,
    /// State that the review ended in
    pub state: ReviewState,
    /// True where the review counts as failed
    pub failed: bool,
}

/// Payload of `pull.opened`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullOpened {
    /// Repository, as `owner/name`
    pub repository: String,
    /// Number of the pull request
    pub number: u64,
    /// Its address
    pub url: String,
    /// Branch to be merged
    pub branch: String,
    /// Branch that it is merged into
    pub base: String,
    /// Its title
    pub title: String,
    /// Its state
    pub state: PullState,
    /// Agent that opened it; null where the operator did
    pub opened_by: Option<AgentId>,
    /// Epic whose branch it is
    pub epic_id: Option<EpicId>,
}

/// Payload of `pull.changed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PullChanged {
    /// Repository, as `owner/name`
    pub repository: String,
    /// Number of the pull request
    pub number: u64,
    /// Its address
    pub url: String,
    /// Branch to be merged
    pub branch: String,
    /// Branch that it is merged into
    pub base: String,
    /// State before
    pub from: PullState,
    /// State after
    pub state: PullState,
    /// Source of the news: `call`, `webhook` or `poll`
    pub by: String,
}

/// Payload of `issues.created`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IssuesCreated {
    /// Repository, as `owner/name`
    pub repository: String,
    /// Number of the issue
    pub number: u64,
    /// Its address
    pub url: String,
    /// Its title
    pub title: String,
}

/// Payload of `merge.queued`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MergeQueued {
    /// The merge
    pub merge_id: MergeId,
    /// Branch to be merged
    pub branch: String,
    /// Branch that it is merged into
    pub target: String,
    /// Commit that was approved
    pub commit: String,
}

/// Payload of `merge.changed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MergeChanged {
    /// The merge
    pub merge_id: MergeId,
    /// Branch to be merged
    pub branch: String,
    /// Branch that it is merged into
    pub target: String,
    /// Commit that was approved
    pub commit: String,
    /// State after the change
    pub state: MergeState,
    /// Commit that the merge made
    pub merged_commit: Option<String>,
    /// Reason, where the work was sent back or is held
    pub reason: Option<String>,
}

/// Payload of `worktree.changed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeChanged {
    /// State after the change
    pub state: WorktreeState,
    /// Branch that is checked out in it
    pub branch: String,
    /// Its folder
    pub path: String,
    /// Branch that keeps the uncommitted changes of an ended agent
    pub rescued: Option<String>,
}

/// Payload of `errand.created`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrandCreated {
    /// The job
    pub errand_id: OutboxJobId,
    /// Kind of the job
    pub kind: OutboxJobKind,
}

/// Payload of `errand.ended`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrandEnded {
    /// The job
    pub errand_id: OutboxJobId,
    /// Kind of the job
    pub kind: OutboxJobKind,
    /// Outcome of the job
    pub status: ErrandStatus,
}

/// Outcome of a job of the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ErrandStatus {
    /// It was done
    Done,
    /// It failed for good
    Failed,
}
