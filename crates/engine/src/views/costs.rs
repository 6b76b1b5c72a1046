//! Costs of agents and their tool use.

mod series;
mod summary;
mod tools;

use model::money::Usd;
use model::{AgentId, Timestamp};
use store::{SpendBy, SpendSum, StoreError, ToolUse};
use wire::costs::{CostGrouping, CostRow, CostTotal, Costs, TokenSums};
use wire::usage::{ToolUsage, ToolUsageRow, UsageGrouping};

use crate::core::error::ToolError;
use crate::views::service::Views;

/// Maximum number of sums listed.
const MAX_ROWS: u32 = 1000;

/// Groupings of costs.
const BY: [(&str, (CostGrouping, SpendBy)); 5] = [
    ("role", (CostGrouping::Role, SpendBy::Role)),
    ("model", (CostGrouping::Model, SpendBy::Model)),
    ("task", (CostGrouping::Task, SpendBy::Task)),
    ("agent", (CostGrouping::Agent, SpendBy::Agent)),
    ("hour", (CostGrouping::Hour, SpendBy::Hour)),
];

fn total_of(sum: &SpendSum) -> CostTotal {
    let tokens = sum.tokens;
    CostTotal {
        agents: sum.agents,
        cost_usd: sum.money.dollars(),
        tokens: TokenSums {
            input: tokens.input,
            output: tokens.output,
            cache_read: tokens.cache_read,
            cache_write: tokens.cache_write,
        },
    }
}

/// Everything together. An agent has one role, so that over roles nobody is counted twice.
fn total(by_role: &[SpendSum]) -> CostTotal {
    let mut all =
        SpendSum { key: String::new(), agents: 0, money: Usd::ZERO, tokens: <_>::default() };
    for sum in by_role {
        all.agents += sum.agents;
        all.money += sum.money;
        all.tokens += sum.tokens;
    }
    total_of(&all)
}

/// The key as it is told: an hour is a point in time.
fn key_of(by: SpendBy, key: String) -> String {
    match (by, key.parse()) {
        (SpendBy::Hour, Ok(millis)) => Timestamp::from_millis(millis).to_string(),
        _ => key,
    }
}

/// The choice of that name, or an error that names the nearest.
fn chosen<T: Copy>(name: &str, choices: &[(&'static str, T)]) -> Result<T, ToolError> {
    let found = choices.iter().find(|(known, _)| *known == name);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let shown: String = name.chars().take(80).collect();
        let error = ToolError::invalid(format!("cannot group by `{shown}`"));
        let names: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
        error.hint(format!("`by` is one of {}", names.join(", "))).detail("field", "by")
    })
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn used(key: String, used: ToolUse) -> ToolUsageRow {
    let ToolUse { tool, calls, errors, micros } = used;
    let mean_ms = micros as f64 / 1000.0 / calls.max(1) as f64;
    ToolUsageRow { key, tool, calls, errors, mean_ms }
}

impl Views {
    /// Adds up spending by role, model, task, agent or hour.
    pub async fn costs(
        &self,
        by: Option<&str>,
        since: Option<Timestamp>,
    ) -> Result<Costs, ToolError> {
        let (grouping, by) = chosen(by.unwrap_or("role"), &BY)?;
        let from = since.unwrap_or(Timestamp::from_millis(0));
        let (rows, by_role) = self
            .store
            .scan(move |tx| {
                let rows = tx.spend_sums(by, from, MAX_ROWS)?;
                Ok::<_, StoreError>((rows, tx.spend_sums(SpendBy::Role, from, u32::MAX)?))
            })
            .await?;
        let row = |sum: SpendSum| CostRow { spent: total_of(&sum), key: key_of(by, sum.key) };
        Ok(Costs {
            by: grouping,
            since,
            rows: rows.into_iter().map(row).collect(),
            total: total(&by_role),
        })
    }

    /// Counts the use of tools by role, or by one agent.
    pub async fn tool_usage(
        &self,
        by: Option<&str>,
        agent: Option<AgentId>,
    ) -> Result<ToolUsage, ToolError> {
        let usual = if agent.is_some() { "agent" } else { "role" };
        let choices = [("role", UsageGrouping::Role), ("agent", UsageGrouping::Agent)];
        let by = chosen(by.unwrap_or(usual), &choices)?;
        let wrong = |problem: &str| Err(ToolError::invalid(problem).detail("field", "agent"));
        let rows: Vec<ToolUsageRow> = match (by, agent) {
            (UsageGrouping::Role, None) => {
                let all = self.store.scan(|tx| tx.tool_use_by_role()).await;
                let all = all.map_err(|error: StoreError| ToolError::from(error))?;
                all.into_iter().map(|row| used(row.role, row.used)).collect()
            }
            (UsageGrouping::Agent, Some(agent)) => {
                let all = self.store.scan(move |tx| tx.tool_use_by_agent(agent)).await;
                let all = all.map_err(|error: StoreError| ToolError::from(error))?;
                all.into_iter().map(|row| used(agent.to_string(), row)).collect()
            }
            (UsageGrouping::Agent, None) => return wrong("`by=agent` needs `agent`"),
            (UsageGrouping::Role, Some(_)) => return wrong("`agent` needs `by=agent`"),
        };
        Ok(ToolUsage { by, rows })
    }
}
