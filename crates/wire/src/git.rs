//! Answers of the git tools: diffs and rebases.

use model::AgentId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffAnswer {
    /// Whose work it is
    pub agent_id: AgentId,
    /// The commit that it is compared with
    pub base: String,
    /// The branch that commit is of, or the name that was given
    pub base_name: String,
    /// The commit that is shown
    pub head: String,
    /// Its branch; null where none is checked out
    pub branch: Option<String>,
    /// Whether its worktree is gone, so that its branch is shown
    pub worktree_gone: bool,
    /// The files that were changed
    pub files: Vec<ChangedFile>,
    /// The changes as a patch
    pub diff: String,
    /// Whether there is more than was shown
    pub truncated: bool,
    /// Its commits, the newest first
    pub commits: Vec<CommitLine>,
    /// What is not committed, where that was asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncommitted: Option<UncommittedChanges>,
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// Its name, the new one where it was renamed
    pub path: String,
    /// `added`, `changed`, `deleted`, `renamed`, `copied`, `retyped` or `unmerged`
    pub status: String,
    /// How many lines are new; null where they cannot be counted
    pub additions: Option<u64>,
    /// How many lines are gone; null where they cannot be counted
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

/// What is not committed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UncommittedChanges {
    /// The files
    pub files: Vec<ChangedFile>,
    /// As a patch
    pub diff: String,
    /// Whether there is more than was shown
    pub truncated: bool,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RebaseAnswer {
    /// Your branch; null while it is not done
    pub branch: Option<String>,
    /// The commit it stands at now
    pub head: Option<String>,
    /// The branch it was put on
    pub onto: Option<String>,
    /// Whether that changed it
    pub moved: bool,
    /// Whether it is done; the same call again waits for it
    pub status: RebaseStatus,
    /// What is to be done next, where something is
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Whether it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum RebaseStatus {
    /// It is
    Done,
    /// It is remembered and goes on
    Pending,
}
