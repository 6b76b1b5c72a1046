//! The list of tools, and calls of them over HTTP.

use crate::error::ErrorBody;
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Tools")]
pub struct ToolList {
    /// The tools, in the order of all lists
    pub tools: Vec<ToolEntry>,
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Tool")]
pub struct ToolEntry {
    /// Its name where all toolsets are together
    pub name: String,
    /// Its canonical name
    pub canonical_name: String,
    /// The toolset it belongs to
    pub toolset: String,
    /// Purpose, one line
    pub title: String,
    /// Purpose
    pub description: String,
    /// Schema of the input
    pub input_schema: Map<String, Value>,
}

/// Call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Execute")]
pub struct ExecuteRequest {
    /// Agent to act as; only for the operator, because a token identifies its agent
    pub agent_id: Option<AgentId>,
    /// Canonical name of the tool
    pub tool_name: String,
    /// Input
    #[serde(default)]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub input: Value,
}

/// Answer of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Executed")]
pub struct ExecuteAnswer {
    /// True if it succeeded
    pub success: bool,
    /// Output, if it succeeded
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub data: Option<Value>,
    /// Error, if it failed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
    /// When it was answered
    pub timestamp: Timestamp,
}

/// Answer of the internal tool that reads a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceText {
    /// Markdown or JSON
    pub text: String,
}
