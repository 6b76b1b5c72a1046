//! Answers of the git tools: diffs and rebases.

use model::AgentId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A diff.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffAnswer {
    /// Author of the work
    pub agent_id: AgentId,
    /// The commit that it is compared with
    pub base: String,
    /// Branch of that commit, or the name that was given
    pub base_name: String,
    /// The commit that is shown
    pub head: String,
    /// Branch; null if none is checked out
    pub branch: Option<String>,
    /// True if its worktree was removed and its branch is shown
    pub worktree_gone: bool,
    /// The files that were changed
    pub files: Vec<ChangedFile>,
    /// The changes as a patch
    pub diff: String,
    /// True if the answer is truncated
    pub truncated: bool,
    /// Its commits, the newest first
    pub commits: Vec<CommitLine>,
    /// Uncommitted changes, if requested
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncommitted: Option<UncommittedChanges>,
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// Name; the new one if it was renamed
    pub path: String,
    /// `added`, `changed`, `deleted`, `renamed`, `copied`, `retyped` or `unmerged`
    pub status: String,
    /// Number of added lines; null for binary files
    pub additions: Option<u64>,
    /// Number of removed lines; null for binary files
    pub deletions: Option<u64>,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitLine {
    /// Its hash
    pub hash: String,
    /// The first line of its message
    pub subject: String,
}

/// Uncommitted changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UncommittedChanges {
    /// The files
    pub files: Vec<ChangedFile>,
    /// As a patch
    pub diff: String,
    /// True if the answer is truncated
    pub truncated: bool,
}

/// Outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RebaseAnswer {
    /// Your branch; null while it is not done
    pub branch: Option<String>,
    /// Current head commit
    pub head: Option<String>,
    /// Branch that it was rebased onto
    pub onto: Option<String>,
    /// True if the branch moved
    pub moved: bool,
    /// Progress; the same call again waits for the end
    pub status: RebaseStatus,
    /// Advice on the next step, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Progress of a rebase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RebaseStatus {
    /// It is
    Done,
    /// It is remembered and goes on
    Pending,
}

/// Outcome of a commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitAnswer {
    /// Your branch; null while it is not done
    pub branch: Option<String>,
    /// Current head commit
    pub head: Option<String>,
    /// False if there was nothing to commit
    pub committed: bool,
    /// Files that the commit changed
    pub files: Vec<String>,
    /// Progress; the same call again waits for the end
    pub status: CommitStatus,
}

/// Progress of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum CommitStatus {
    /// The commit is made, or there was nothing to commit
    Done,
    /// The request is recorded and continues
    Pending,
}
