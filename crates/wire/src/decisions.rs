//! Decisions that agents log.

use model::{AgentId, LogId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// That the decision is on record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoggedDecision {
    /// The entry
    pub log_id: LogId,
    /// When it was written
    pub timestamp: Timestamp,
}

/// A page of the decision log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Decisions")]
pub struct DecisionLog {
    /// The entries, oldest first
    pub decisions: Vec<Decision>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

/// An entry of the decision log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The entry
    pub id: String,
    /// Agent; null for the operator
    pub agent_id: Option<AgentId>,
    /// Decision or event
    pub decision: String,
    /// Why
    pub reasoning: String,
    /// Input or output
    #[schemars(with = "Option<Map<String, Value>>")]
    pub context: Value,
    /// When
    pub timestamp: Timestamp,
}
