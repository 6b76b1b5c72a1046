//! Loops: state, iterations, notes and messages.

use model::session::{LoopRequest, LoopState, Phase};
use model::task::TaskRef;
use model::{AgentId, AgentStateName, Line, NoteType, Text, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of a session's tasks by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopTaskCounts {
    /// Not begun
    pub remaining: i64,
    /// In progress
    pub in_progress: i64,
    /// Blocked
    pub blocked: i64,
    /// Done
    pub completed: i64,
    /// No longer needed
    pub cancelled: i64,
}

/// A loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Loop")]
pub struct LoopView {
    /// Its name
    pub name: String,
    /// State
    pub state: LoopState,
    /// Current phase
    pub phase: Phase,
    /// Pending request of a person
    #[serde(rename = "wish")]
    pub request: Option<LoopRequest>,
    /// Why it waits or ended
    pub reason: Option<String>,
    /// The iteration it is in, or had last; 0 is the planning
    pub iteration: u32,
    /// The last one it may have; null is no limit
    pub iterations: Option<u32>,
    /// The agent of the iteration
    pub agent_id: Option<AgentId>,
    /// Failed iterations in a row
    pub failures: u32,
    /// Number of failures after which it ends
    pub most_failures: u32,
    /// The role of its agents
    pub role: String,
    /// Kind that runs them, if one was chosen
    pub kind: Option<String>,
    /// Folder where they work, if one was chosen
    pub cwd: Option<String>,
    /// Where the specification was read
    pub spec_path: Option<String>,
    /// True if each iteration's changes are committed
    pub commit: bool,
    /// Total budget in dollars
    pub budget_usd: Option<f64>,
    /// Cost of its iterations in dollars
    pub cost_usd: f64,
    /// Its tasks
    pub tasks: LoopTaskCounts,
    /// Number of a person's messages that wait for the next agent
    pub waiting: i64,
    /// Start time
    pub created_at: Timestamp,
    /// When it last changed
    pub updated_at: Timestamp,
    /// When it ended
    pub ended_at: Option<Timestamp>,
}

/// An iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IterationView {
    /// Its number; 0 is the planning
    pub number: u32,
    /// Its agent
    pub agent_id: Option<AgentId>,
    /// Final state of that agent; null while it works
    pub state: Option<AgentStateName>,
    /// Why
    pub reason: Option<String>,
    /// Summary in its own words
    pub summary: Option<String>,
    /// Task that was begun in it
    pub task: Option<TaskRef>,
    /// The commit that was made of it
    pub commit: Option<String>,
    /// Cost in dollars
    pub cost_usd: Option<f64>,
    /// Start time
    pub started_at: Timestamp,
    /// When it ended
    pub ended_at: Option<Timestamp>,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopNoteView {
    /// Its number: `NOT-3`
    pub id: String,
    /// Kind of note
    #[serde(rename = "type")]
    pub kind: NoteType,
    /// Text
    pub content: String,
    /// In which iteration it was written
    pub iteration: u32,
}

/// Words for the next agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LoopMessage")]
pub struct LoopMessageView {
    /// Its number
    pub number: i64,
    /// `operator`, or the moment of the hook that wrote it
    pub from: String,
    /// Text
    pub text: String,
    /// When it was left
    pub created_at: Timestamp,
    /// Iteration whose agent received it; null while it waits
    pub iteration: Option<u32>,
    /// When that was
    pub delivered_at: Option<Timestamp>,
}

/// A loop with all that happened in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WholeLoop")]
pub struct LoopDetails {
    /// The loop
    #[serde(rename = "loop")]
    pub about: LoopView,
    /// Its last iterations, newest first
    pub iterations: Vec<IterationView>,
    /// Its last notes, oldest of them first
    pub notes: Vec<LoopNoteView>,
    /// The last words for its agents, oldest of them first
    pub messages: Vec<LoopMessageView>,
    /// Text added to the prompt of each iteration
    pub extra: Option<String>,
    /// The specification
    pub spec: String,
}

/// A page of loops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Loops")]
pub struct LoopList {
    /// The loops, newest first
    pub loops: Vec<LoopView>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

/// Request to start or continue a loop. Absent fields keep their value, or use the configuration's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "NewLoop")]
pub struct StartLoopRequest {
    /// Its name
    pub name: String,
    /// The specification; a new loop needs one
    pub spec: Option<String>,
    /// Where the specification was read: an absolute path, from which it is read again when the loop is resumed
    pub spec_path: Option<Line<4096>>,
    /// Iterations, or further ones; 0 is no limit
    pub iterations: Option<u32>,
    /// The kind that runs its agents
    pub agent: Option<Line<64>>,
    /// Their role
    pub role: Option<Line<200>>,
    /// Text added to the prompt of each iteration
    pub extra: Option<String>,
    /// The text of their prompt
    pub template: Option<String>,
    /// True if each iteration's changes are committed
    pub commit: Option<bool>,
    /// Total budget in dollars
    pub budget: Option<f64>,
    /// Where its agents work
    pub cwd: Option<Line<4096>>,
}

/// Request to pause a loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Pause")]
pub struct PauseLoopRequest {
    /// True to end its agent; otherwise it finishes its iteration
    #[serde(default)]
    pub now: bool,
}

/// Message to a loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Say")]
pub struct LoopMessageRequest {
    /// The words
    pub text: Text<32_768>,
}
