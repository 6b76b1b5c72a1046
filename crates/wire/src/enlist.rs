//! Agents that run elsewhere: requests to enlist and discharge them, and the answers.

use model::agent::AgentStateName;
use model::{AgentId, EpicId, TaskRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Request to enlist an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Enlist")]
pub struct EnlistRequest {
    /// Its role
    pub role: String,
    /// Its task: id, number or slug
    pub task: Option<TaskRef>,
    /// Its epic
    pub epic: Option<EpicId>,
    /// Working directory
    pub cwd: Option<String>,
    /// Parent agent (default: the operator)
    pub parent: Option<AgentId>,
}

/// An enlisted agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Enlisted")]
pub struct EnlistedAgent {
    /// The agent
    pub agent_id: AgentId,
    /// Its token; it is not shown again
    pub token: String,
    /// Address of the server
    pub url: String,
    /// Ready to paste, in Claude Code's form
    #[schemars(with = "Map<String, Value>")]
    pub mcp_config: Value,
    /// The same in Codex's form, for `config.toml`
    pub codex_config: String,
}

/// Request to discharge an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Discharge")]
pub struct DischargeRequest {
    /// Reason, at most 2000 characters
    pub reason: Option<String>,
}

/// A discharged agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Discharged")]
pub struct DischargedAgent {
    /// The agent
    pub agent_id: AgentId,
    /// New state
    pub state: AgentStateName,
}
