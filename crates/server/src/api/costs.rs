//! Costs of agents and their tool use.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::ToolError;
use engine::store::{SpendBy, SpendSum, StoreError, ToolUse, Tx};
use model::money::Usd;
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;

use wire::costs::{CostGrouping, CostRow, CostTotal, Costs, TokenSums};
use wire::usage::{ToolUsage, ToolUsageRow, UsageGrouping};

use super::LONGEST_PAGE;
use crate::answer::{Answer, Params};
use crate::server::Shared;

/// Groupings of costs.
const BY: [(&str, (CostGrouping, SpendBy)); 5] = [
    ("role", (CostGrouping::Role, SpendBy::Role)),
    ("model", (CostGrouping::Model, SpendBy::Model)),
    ("task", (CostGrouping::Task, SpendBy::Task)),
    ("agent", (CostGrouping::Agent, SpendBy::Agent)),
    ("hour", (CostGrouping::Hour, SpendBy::Hour)),
];

/// Query for costs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CostsQuery {
    /// Added up over what: `role` (the default), `model`, `task`, `agent` or `hour`
    by: Option<String>,
    /// Only what was spent in this hour or later (default: everything)
    since: Option<Timestamp>,
}

fn cost_total(sum: &SpendSum) -> CostTotal {
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
    cost_total(&all)
}

/// The key as it is told: an hour is a point in time.
fn key_of(by: SpendBy, key: String) -> String {
    match (by, key.parse()) {
        (SpendBy::Hour, Ok(millis)) => Timestamp::from_millis(millis).to_string(),
        _ => key,
    }
}

pub(crate) async fn costs(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<CostsQuery>,
) -> Answer<Json<Costs>> {
    let (grouping, by) = chosen(asked.by.as_deref().unwrap_or("role"), &BY)?;
    let since = asked.since.unwrap_or(Timestamp::from_millis(0));
    let store = shared.app.engine.store();
    let (rows, by_role) = store
        .scan(move |tx: &Tx<'_>| {
            let rows = tx.spend_sums(by, since, LONGEST_PAGE)?;
            Ok::<_, StoreError>((rows, tx.spend_sums(SpendBy::Role, since, u32::MAX)?))
        })
        .await?;
    let row = |sum: SpendSum| CostRow { spent: cost_total(&sum), key: key_of(by, sum.key) };
    Ok(Json(Costs {
        by: grouping,
        since: asked.since,
        rows: rows.into_iter().map(row).collect(),
        total: total(&by_role),
    }))
}

/// The choice of that name, or an error that names the nearest.
pub(super) fn chosen<T: Copy>(name: &str, choices: &[(&'static str, T)]) -> Result<T, ToolError> {
    let found = choices.iter().find(|(known, _)| *known == name);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let shown: String = name.chars().take(80).collect();
        let error = ToolError::invalid(format!("nothing is added up by `{shown}`"));
        let names: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
        error.hint(format!("there are {}", names.join(", "))).detail("field", "by")
    })
}

/// Query for tool use.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UsageQuery {
    /// By `role` or by `agent` (default: by role, unless an agent is named)
    by: Option<String>,
    /// Only this agent's
    agent: Option<AgentId>,
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn usage_row(key: String, used: ToolUse) -> ToolUsageRow {
    let ToolUse { tool, calls, errors, micros } = used;
    let mean_ms = micros as f64 / 1000.0 / calls.max(1) as f64;
    ToolUsageRow { key, tool, calls, errors, mean_ms }
}

pub(crate) async fn usage(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<UsageQuery>,
) -> Answer<Json<ToolUsage>> {
    let usual = if asked.agent.is_some() { "agent" } else { "role" };
    let choices = [("role", UsageGrouping::Role), ("agent", UsageGrouping::Agent)];
    let by = chosen(asked.by.as_deref().unwrap_or(usual), &choices)?;
    let store = shared.app.engine.store();
    let rows: Vec<ToolUsageRow> = match (by, asked.agent) {
        (UsageGrouping::Role, None) => {
            let all = store.scan(|tx: &Tx<'_>| tx.tool_use_by_role()).await?;
            all.into_iter().map(|row| usage_row(row.role, row.used)).collect()
        }
        (UsageGrouping::Agent, Some(agent)) => {
            let all = store.scan(move |tx: &Tx<'_>| tx.tool_use_by_agent(agent)).await?;
            all.into_iter().map(|used| usage_row(agent.to_string(), used)).collect()
        }
        (UsageGrouping::Agent, None) => {
            let error = ToolError::invalid("`agent` must name one where `by` is `agent`");
            return Err(error.detail("field", "agent").into());
        }
        (UsageGrouping::Role, Some(_)) => {
            let error = ToolError::invalid("`agent` is for `by=agent`");
            return Err(error.detail("field", "agent").into());
        }
    };
    Ok(Json(ToolUsage { by, rows }))
}
