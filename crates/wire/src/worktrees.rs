//! Worktrees, and the comparison of git with the record.

use model::agent::AgentStateName;
use model::review::WorktreeState;
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Worktree of an agent and the state of its work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeView {
    /// Current or last agent in it
    pub agent_id: AgentId,
    /// Its role
    pub role: String,
    /// State of the agent
    pub agent_state: AgentStateName,
    /// When the agent ended; only then can the worktree be removed
    pub agent_ended_at: Option<Timestamp>,
    /// The slug of its task
    pub task_slug: Option<String>,
    /// Where it is
    pub path: String,
    /// Its branch
    pub branch: String,
    /// The commit it began from
    pub base: String,
    /// Target branch of its work
    pub target: Option<String>,
    /// Current state
    pub state: WorktreeState,
    /// State of its git checkout; null if it was removed or is being tidied up
    pub git: Option<WorktreeGit>,
    /// True while what is left in it is committed and it is removed, if nothing in it is needed
    #[serde(default)]
    pub is_being_tidied: bool,
    /// Head of its branch when it was removed
    pub head: Option<String>,
    /// Branch with its uncommitted changes
    pub rescued: Option<String>,
    /// When it was asked for
    pub created_at: Timestamp,
    /// Time of its removal
    pub gone_at: Option<Timestamp>,
}

/// A worktree as git sees it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeGit {
    /// The commit that is checked out
    pub head: Option<String>,
    /// Commits it has that the target lacks, up to 1000; null without a target
    pub ahead: Option<usize>,
    /// Commits of the target that it lacks, up to 1000; null without a target
    pub behind: Option<usize>,
    /// Number of uncommitted files
    pub uncommitted: usize,
    /// The first 100 of them
    pub files: Vec<String>,
    /// `merge`, `rebase` or another operation in progress
    pub in_progress: Option<String>,
    /// Why git could not say more
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Outcome of removing a worktree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrunedWorktree {
    /// Agent it belonged to
    pub agent_id: AgentId,
    /// True if it has finished; otherwise it continues in the background
    pub done: bool,
    /// Branch with the commits; null if the worktree was already gone
    pub branch: Option<String>,
    /// Where that branch stood
    pub head: Option<String>,
    /// Branch with the uncommitted changes; null if there were none
    pub rescued: Option<String>,
}

/// A page of worktrees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Worktrees {
    /// The worktrees, oldest first
    pub worktrees: Vec<WorktreeView>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

/// Something that is one way in the record and another in git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Disagreement {
    /// Agent, branch or folder concerned
    pub about: String,
    /// Description of the problem
    pub what: String,
    /// True if `worktrees check --settle` accepts it: a commit that the user removed
    #[serde(default)]
    pub can_settle: bool,
}

/// Commits whose loss was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettledCommits {
    /// The commits
    pub commits: Vec<String>,
}

/// Result of comparing git with the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agreement {
    /// True if they agree
    pub ok: bool,
    /// Differences
    pub disagreements: Vec<Disagreement>,
}
