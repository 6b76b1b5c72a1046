//! Agents that Adjutant runs: requests to start them and to type to them, and their raw output.

use crate::agents::OutputPlace;
use crate::environment::HandedOnVariables;
use model::review::ReviewRequired;
use model::{AgentId, Line, TaskRef, Text, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Request to start an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "NewRun")]
pub struct RunRequest {
    /// Role; a bare prompt needs none
    pub role: Option<Line<100>>,
    /// Kind: `claude`, `codex`, `acp`, `command` or `script` (default: the role's)
    pub kind: Option<Line<50>>,
    /// Prompt
    pub prompt: Text<4_000_000>,
    /// Task: id, number or slug (default: a new one)
    pub task: Option<TaskRef>,
    /// Working directory (default: the role's, else the project)
    pub cwd: Option<Line<4096>>,
    /// Model (default: the role's or the configuration's)
    pub model: Option<Line<200>>,
    /// The agent's own tools it may use (default: the role's)
    #[schemars(length(max = 200))]
    pub tools: Option<Vec<Line<200>>>,
    /// Time limit in seconds
    #[schemars(range(min = 1))]
    pub timeout: Option<u32>,
    /// Budget for it and its descendants
    #[serde(default)]
    pub budget: RunCaps,
    /// The ended agent whose conversation it resumes; role, kind and directory are that agent's
    pub resume: Option<AgentId>,
    /// Review of the work it leaves (default: the role's or the configuration's)
    pub review: Option<ReviewRequired>,
    /// Environment variables to hand on; `GET /api/environment` lists the names. They are never written to disk
    #[serde(default)]
    pub environment: HandedOnVariables,
}

/// Caps on spending. An absent cap is the role's or the configuration's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Caps")]
pub struct RunCaps {
    /// Dollars
    pub usd: Option<f64>,
    /// Tokens, in and out
    pub tokens: Option<u64>,
    /// Agents started
    pub agents: Option<u32>,
    /// Seconds of running
    pub seconds: Option<u64>,
}

/// A started agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Started")]
pub struct StartedRun {
    /// The agent
    pub agent_id: AgentId,
    /// Its role
    pub role: String,
    /// Current task
    pub task_slug: String,
    /// Warnings for the caller that started it, such as that it works in the project itself
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A part of an agent's output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Output")]
pub struct AgentOutput {
    /// The lines, oldest first
    pub lines: Vec<AgentOutputLine>,
    /// Where the next part begins
    pub next: OutputPlace,
    /// Attempt that wrote it
    pub attempt: u32,
    /// True if this attempt has no more output
    pub complete: bool,
}

/// A line of output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "OutputLine")]
pub struct AgentOutputLine {
    /// When it was read
    pub at: Timestamp,
    /// Stream that it came on
    pub stream: OutputStream,
    /// Text
    pub text: String,
    /// Number of bytes left out because it is too long
    pub cut: u64,
}

/// Stream of an output line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    /// Standard output
    Out,
    /// Standard error
    Err,
    /// Input to the agent
    In,
}

/// Input line for an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Typed")]
pub struct InputRequest {
    /// The line, without its end
    pub line: Text<100_000>,
}

/// Outcome of an input line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Taken")]
pub struct InputOutcome {
    /// True if the agent accepts input; not every kind does while it runs
    pub taken: bool,
}
