//! Events of agents, and of supervisors that are replaced.

use model::{AgentId, AgentStateName, EpicId, MailId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Payload of `agent.created`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentCreated {
    /// Role of the agent
    pub role: String,
    /// Category of the role, which decides what the agent may do
    pub category: String,
    /// Kind of agent, such as `claude` or `enlisted`
    pub kind: String,
    /// The rest, for an agent that Adjutant runs; absent for one that was enlisted
    #[serde(flatten)]
    pub draft: Option<AgentDraft>,
}

/// Fields of `agent.created` for an agent that Adjutant runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentDraft {
    /// Agent that drafted it; null where the operator did
    pub parent_id: Option<AgentId>,
    /// Distance from the root of its tree; 0 is a root
    pub depth: u32,
    /// Its assignment in one line
    pub summary: String,
    /// Agent whose conversation it continues
    pub resumed_from: Option<AgentId>,
}

/// Payload of `agent.started`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentStarted {
    /// Role of the agent
    pub role: String,
    /// Category of the role, which decides what the agent may do
    pub category: String,
    /// Kind of agent, such as `claude` or `enlisted`
    pub kind: String,
    /// Number of the attempt, from 1; absent for an enlisted agent
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Run folder of the attempt; absent for an enlisted agent
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// Payload of `agent.state_changed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentStateChanged {
    /// State after the change
    pub state: AgentStateName,
    /// Number of the attempt, where the change begins or ends one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// End of the pause, where the model's usage limit was reached
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

impl AgentStateChanged {
    /// A change of state without details.
    pub const fn to(state: AgentStateName) -> Self {
        Self { state, attempt: None, until: None }
    }
}

/// Payload of `agent.stopping`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentStopping {
    /// State that the agent will end in
    pub outcome: AgentStateName,
    /// Reason given for the stop
    pub reason: String,
}

/// Payload of `agent.warned`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentWarned {
    /// Text of the warning
    pub warning: String,
}

/// Payload of `agent.asked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentAsked {
    /// Mail to the human that asks; a reply to it is the answer
    pub mail_id: MailId,
    /// Tool that the agent wants to use
    pub tool: String,
}

/// Payload of `agent.finished`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentFinished {
    /// State that the agent ended in
    pub state: AgentStateName,
    /// Reason of the end
    pub reason: String,
    /// The rest; absent for an enlisted agent that was discharged
    #[serde(flatten)]
    pub totals: Option<RunTotals>,
}

/// Fields of `agent.finished` that sum up a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunTotals {
    /// Role of the agent
    pub role: String,
    /// Summary of its result, at most 500 characters
    pub summary: String,
    /// Cost in US dollars; null if unknown
    pub cost_usd: Option<f64>,
    /// Tokens used
    pub tokens: TokenTotals,
    /// Milliseconds from its start to its end
    pub duration_ms: i64,
}

/// Tokens that a run used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenTotals {
    /// Tokens read, those from a cache included
    pub input: u64,
    /// Tokens written
    pub output: u64,
}

/// Payload of `supervisor.recovering`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupervisorRecovering {
    /// Epic that the supervisor leads
    pub epic_id: EpicId,
    /// Agent that asked for it; null where the operator did
    pub by: Option<AgentId>,
    /// Reason given
    pub reason: String,
}

/// Payload of `supervisor.recovered`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupervisorRecovered {
    /// Epic that the supervisor led
    pub epic_id: EpicId,
    /// Agent that leads it now
    pub successor_id: AgentId,
}
