//! Agents: lists, one agent in detail, its output, diff and story, and the answers of the tools that start, await
//! and end agents.

use crate::crew::{CrewRow, LaneSegment};
use crate::paging::PageCursor;
use model::agent::{AgentStateName, AgentType, AwaitStatus, OfficeStatus};
use model::review::PullState;
use model::{AgentId, EpicId, TaskId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Changes of an agent.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentDiff {
    /// Its branch; null if it has no worktree of its own
    pub branch: Option<String>,
    /// The commit that it is compared with
    pub base: Option<String>,
    /// Target branch of its work
    pub target: Option<String>,
    /// The commit that is shown, or on top of which it works
    pub head: Option<String>,
    /// True if some changes are uncommitted
    pub uncommitted: bool,
    /// True if its work was merged
    #[serde(default)]
    pub merged: bool,
    /// The files that differ
    pub files: Vec<ChangedFileView>,
    /// As a patch, of at most 2 MiB: whole files as far as they go
    pub patch: String,
    /// True if the answer is truncated
    pub truncated: bool,
    /// Its commits, the newest first, at most 200
    pub commits: Vec<CommitView>,
    /// Branch with its uncommitted changes from when its worktree was removed
    pub rescued: Option<String>,
    /// Reason why there is no diff; null if there is one or nothing was changed
    pub why: Option<String>,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFileView {
    /// Name; the new one if it was renamed
    pub path: String,
    /// Old name, if it was renamed or copied
    pub old_path: Option<String>,
    /// `added`, `changed`, `deleted`, `renamed`, `copied`, `retyped` or `unmerged`
    pub status: String,
    /// Number of added lines
    pub added: u64,
    /// Number of removed lines
    pub removed: u64,
    /// True for a file that is binary or too large to show
    pub binary: bool,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitView {
    /// Its hash
    pub hash: String,
    /// When it was created
    pub at: Timestamp,
    /// The first line of its message
    pub subject: String,
}

/// An agent's story.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentStory {
    /// The agent, as it is shown among others
    pub row: CrewRow,
    /// Ancestors, from the root down
    pub crumbs: Vec<AgentCrumb>,
    /// States over time
    pub segments: Vec<LaneSegment>,
    /// Events on its timeline
    pub marks: Vec<StoryMark>,
    /// When it called our tools, in milliseconds since 1970; of very many only the newest
    pub calls: Vec<i64>,
    /// Own spending over time, by the hour
    pub spend: Vec<SpentBy>,
    /// First prompt with its role and context; null if it was not kept
    pub context: Option<String>,
    /// The first of those it started
    pub children: Vec<CrewRow>,
    /// Totals
    pub counts: StoryCounts,
    /// Its claim on its task; null if it has none
    pub claim: Option<ClaimView>,
    /// Its branch; null if it has no worktree of its own
    pub branch: Option<String>,
    /// The newest pull request of its branch
    pub pull: Option<AgentPullRequest>,
}

/// An ancestor of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentCrumb {
    /// Agent id
    pub id: AgentId,
    /// Role
    pub role: String,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoryMark {
    /// When
    pub at: Timestamp,
    /// `start`, `review`, `feedback`, `question`, `warning`, `stop`, `pull`, `merge` or `end`
    pub kind: String,
    /// In a few words
    pub text: String,
    /// Link to details: a path of the page, or a URL
    pub href: Option<String>,
}

/// Spending up to a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpentBy {
    /// By when
    pub at: Timestamp,
    /// Dollars, altogether
    pub usd: f64,
}

/// Totals of an agent's story.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoryCounts {
    /// Uses of tools, ours and its own
    pub calls: i64,
    /// Mails to it and from it
    pub mail: i64,
    /// Agents that it started
    pub children: u32,
}

/// A claim on a task.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimView {
    /// It grows with every claim of the task: of two, the greater is the true one
    pub number: i64,
    /// When it expires; null if it holds as long as its holder lives
    pub lease_until: Option<Timestamp>,
}

/// A pull request in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentPullRequest {
    /// Path or URL
    pub url: String,
    /// Its number there
    pub number: u64,
    /// Current state
    pub state: PullState,
}

/// A part of an agent's steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentStream {
    /// The steps, oldest first
    pub items: Vec<StreamItem>,
    /// Where this part begins; asked for again from here with `whole`, nothing is cut
    pub from: OutputPlace,
    /// Where the next part begins
    pub next: OutputPlace,
    /// Of which attempt
    pub attempt: u32,
    /// True if this attempt has no more output
    pub complete: bool,
    /// True if there was any output, even if none is shown
    #[serde(skip)]
    pub heard: bool,
}

/// A place in an agent's output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutputPlace {
    /// Output segment
    pub segment: u32,
    /// Where in it
    pub offset: u64,
}

/// Sort of a step in an agent's transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum StepKind {
    /// Text sent to the agent
    Told,
    /// Text for the requester
    Message,
    /// Reasoning that is not part of the answer
    Thought,
    /// Use of a tool
    Call,
    /// Output of a call or of a program
    Output,
    /// Error outside of calls
    Error,
    /// Note about the run itself
    System,
}

