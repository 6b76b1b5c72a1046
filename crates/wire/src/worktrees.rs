//! Worktrees, and the comparison of git with the record.

use model::agent::AgentStateName;
use model::review::WorktreeState;
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where an agent works, and how its work stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeView {
    /// Who works in it, or worked in it last
    pub agent_id: AgentId,
    /// Its role
    pub role: String,
    /// How the agent stands
    pub agent_state: AgentStateName,
    /// When the agent ended; only then can the worktree be taken away
    pub agent_ended_at: Option<Timestamp>,
    /// The slug of its task
    pub task_slug: Option<String>,
    /// Where it is
    pub path: String,
    /// Its branch
    pub branch: String,
    /// The commit it began from
    pub base: String,
    /// The branch its work is meant for
    pub target: Option<String>,
    /// Whether it is there
    pub state: WorktreeState,
    /// How git sees it; null where it is not there
    pub git: Option<WorktreeGit>,
    /// Where its branch stood when it was taken away
    pub head: Option<String>,
    /// The branch on which what was left uncommitted in it is
    pub rescued: Option<String>,
    /// When it was asked for
    pub created_at: Timestamp,
    /// When it was taken away
    pub gone_at: Option<Timestamp>,
}

/// A worktree as git sees it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeGit {
    /// The commit that is checked out
    pub head: Option<String>,
    /// How many commits it has that the target lacks, up to 1000; null where there is no target
    pub ahead: Option<usize>,
    /// How many commits the target has that it lacks, up to 1000; null where there is no target
    pub behind: Option<usize>,
    /// How many files are not committed
    pub uncommitted: usize,
    /// The first 100 of them
    pub files: Vec<String>,
    /// `merge`, `rebase` or what else waits for its end
    pub in_progress: Option<String>,
    /// Why git could not say more
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What became of a worktree that was to be taken away.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrunedWorktree {
    /// Whose it was
    pub agent_id: AgentId,
    /// Whether it is over; if not, it goes on by itself
    pub done: bool,
    /// The branch with what was committed; null where the worktree was gone already
    pub branch: Option<String>,
    /// Where that branch stood
    pub head: Option<String>,
    /// The branch with what was not committed; null where everything was
    pub rescued: Option<String>,
}

/// A page of worktrees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Worktrees {
    /// The worktrees, oldest first
    pub worktrees: Vec<WorktreeView>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

/// Something that is one way in the record and another in git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Disagreement {
    /// Which agent, branch or folder
    pub about: String,
    /// What the matter is
    pub what: String,
}

/// Whether git and the record agree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agreement {
    /// Whether they do
    pub ok: bool,
    /// In what they do not
    pub disagreements: Vec<Disagreement>,
}
