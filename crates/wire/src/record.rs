//! The record of calls: search results, one call in full, and counts over time.

use model::{AgentId, Cursor, TaskId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page of search results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Records {
    /// The calls
    pub rows: Vec<RecordRow>,
    /// Cursor of the next page, if there is more to search; a page may be empty and have one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
    /// Last row searched; null if there was none
    pub searched_to: Option<SearchedTo>,
    /// The number of the newest row there is
    pub last: i64,
}

/// The last row that was searched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchedTo {
    /// Its number
    pub number: i64,
    /// When it was written
    pub at: Timestamp,
}

/// A recorded call, in a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordRow {
    /// Its place in the chain
    pub number: i64,
    /// When it was answered
    pub at: Timestamp,
    /// Caller
    pub who: RecordCaller,
    /// Tool name
    pub tool: String,
    /// Status
    pub outcome: RecordOutcome,
    /// The code it failed with
    pub code: Option<String>,
    /// Beginning of the input, as JSON
    pub input: String,
    /// Duration in milliseconds; null if it only started
    pub duration_ms: Option<f64>,
    /// Task of the caller
    pub task_id: Option<TaskId>,
}

/// Caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Who")]
pub struct RecordCaller {
    /// The agent, or the one in whose name the operator called
    pub agent_id: Option<AgentId>,
    /// Its role
    pub role: Option<String>,
    /// The end of its id
    pub short: Option<String>,
    /// True for the operator, perhaps acting as the agent
    pub operator: bool,
}

/// Outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RecordOutcome {
    /// It succeeded
    Done,
    /// It failed
    Failed,
    /// It was refused
    Denied,
    /// It began; another row has its end
    Begun,
}

/// Calls over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Histogram")]
pub struct CallHistogram {
    /// When the first part begins
    pub from: Timestamp,
    /// When the last one ends
    pub to: Timestamp,
    /// Length of a part, in milliseconds
    pub step: i64,
    /// The parts
    pub buckets: Vec<CallCounts>,
    /// All of them together
    #[serde(flatten)]
    pub all: CallCounts,
    /// True if the figures are estimated from a sample
    pub estimate: bool,
}

/// Counts of calls. A call is counted when it ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Counted")]
pub struct CallCounts {
    /// All of them
    pub calls: u64,
    /// Those that failed
    pub failed: u64,
    /// Those that were refused
    pub denied: u64,
}

/// One recorded call in full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordedCall {
    /// The call as in lists
    #[serde(flatten)]
    pub row: RecordRow,
    /// Start time
    pub started_at: Timestamp,
    /// Category and depth of the caller; null for the operator
    pub standing: Option<CallerRank>,
    /// Task of the caller
    pub task: Option<CallerTask>,
    /// Input, exactly as recorded
    pub whole_input: String,
    /// Output, exactly as recorded
    pub output: String,
    /// Why it failed
    pub error: Option<CallFailure>,
    /// Commit checked out in the caller's directory
    pub git_commit: Option<String>,
    /// The branch of the caller's worktree
    pub branch: Option<String>,
    /// The other row of a call that touched the outside: when it began, or how it ended
    pub pair: Option<PairedCall>,
    /// Calls of the same caller around it, oldest first, including itself
    pub near: Vec<NeighbourCall>,
    /// Its place in the chain
    pub chain: ChainLink,
}

/// Category and depth of a caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Standing")]
pub struct CallerRank {
    /// Its category
    pub category: String,
    /// Depth below the operator
    pub depth: u32,
}

/// Task of a caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TaskOf")]
pub struct CallerTask {
    /// Its number
    pub number: i64,
    /// Its slug
    pub slug: String,
    /// Title
    pub title: String,
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WhyFailed")]
pub struct CallFailure {
    /// Error code
    pub code: String,
    /// Message
    pub message: String,
    /// Suggested next steps
    pub suggestions: Vec<String>,
}

/// One of the two rows of a call that touched the outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Pair")]
pub struct PairedCall {
    /// Its number
    pub number: i64,
    /// When it was written
    pub at: Timestamp,
    /// Outcome of that call
    pub outcome: RecordOutcome,
}

/// A call beside another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Near")]
pub struct NeighbourCall {
    /// Its number
    pub number: i64,
    /// Tool name
    pub tool: String,
    /// Start time
    pub started_at: Timestamp,
    /// When it was answered
    pub at: Timestamp,
    /// Status
    pub outcome: RecordOutcome,
}

/// A row's place in the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChainLink {
    /// The number of the row before; 0 is before the first
    pub previous: i64,
    /// Its hash
    pub before: String,
    /// This row's hash
    pub this: String,
    /// True if the recomputed hash matches
    pub fits: bool,
    /// Problem, if the row does not fit
    pub problem: Option<String>,
}

/// Filter for listing calls.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuditQuery {
    /// Only those after this number
    #[serde(default)]
    pub after: Cursor,
    /// Only those before this number
    pub before: Option<Cursor>,
    /// Page size, at most 1000
    pub limit: Option<u32>,
    /// `asc`, oldest first, or `desc`. Lists for people have the newest first by default, others the oldest
    pub order: Option<String>,
    /// Only this agent's
    pub agent_id: Option<AgentId>,
    /// Only those of this agent, role or part of an id; `operator` is the operator
    pub agent: Option<String>,
    /// Only of this tool, by its canonical name; `*` stands for anything
    pub tool: Option<String>,
    /// Only those with all these words in tool, input, output or caller
    pub q: Option<String>,
    /// Only those that ended so: `done`, `failed` or `denied`
    pub outcome: Option<String>,
    /// Only from this time on
    pub since: Option<Timestamp>,
    /// Only before this time
    pub until: Option<Timestamp>,
    /// Only with this task: its id, `TAS-12` or its slug
    pub task_id: Option<String>,
    /// Only with this commit checked out: the beginning of its hash
    pub commit: Option<String>,
}

/// Query for a histogram of calls.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HistogramQuery {
    /// From this time on (default: an hour before the end)
    pub since: Option<Timestamp>,
    /// Before this time (default: now)
    pub until: Option<Timestamp>,
    /// Into how many parts, from 1 to 500
    pub buckets: Option<u32>,
    /// Only those of this agent, role or part of an id; `operator` is the operator
    pub agent: Option<String>,
    /// Only of this tool, by its canonical name; `*` stands for anything
    pub tool: Option<String>,
    /// Only those with all these words in tool, input, output or caller
    pub q: Option<String>,
    /// Only those that ended so: `done`, `failed` or `denied`
    pub outcome: Option<String>,
    /// Only with this task: its id, `TAS-12` or its slug
    pub task_id: Option<String>,
    /// Only with this commit checked out: the beginning of its hash
    pub commit: Option<String>,
}
