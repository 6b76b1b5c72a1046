//! Progress reports of a running process: read position, usage and activity.
//!
//! Every spend is charged to the agent and to everybody above it in the transaction that remembers how
//! far its output was read, so that a line is paid for once. An agent whose cap is reached is stopped with
//! all below it.

use std::collections::BTreeMap;

use model::agent::Outcome;
use model::money::Usd;
use model::{AgentId, Timestamp};
use store::{
    Agent, Budget, EventDraft, RunReport, Spend, SpendAmount, StopRequest, Tokens, ToolUse, Tx,
};
use wire::event::{AgentWarned, EventData};

use super::options::{OnCap, RunOptions};
use super::stop::stop_tree;
use crate::core::error::ToolError;
use crate::core::settings::Settings;

/// Observations since the last report.
#[derive(Debug, Clone, Default)]
pub(crate) struct UsageReport {
    /// Position and identity
    pub(crate) report: RunReport,
    /// Tokens used
    pub(crate) tokens: Tokens,
    /// Cost, if known; negative to correct an estimate
    pub(crate) cost: Option<Usd>,
    /// The model they were used with
    pub(crate) model: String,
    /// Its own tools: how often, and how often in vain
    pub(crate) tools: BTreeMap<String, (u64, u64)>,
    /// Warnings that are to be told
    pub(crate) warnings: Vec<String>,
}

impl UsageReport {
    /// True if there is anything that must not be lost.
    pub(crate) fn matters(&self) -> bool {
        self.tokens != Tokens::default()
            || self.cost.is_some()
            || self.report.conversation.is_some()
            || self.report.model.is_some()
            || !self.tools.is_empty()
            || !self.warnings.is_empty()
    }
}

/// Writes a report down; false if it comes from an attempt that was given up.
pub(crate) fn report(
    tx: &mut Tx<'_>,
    settings: &Settings,
    id: AgentId,
    attempt: u32,
    seen: &UsageReport,
    now: Timestamp,
) -> Result<bool, ToolError> {
    if !tx.run_report(id, attempt, &seen.report)? {
        return Ok(false);
    }
    let Some(agent) = tx.agent_get(id)? else { return Ok(false) };
    tx.agent_touch(id, now)?;
    for (tool, (calls, errors)) in &seen.tools {
        let (tool, calls, errors) = (tool.clone(), *calls, *errors);
        tx.tool_use_add(id, &ToolUse { tool, calls, errors, micros: 0 });
    }
    for warning in &seen.warnings {
        warn(tx, &agent, warning, now)?;
    }
    if seen.tokens != Tokens::default() || seen.cost.is_some() {
        charge(tx, settings, &agent, seen, now)?;
    }
    Ok(true)
}

/// Tells of a warning.
pub(crate) fn warn(
    tx: &mut Tx<'_>,
    agent: &Agent,
    warning: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    let data = EventData::AgentWarned(AgentWarned { warning: warning.to_owned() });
    tx.event_append(now, &EventDraft { agent: Some(agent.id), task: agent.task, data })?;
    Ok(())
}

fn charge(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    seen: &UsageReport,
    now: Timestamp,
) -> Result<(), ToolError> {
    tx.run_use(agent.id, seen.tokens, seen.cost)?;
    let money = seen.cost.unwrap_or_default();
    let usage = SpendAmount { money, tokens: seen.tokens };
    tx.spend_add(agent.id, &seen.model, usage, now)?;
    let spend = Spend { money, tokens: seen.tokens.all(), agents: 0 };
    charge_one(tx, settings, agent, spend, now)?;
    charge_above(tx, settings, agent, spend, now)
}

/// Charges one budget, and does what its owner wanted where the cap is reached.
fn charge_one(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    spend: Spend,
    now: Timestamp,
) -> Result<(), ToolError> {
    let budget = tx.budget_charge(agent.id, spend)?;
    let Some(cap) = reached(&budget) else { return Ok(()) };
    let run = tx.run_get(agent.id)?;
    // Where it cannot be read, the cap holds.
    let on_cap =
        run.and_then(|run| RunOptions::of(&run).ok()).map_or(OnCap::Stop, |options| options.on_cap);
    match on_cap {
        OnCap::Stop => over(tx, settings, agent.id, &cap, now),
        OnCap::Warn if budget.warned => Ok(()),
        OnCap::Warn => {
            tx.budget_warned(agent.id)?;
            warn(tx, agent, &format!("its budget of {cap} is used up; it continues"), now)
        }
    }
}

/// Charges every agent above an agent, and stops the ones that reach a cap.
pub(crate) fn charge_above(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    spend: Spend,
    now: Timestamp,
) -> Result<(), ToolError> {
    for above in tx.agent_ancestors(agent)? {
        charge_one(tx, settings, &above, spend, now)?;
    }
    Ok(())
}

/// The cap that is reached, in words.
fn reached(budget: &Budget) -> Option<String> {
    let money = budget.caps.money.filter(|cap| budget.money >= *cap).map(|cap| cap.to_string());
    let tokens =
        budget.caps.tokens.filter(|cap| budget.tokens >= *cap).map(|cap| format!("{cap} tokens"));
    money.or(tokens)
}

fn over(
    tx: &mut Tx<'_>,
    settings: &Settings,
    id: AgentId,
    cap: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    let stop = StopRequest {
        outcome: Outcome::OverBudget,
        reason: format!("{id}'s budget of {cap} is used up"),
    };
    stop_tree(tx, settings, id, &stop, now)
}
