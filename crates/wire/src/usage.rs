//! Use of tools: counts, outcomes and durations.

use crate::record::CallCounts;
use model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Grouping of tool use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UsageGrouping {
    /// By role
    Role,
    /// By agent
    Agent,
}

/// Tool use by role or agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Usage")]
pub struct ToolUsage {
    /// Grouping
    pub by: UsageGrouping,
    /// The tools, the most used first
    pub rows: Vec<ToolUsageRow>,
}

/// Usage of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Used")]
pub struct ToolUsageRow {
    /// Role or agent
    pub key: String,
    /// The tool: its canonical name, or an agent's own
    pub tool: String,
    /// Number of calls
    pub calls: u64,
    /// Number of failed calls
    pub errors: u64,
    /// Mean duration of a call, in milliseconds
    pub mean_ms: f64,
}

/// Tool use over a period.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ToolsUsed")]
pub struct ToolFigures {
    /// When the first part begins
    pub from: Timestamp,
    /// Length of a part, in milliseconds
    pub step: i64,
    /// Adjutant's tools, the most used first
    pub tools: Vec<ToolFigure>,
    /// The own tools of agents that worked in this period, counted since each of them began
    pub own: Vec<OwnToolFigure>,
    /// True if the figures are estimated from a sample
    pub estimate: bool,
}

/// Use of one of Adjutant's tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolFigure {
    /// Its name
    pub tool: String,
    /// Calls by outcome
    #[serde(flatten)]
    pub counted: CallCounts,
    /// Median duration in milliseconds
    pub p50_ms: f64,
    /// 95th percentile of the duration in milliseconds
    pub p95_ms: f64,
    /// Number of calls in each part of the period
    pub spark: Vec<u64>,
}

/// Use of one of the agents' own tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "OwnTool")]
pub struct OwnToolFigure {
    /// Its name
    pub tool: String,
    /// Number of calls
    pub calls: u64,
    /// Number of failed calls
    pub failed: u64,
}
