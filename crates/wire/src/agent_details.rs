//! Agents as `/api/agents` lists them, and one agent in full.

use crate::agents::AgentResultView;
use model::agent::{AgentStateName, AwaitStatus};
use model::review::{InstanceStatus, WorktreeState};
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page of agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Agents")]
pub struct AgentList {
    /// The agents, oldest first
    pub agents: Vec<AgentView>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    /// Agent id
    pub id: AgentId,
    /// Its role
    pub role: String,
    /// Its category, which decides its permissions
    pub category: String,
    /// Kind of agent; `enlisted` for one that Adjutant does not run
    pub kind: String,
    /// Current state
    pub state: AgentStateName,
    /// Reason for the state: why a queued agent does not start. For one agent also why it ended or until when it is
    /// limited
    pub reason: Option<String>,
    /// Summary, one line; null for an enlisted agent
    pub summary: Option<String>,
    /// The model that answers it, or that it was asked for
    pub model: Option<String>,
    /// The slug of its task
    pub task_slug: Option<String>,
    /// Parent agent; null for the operator
    pub parent_id: Option<AgentId>,
    /// Depth below the operator
    pub depth: u32,
    /// When its first attempt began; until then, when it was recorded
    pub started_at: Timestamp,
    /// When it ended
    pub finished_at: Option<Timestamp>,
    /// Cost in dollars; null if unknown
    pub cost_usd: Option<f64>,
}

/// One agent in full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WholeAgent")]
pub struct AgentDetails {
    /// The agent as in lists
    #[serde(flatten)]
    pub agent: AgentView,
    /// State in the words of `await_agent`
    pub await_status: AwaitStatus,
    /// Number of attempts
    pub attempt: u32,
    /// Working directory; null is the project
    pub cwd: Option<String>,
    /// Status in the review toolset's vocabulary
    pub review_status: InstanceStatus,
    /// Worktree that Adjutant created for it; null if it has none
    pub worktree: Option<AgentWorktree>,
    /// Review relations: its reviewers and the agents it reviews
    pub relations: Vec<ReviewRelation>,
    /// The tmux session that shows it
    pub tmux_session: Option<String>,
    /// Prompt; null for an enlisted agent
    pub prompt: Option<String>,
    /// Tokens used by itself
    pub tokens: AgentTokens,
    /// Budget and spending of it and its descendants; null without one
    pub budget: Option<AgentBudget>,
    /// Result, once it has ended
    pub result: Option<AgentResultView>,
    /// The agent whose conversation it resumed
    pub resumed_from: Option<AgentId>,
    /// Deadline
    pub deadline_at: Option<Timestamp>,
    /// Running time so far, in milliseconds
    pub duration_ms: i64,
    /// Newest warnings about it, oldest of them first, such as that its model has no price
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// An agent's worktree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WorktreeOf")]
pub struct AgentWorktree {
    /// Where it is
    pub path: String,
    /// Its branch
    pub branch: String,
    /// Target branch of its work
    pub target: Option<String>,
    /// Current state
    pub state: WorktreeState,
}

/// Relation between two agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Relation")]
pub struct ReviewRelation {
    /// Kind of relation
    #[serde(rename = "type")]
    pub kind: RelationKind,
    /// Author of the work
    pub parent_id: AgentId,
    /// Reviewing agent
    pub child_id: AgentId,
    /// Number of the review, from 1
    pub review_iteration: u32,
}

/// Kind of a relation between two agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RelationKind {
    /// The child reviews the work of the parent
    SpawnedReview,
}

/// Tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Tokens")]
pub struct AgentTokens {
    /// Read, from a cache too
    pub input: u64,
    /// Written
    pub output: u64,
}

/// Budget and spending.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BudgetView")]
pub struct AgentBudget {
    /// The caps; an absent one is none
    pub caps: BudgetAmounts,
    /// Amount spent
    pub spent: BudgetAmounts,
}

/// Amounts of each bounded resource.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Amounts")]
pub struct BudgetAmounts {
    /// Dollars
    pub usd: Option<f64>,
    /// Tokens, in and out
    pub tokens: Option<u64>,
    /// Agents started
    pub agents: Option<u64>,
    /// Seconds of running
    pub seconds: Option<u64>,
}
