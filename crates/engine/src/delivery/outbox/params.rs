//! Parameters of jobs, as their rows keep them, and the notes of a merge, which shows its progress.

use model::review::{FeedbackPriority, FeedbackType};
use model::{AgentId, EpicId, FeedbackId, MergeId, OutboxJobId, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

/// Parameters of a review job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ReviewJob {
    /// Author of the work
    pub(crate) coder: AgentId,
    /// Reviewing agent
    pub(crate) reviewer: AgentId,
    /// Message of the coder
    pub(crate) message: Option<String>,
    /// Instructions of the coder
    pub(crate) instructions: Option<String>,
    /// True if nobody asked for it: the coder's process has ended, and its work needs a reviewer
    #[serde(default)]
    pub(crate) at_end: bool,
}

/// Parameters of a feedback job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FeedbackJob {
    /// Its id
    pub(crate) id: FeedbackId,
    /// Author
    pub(crate) reviewer: AgentId,
    /// To whom
    pub(crate) coder: AgentId,
    /// Type
    pub(crate) kind: FeedbackType,
    /// Priority
    pub(crate) priority: Option<FeedbackPriority>,
    /// Decoded body
    pub(crate) body: String,
    /// Action items
    pub(crate) items: Vec<String>,
    /// True if it was already mailed, so that only the merge is left
    #[serde(default)]
    pub(crate) told: bool,
    /// When it was written
    pub(crate) at: Timestamp,
}

/// Parameters of a commit job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CommitRequest {
    /// Author of the work
    pub(crate) agent: AgentId,
    /// Commit message
    pub(crate) message: String,
}

/// Parameters of a rebase job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RebaseJob {
    /// Author of the work
    pub(crate) agent: AgentId,
    /// Onto which branch, where it is not the one it is meant for
    pub(crate) onto: Option<String>,
}

/// Parameters of a pull request job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PullJob {
    /// Owner of the branch
    pub(crate) agent: Option<AgentId>,
    /// The epic it is for, if it is for one
    pub(crate) epic: Option<EpicId>,
    /// The branch; what is checked out where the agent works, if none is named
    pub(crate) branch: Option<String>,
    /// Title
    pub(crate) title: String,
    /// Text
    pub(crate) description: String,
    /// Target branch; the usual one, if none is named
    pub(crate) base: Option<String>,
    /// Requesting agent; `None` for the operator
    pub(crate) caller: Option<AgentId>,
}

/// Parameters of an issues job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct IssuesJob {
    /// Requesting agent; `None` for the operator
    pub(crate) caller: Option<AgentId>,
    /// Issues, if given directly
    pub(crate) issues: Vec<IssueDraft>,
    /// Where they stand, where they are in a plan
    pub(crate) document: Option<String>,
}

/// An issue to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IssueDraft {
    /// Title
    pub(crate) title: String,
    /// Decoded body
    pub(crate) body: String,
    /// Its labels
    pub(crate) labels: Vec<String>,
}

/// Parameters of a merge job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(crate) enum MergeJob {
    /// To know what was approved, and to put it into the queue
    Pin {
        /// The merge that comes of it
        merge: MergeId,
        /// Approved task
        task: TaskId,
        /// The job that merges it
        #[serde(rename = "errand")]
        job: OutboxJobId,
        /// True to merge it as one commit; the configuration decides if absent
        #[serde(default)]
        squash: Option<bool>,
        /// The commit that was approved, if it is only to be merged as it was then
        #[serde(default)]
        commit: Option<String>,
    },
    /// To have it merged
    Merge {
        /// The merge
        merge: MergeId,
    },
}

/// Progress notes of a merge job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MergeNotes {
    /// The commit by which it is merged, if nothing comes between
    pub(crate) merged: Option<String>,
    /// Number of the last check that was begun; 0 before the first
    pub(crate) check: u32,
    /// Number of lost checks of that commit
    pub(crate) lost: u32,
    /// The number of the last set-up that was begun; 0 before the first
    #[serde(skip_serializing_if = "is_none_begun")]
    pub(crate) setup: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_none_begun(number: &u32) -> bool {
    *number == 0
}
