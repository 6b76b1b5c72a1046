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

/// What an agent changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentDiff {
    /// Its branch; null where it has no worktree of its own
    pub branch: Option<String>,
    /// The commit that it is compared with
    pub base: Option<String>,
    /// The branch its work is meant for
    pub target: Option<String>,
    /// The commit that is shown, or on top of which it works
    pub head: Option<String>,
    /// Whether some of it is not committed
    pub uncommitted: bool,
    /// The files that differ
    pub files: Vec<ChangedFileView>,
    /// As a patch, of at most 2 MiB: whole files as far as they go
    pub patch: String,
    /// Whether there is more than is shown
    pub truncated: bool,
    /// Its commits, the newest first, at most 200
    pub commits: Vec<CommitView>,
    /// The branch with what it had left uncommitted when its worktree was taken away
    pub rescued: Option<String>,
    /// Why there is nothing to show; null where there is, or where nothing was changed
    pub why: Option<String>,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ChangedFileView {
    /// Its name, the new one where it was renamed
    pub path: String,
    /// Its old name, where it was renamed or copied
    pub old_path: Option<String>,
    /// `added`, `changed`, `deleted`, `renamed`, `copied`, `retyped` or `unmerged`
    pub status: String,
    /// How many lines are new
    pub added: u64,
    /// How many lines are gone
    pub removed: u64,
    /// Whether it is no text, or too large to be shown
    pub binary: bool,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct CommitView {
    /// Its hash
    pub hash: String,
    /// When it was made
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
    /// Who stands above it, from the operator's side
    pub crumbs: Vec<AgentCrumb>,
    /// How it stood, from when to when
    pub segments: Vec<LaneSegment>,
    /// What happened to it
    pub marks: Vec<StoryMark>,
    /// When it called our tools, in milliseconds since 1970; of very many only the newest
    pub calls: Vec<i64>,
    /// What it had spent itself by then; known by the hour
    pub spend: Vec<SpentBy>,
    /// What it was told first, with its role and everything around its prompt; null where that is not kept
    pub context: Option<String>,
    /// The first of those it started
    pub children: Vec<CrewRow>,
    /// How much there is
    pub counts: StoryCounts,
    /// Its claim on its task; null where it has none
    pub claim: Option<ClaimView>,
    /// Its branch; null where it has no worktree of its own
    pub branch: Option<String>,
    /// The newest pull request of its branch
    pub pull: Option<AgentPullRequest>,
}

/// Somebody above an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct AgentCrumb {
    /// Who
    pub id: AgentId,
    /// In which role
    pub role: String,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct StoryMark {
    /// When
    pub at: Timestamp,
    /// `start`, `review`, `feedback`, `question`, `warning`, `stop`, `pull`, `merge` or `end`
    pub kind: String,
    /// In a few words
    pub text: String,
    /// Where there is more of it: a page of ours, or an address
    pub href: Option<String>,
}

/// What was spent by a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct SpentBy {
    /// By when
    pub at: Timestamp,
    /// Dollars, altogether
    pub usd: f64,
}

/// How much there is to look at.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct StoryCounts {
    /// Uses of tools, ours and its own
    pub calls: i64,
    /// Letters to it and from it
    pub mail: i64,
    /// Agents that it started
    pub children: u32,
}

/// A claim on a task.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ClaimView {
    /// It grows with every claim of the task: of two, the greater is the true one
    pub number: i64,
    /// When it lapses; null where it holds as long as its holder lives
    pub lease_until: Option<Timestamp>,
}

/// A pull request in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct AgentPullRequest {
    /// Where it can be read
    pub url: String,
    /// Its number there
    pub number: u64,
    /// How it stands
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
    /// Whether nothing more will come of this attempt
    pub complete: bool,
    /// Whether there was any output, though perhaps none that tells people something
    #[serde(skip)]
    pub heard: bool,
}

/// A place in an agent's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct OutputPlace {
    /// Which file
    pub segment: u32,
    /// Where in it
    pub offset: u64,
}

