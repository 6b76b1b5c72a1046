//! Costs of agents and their tool use.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::ToolError;
use engine::store::{SpendBy, SpendSum, StoreError, ToolUse, Tx};
use model::money::Usd;
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LONGEST_PAGE;
use crate::answer::{Answer, Params};
use crate::server::Shared;

/// Groupings of costs.
const BY: [(&str, SpendBy); 5] = [
    ("role", SpendBy::Role),
    ("model", SpendBy::Model),
    ("task", SpendBy::Task),
    ("agent", SpendBy::Agent),
    ("hour", SpendBy::Hour),
];

/// Query for costs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WhichCosts {
    /// Added up over what: `role` (the default), `model`, `task`, `agent` or `hour`
    by: Option<String>,
    /// Only what was spent in this hour or later (default: everything)
    since: Option<Timestamp>,
}

/// Spending.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Costs {
    /// Added up over what
    by: &'static str,
    /// Since when; null is since ever
    since: Option<Timestamp>,
    /// The sums, the dearest first; hours in their order. At most 1000
    rows: Vec<Cost>,
    /// All of it
    total: Total,
}

/// Spending of one group.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Cost {
    /// Group; an hour by its start
    key: String,
    #[serde(flatten)]
    spent: Total,
}

/// A sum.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Total {
    /// Number of agents
    agents: i64,
    /// Dollars
    cost_usd: f64,
    /// Tokens
    tokens: TokenSums,
}

/// Tokens, by where they came from and went.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenSums {
    /// Read, without those from a cache
    input: u64,
    /// Written
    output: u64,
    /// Read from a cache
    cache_read: u64,
    /// Written to a cache
    cache_write: u64,
}

impl From<&SpendSum> for Total {
    fn from(sum: &SpendSum) -> Self {
        let tokens = sum.tokens;
        Self {
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
}

/// Everything together. An agent has one role, so that over roles nobody is counted twice.
fn total(by_role: &[SpendSum]) -> Total {
    let mut all =
        SpendSum { key: String::new(), agents: 0, money: Usd::ZERO, tokens: <_>::default() };
    for sum in by_role {
        all.agents += sum.agents;
        all.money += sum.money;
        all.tokens += sum.tokens;
    }
    Total::from(&all)
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
    Params(asked): Params<WhichCosts>,
) -> Answer<Json<Costs>> {
    let (name, by) = chosen(asked.by.as_deref().unwrap_or("role"), &BY)?;
    let since = asked.since.unwrap_or(Timestamp::from_millis(0));
    let store = shared.app.engine.store();
    let (rows, by_role) = store
        .scan(move |tx: &Tx<'_>| {
            let rows = tx.spend_sums(by, since, LONGEST_PAGE)?;
            Ok::<_, StoreError>((rows, tx.spend_sums(SpendBy::Role, since, u32::MAX)?))
        })
        .await?;
    let row = |sum: SpendSum| Cost { spent: Total::from(&sum), key: key_of(by, sum.key) };
    Ok(Json(Costs {
        by: name,
        since: asked.since,
        rows: rows.into_iter().map(row).collect(),
        total: total(&by_role),
    }))
}

/// The choice of that name, or an error that names the nearest.
pub(super) fn chosen<T: Copy>(
    name: &str,
    choices: &[(&'static str, T)],
) -> Result<(&'static str, T), ToolError> {
    choices.iter().copied().find(|(known, _)| *known == name).ok_or_else(|| {
        let shown: String = name.chars().take(80).collect();
        let error = ToolError::invalid(format!("nothing is added up by `{shown}`"));
        let names: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
        error.hint(format!("there are {}", names.join(", "))).detail("field", "by")
    })
}

/// By whom tools were used.
#[derive(Debug, Clone, Copy)]
enum UsedBy {
    Role,
    Agent,
}

/// Query for tool use.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WhichUse {
    /// By `role` or by `agent` (default: by role, unless an agent is named)
    by: Option<String>,
    /// Only this agent's
    agent: Option<AgentId>,
}

/// Tool use.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Usage {
    /// Added up over what
    by: &'static str,
    /// The tools, the most used first
    rows: Vec<Used>,
}

/// Usage of one tool.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Used {
    /// By which role or agent
    key: String,
    /// The tool: its canonical name, or an agent's own
    tool: String,
    /// Number of calls
    calls: u64,
    /// Number of failed calls
    errors: u64,
    /// Mean duration of a call, in milliseconds
    mean_ms: f64,
}

impl Used {
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    fn new(key: String, used: ToolUse) -> Self {
        let ToolUse { tool, calls, errors, micros } = used;
        let mean_ms = micros as f64 / 1000.0 / calls.max(1) as f64;
        Self { key, tool, calls, errors, mean_ms }
    }
}

pub(crate) async fn usage(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<WhichUse>,
) -> Answer<Json<Usage>> {
    let usual = if asked.agent.is_some() { "agent" } else { "role" };
    let choices = [("role", UsedBy::Role), ("agent", UsedBy::Agent)];
    let (by, whose) = chosen(asked.by.as_deref().unwrap_or(usual), &choices)?;
    let store = shared.app.engine.store();
    let rows: Vec<Used> = match (whose, asked.agent) {
        (UsedBy::Role, None) => {
            let all = store.scan(|tx: &Tx<'_>| tx.tool_use_by_role()).await?;
            all.into_iter().map(|row| Used::new(row.role, row.used)).collect()
        }
        (UsedBy::Agent, Some(agent)) => {
            let all = store.scan(move |tx: &Tx<'_>| tx.tool_use_by_agent(agent)).await?;
            all.into_iter().map(|used| Used::new(agent.to_string(), used)).collect()
        }
        (UsedBy::Agent, None) => {
            let error = ToolError::invalid("`agent` must name one where `by` is `agent`");
            return Err(error.detail("field", "agent").into());
        }
        (UsedBy::Role, Some(_)) => {
            let error = ToolError::invalid("`agent` is for `by=agent`");
            return Err(error.detail("field", "agent").into());
        }
    };
    Ok(Json(Usage { by, rows }))
}