/// One step: a message, a call or an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamItem {
    /// When
    pub at: Timestamp,
    /// Sort of the step
    pub kind: StepKind,
    /// Id that a call and its output share. If a call is reported twice, the later report counts
    pub id: Option<String>,
    /// The tool that is called: the agent's own, or `mcp__<toolset>__<tool>`
    pub tool: Option<String>,
    /// In words: Markdown of a message or a thought, else plain, with terminal colours
    pub text: String,
    /// Input of the tool
    pub input: Option<Value>,
    /// Success, if known
    pub ok: Option<bool>,
    /// Duration in milliseconds, if reported
    pub duration_ms: Option<u64>,
    /// The commit that it tells of having made
    pub commit: Option<String>,
    /// True if it continues the previous step of the same kind and id
    pub part: bool,
    /// True for standard error
    pub err: bool,
    /// Number of bytes of the text that were left out
    pub cut: u64,
}

/// Result of an agent, in the harness toolset's form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentResultView {
    /// Summary in its own words
    pub summary: String,
    /// Changes
    pub changes: Vec<String>,
    /// Issues
    pub issues: Vec<String>,
    /// Questions
    pub questions: Vec<String>,
    /// Structured result, if it returned one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
}

/// Tokens, as the spawner's seed counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TokensView {
    /// Read
    pub input: u64,
    /// Written
    pub output: u64,
}

/// An agent's status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentStatusAnswer {
    /// Your id
    pub id: AgentId,
    /// Your type
    #[serde(rename = "type")]
    pub kind: AgentType,
    /// Your role
    pub role: String,
    /// Your current state
    pub state: OfficeStatus,
    /// State as stored in the record
    pub agent_state: AgentStateName,
    /// Reason, if there is one
    pub reason: Option<String>,
    /// Your epic
    pub current_epic_id: Option<EpicId>,
    /// Your task
    pub current_task_id: Option<TaskId>,
    /// The terminal in which you can be watched
    pub tmux_session_name: Option<String>,
    /// Time of your last activity
    pub last_active_at: Timestamp,
    /// When you were created
    pub created_at: Timestamp,
    /// Time of your last state change
    pub updated_at: Timestamp,
}

/// The agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunningAgents {
    /// Live agents, oldest first
    pub agents: Vec<RunningAgent>,
    /// Number of entries in this answer
    pub count: usize,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunningAgent {
    /// Its id
    pub spawn_id: AgentId,
    /// Its model
    pub model: Option<String>,
    /// Start time
    pub started_at: Timestamp,
    /// Running time in seconds
    pub elapsed_seconds: i64,
    /// Summary of its task
    pub task_summary: String,
}

/// An agent as the spawner's seed shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpawnedAgent {
    /// The agent, for `get_result`
    pub spawn_id: AgentId,
    /// `running` until it ends; then its outcome
    pub status: AwaitStatus,
    /// State as stored in the record
    pub state: AgentStateName,
    /// True if it succeeded; absent while it runs
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// Its answer
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Structured result, if it returned one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<Value>,
    /// Why it failed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Duration in seconds
    pub duration_seconds: f64,
    /// Cost in dollars; null if unknown
    pub cost_usd: Option<f64>,
    /// The model that answered
    pub model: Option<String>,
    /// Tokens used
    pub tokens: TokensView,
    /// Summary of its task
    pub task_summary: String,
}

/// The agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpawnedAgents {
    /// Answer of `spawn_claude` for each, in the requested order
    pub agents: Vec<SpawnedAgent>,
    /// Number of agents
    pub count: usize,
    /// All of them together
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<SpawnAggregate>,
}

/// Sum over several agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpawnAggregate {
    /// True if all succeeded; absent while one runs
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// Number of agents that succeeded
    pub succeeded: usize,
    /// Number of agents that failed
    pub failed: usize,
    /// Number of agents that still run
    pub running: usize,
    /// Known cost in dollars
    pub cost_usd: f64,
    /// Tokens used
    pub tokens: TokensView,
    /// Their answers, one after the other
    pub result: String,
}

/// Status of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwaitedAgent {
    /// `running` until it ends; then its outcome
    pub status: AwaitStatus,
    /// State as stored in the record
    pub state: AgentStateName,
    /// Reason of its end, or the time until which it is limited
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Result
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<AgentResultView>,
}

/// An agent that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DraftedAgent {
    /// The agent, for `await_agent` and `kill_agent`
    pub agent_id: AgentId,
    /// Its role
    pub role: String,
    /// Current task
    pub task_slug: String,
}

/// Outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KilledAgent {
    /// True if this call ended the agent
    pub success: bool,
    /// Description of the outcome
    pub message: String,
}

/// The crew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentLines {
    /// The agents, oldest first
    pub agents: Vec<AgentLine>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentLine {
    /// Its id
    pub id: AgentId,
    /// Its role
    pub role: String,
    /// Current task
    pub task_slug: Option<String>,
    /// Start time
    pub started_at: Timestamp,
    /// State
    pub state: AgentStateName,
}
