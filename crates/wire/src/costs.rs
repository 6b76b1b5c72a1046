//! Spending: sums, series over time, a summary, and the budgets of a lineage.

use model::agent::AgentStateName;
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Grouping of costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CostGrouping {
    /// By role
    Role,
    /// By model
    Model,
    /// By task
    Task,
    /// By agent
    Agent,
    /// By hour
    Hour,
    /// By the root of the agents' tree
    Lineage,
}

/// Spending by group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Costs {
    /// Grouping
    pub by: CostGrouping,
    /// Start of the period; null is the beginning
    pub since: Option<Timestamp>,
    /// The sums, the highest first; hours in their order. At most 1000
    pub rows: Vec<CostRow>,
    /// Sum over all groups
    pub total: CostTotal,
}

/// Spending of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Cost")]
pub struct CostRow {
    /// Group; an hour by its start
    pub key: String,
    /// Amount
    #[serde(flatten)]
    pub spent: CostTotal,
}

/// A sum.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Total")]
pub struct CostTotal {
    /// Number of agents
    pub agents: i64,
    /// Dollars
    pub cost_usd: f64,
    /// Tokens
    pub tokens: TokenSums,
}

/// Tokens by kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenSums {
    /// Read, without those from a cache
    pub input: u64,
    /// Written
    pub output: u64,
    /// Read from a cache
    pub cache_read: u64,
    /// Written to a cache
    pub cache_write: u64,
}

/// Spending over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Series")]
pub struct CostSeries {
    /// Grouping
    pub by: CostGrouping,
    /// When the first step begins
    pub from: Timestamp,
    /// When the last one ends
    pub to: Timestamp,
    /// Length of a step in milliseconds: an hour, or a day if more than three days are shown
    pub step: i64,
    /// The groups: the five most expensive, and the rest as `other`
    pub keys: Vec<CostSeriesKey>,
    /// The steps, each with its spending; groups that spent nothing are left out
    pub points: Vec<CostSeriesPoint>,
    /// Sum over all groups
    pub total: Spending,
}

/// Group of a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SpentOn")]
pub struct CostSeriesKey {
    /// Its name
    pub key: String,
    /// Its slug
    pub label: String,
    /// Spending in the whole period
    #[serde(flatten)]
    pub spent: Spending,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Point")]
pub struct CostSeriesPoint {
    /// When it begins
    pub from: Timestamp,
    /// Spending by group
    pub values: Vec<KeySpending>,
}

/// Spending of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "KeyValue")]
pub struct KeySpending {
    /// Group
    pub key: String,
    /// Amount
    #[serde(flatten)]
    pub spent: Spending,
}

/// Money and tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SpentValue")]
pub struct Spending {
    /// Dollars
    pub usd: f64,
    /// Tokens, in and out
    pub tokens: u64,
}

/// Summary of spending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Summary")]
pub struct CostSummary {
    /// Start of the period
    pub from: Timestamp,
    /// End of the period
    pub to: Timestamp,
    /// Dollars
    pub spent_usd: f64,
    /// Dollars in the last hour
    pub rate_usd: f64,
    /// Tokens
    pub tokens: TokenTotals,
    /// Cost of a completed task
    pub done_task: DoneTaskCosts,
    /// Cost of failed work
    pub failed: FailedWorkCosts,
    /// Share estimated from the price table; null if unknown
    pub estimated_share: Option<f64>,
}

/// Tokens read and written in a period.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TokensRead")]
pub struct TokenTotals {
    /// In and out
    pub all: u64,
    /// Read, from a cache too
    pub read: u64,
    /// Written
    pub written: u64,
    /// Read from a cache
    pub cached: u64,
}

/// Cost of completed tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DoneTask")]
pub struct DoneTaskCosts {
    /// Median cost in dollars; null if no task was completed
    pub median_usd: Option<f64>,
    /// Number of completed tasks
    pub count: usize,
    /// Median cost in the period before, of the same length
    pub before_usd: Option<f64>,
}

/// Cost of failed work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FailedWork")]
pub struct FailedWorkCosts {
    /// Dollars
    pub usd: f64,
    /// The task with the highest cost
    pub worst: Option<CostliestTask>,
}

/// Cost of failed work on one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WorstTask")]
pub struct CostliestTask {
    /// Its number
    pub number: i64,
    /// Its slug
    pub slug: String,
    /// Title
    pub title: String,
    /// Dollars
    pub usd: f64,
}

/// The budgets of a lineage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lineage {
    /// Root of the lineage; null if there are no agents
    pub root: Option<LineageAgent>,
    /// True if there are more agents than shown
    pub truncated: bool,
}

/// Budget of an agent and its descendants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LineageView")]
pub struct LineageAgent {
    /// Agent id
    pub id: AgentId,
    /// The end of its id
    pub short: String,
    /// Its role
    pub role: String,
    /// The number of its task
    pub task_number: Option<i64>,
    /// Cap of it and its descendants in dollars; null for its parent's
    pub cap_usd: Option<f64>,
    /// Amount spent by it and its descendants
    pub spent_usd: f64,
    /// Current state
    pub state: AgentStateName,
    /// Its children
    pub children: Vec<Self>,
}