/// One step: something that was said, done or told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct StreamItem {
    /// When
    pub at: Timestamp,
    /// `told`, `message`, `thought`, `call`, `output`, `error` or `system`
    pub kind: String,
    /// By which a call and its output find each other. A call that is told of twice is one; the later word counts
    pub id: Option<String>,
    /// The tool that is called: the agent's own, or `mcp__<toolset>__<tool>`
    pub tool: Option<String>,
    /// In words: Markdown of a message or a thought, else plain, with terminal colours
    pub text: String,
    /// What the tool is given
    pub input: Option<Value>,
    /// Whether it went well, where that is known
    pub ok: Option<bool>,
    /// How long it took, where the agent says so
    pub duration_ms: Option<u64>,
    /// The commit that it tells of having made
    pub commit: Option<String>,
    /// Whether it goes on from the step before it, if that is such a part of the same kind and id
    pub part: bool,
    /// Whether it was written to the standard error
    pub err: bool,
    /// How many bytes of the text were left out
    pub cut: u64,
}

/// What came of an agent, in the harness's words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct AgentResultView {
    /// What it did, in its own words
    pub summary: String,
    /// What it changed
    pub changes: Vec<String>,
    /// What is wrong
    pub issues: Vec<String>,
    /// What it wants to know
    pub questions: Vec<String>,
    /// Its result as a value, where it gave one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
}

/// Tokens, as the spawner's seed counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
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
    /// What you are
    #[serde(rename = "type")]
    pub kind: AgentType,
    /// Your role
    pub role: String,
    /// What you do now
    pub state: OfficeStatus,
    /// The same, as it is stored
    pub agent_state: AgentStateName,
    /// Why, where there is a reason
    pub reason: Option<String>,
    /// Your epic
    pub current_epic_id: Option<EpicId>,
    /// Your task
    pub current_task_id: Option<TaskId>,
    /// The terminal in which you can be watched
    pub tmux_session_name: Option<String>,
    /// When you last did something
    pub last_active_at: Timestamp,
    /// When you were recorded
    pub created_at: Timestamp,
    /// When you last changed
    pub updated_at: Timestamp,
}

/// The agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunningAgents {
    /// Those that have not ended, oldest first
    pub agents: Vec<RunningAgent>,
    /// How many are in this answer
    pub count: usize,
    /// Where the next page begins, if there is one
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
    /// When it began
    pub started_at: Timestamp,
    /// How long it has run
    pub elapsed_seconds: i64,
    /// What it is about
    pub task_summary: String,
}

/// An agent as the spawner's seed shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SpawnedAgent {
    /// The agent, for `get_result`
    pub spawn_id: AgentId,
    /// `running` until it is over; then how it ended
    pub status: AwaitStatus,
    /// The state as it is recorded
    pub state: AgentStateName,
    /// Whether it did what it was asked; absent while it runs
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// Its answer
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Its answer as a value, where it gave one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<Value>,
    /// Why it failed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it ran
    pub duration_seconds: f64,
    /// What it cost; null where that is not known
    pub cost_usd: Option<f64>,
    /// The model that answered
    pub model: Option<String>,
    /// What it used
    pub tokens: TokensView,
    /// What it is about
    pub task_summary: String,
}

/// The agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpawnedAgents {
    /// Each as `spawn_claude` answers it, in the order asked for
    pub agents: Vec<SpawnedAgent>,
    /// How many
    pub count: usize,
    /// All of them together
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<SpawnAggregate>,
}

/// Several agents added up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SpawnAggregate {
    /// Whether all did what they were asked; absent while one runs
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// How many did
    pub succeeded: usize,
    /// How many did not
    pub failed: usize,
    /// How many still run
    pub running: usize,
    /// What they cost, as far as it is known
    pub cost_usd: f64,
    /// What they used
    pub tokens: TokensView,
    /// Their answers, one after the other
    pub result: String,
}

/// How an agent stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwaitedAgent {
    /// `running` until it is over; then how it ended
    pub status: AwaitStatus,
    /// The state as it is recorded
    pub state: AgentStateName,
    /// Why it ended, or until when it is limited
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What came of it
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
    /// What it works on
    pub task_slug: String,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KilledAgent {
    /// Whether the agent was ended by this call
    pub success: bool,
    /// What happened, in words
    pub message: String,
}

/// The crew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentLines {
    /// The agents, oldest first
    pub agents: Vec<AgentLine>,
    /// Where the next page begins, if there is one
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
    /// What it works on
    pub task_slug: Option<String>,
    /// When it began
    pub started_at: Timestamp,
    /// Where it stands
    pub state: AgentStateName,
}
