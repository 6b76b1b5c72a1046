//! Summary of spending, and the budgets of a lineage.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::store::{LineageNode, SpendBy, TaskCost, TimeSpan, Tokens, Tx};
use engine::{Code, ToolError};
use model::money::Usd;
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;

use wire::costs::{
    CostSummary, CostliestTask, DoneTaskCosts, FailedWorkCosts, Lineage, LineageAgent, TokenTotals,
};

use super::costs_series::{HOUR, time_of};
use crate::answer::{Answer, Params};
use crate::server::Shared;

/// Agents of a lineage shown.
const TREE: u32 = 300;

/// Over which time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CostSummaryQuery {
    /// From this hour on (default: a day before the end)
    since: Option<Timestamp>,
    /// Before this time (default: now)
    until: Option<Timestamp>,
}

/// The middle one, or the mean of the two in the middle.
fn median(costs: &[TaskCost]) -> Option<f64> {
    // They come sorted.
    let at = |n: usize| costs.get(n).map(|cost| cost.money.dollars());
    let half = costs.len() / 2;
    if costs.len() % 2 == 1 {
        at(half)
    } else {
        Some(f64::midpoint(at(half.checked_sub(1)?)?, at(half)?))
    }
}

/// Spending in the last hour, prorated over the hour before.
fn rate(tx: &Tx<'_>, now: Timestamp) -> Result<f64, ToolError> {
    let hour = Timestamp::from_millis(now.as_millis().div_euclid(HOUR) * HOUR);
    let span = TimeSpan { from: hour.after_millis(-HOUR), to: now.after_millis(1) };
    let points = tx.spend_points(SpendBy::Hour, span)?;
    #[expect(clippy::cast_precision_loss, reason = "an hour has few milliseconds")]
    let passed = now.millis_since(hour) as f64 / HOUR as f64;
    let share = |at: Timestamp| if at == hour { 1.0 } else { 1.0 - passed };
    let spent = points.iter().map(|point| point.money.dollars() * share(point.hour));
    // A sum of nothing would be less than nothing: -0.
    Ok(spent.fold(0.0, |sum, more| sum + more))
}

fn summary(
    tx: &Tx<'_>,
    TimeSpan { from, to }: TimeSpan,
    now: Timestamp,
) -> Result<CostSummary, ToolError> {
    let (mut money, mut tokens) = (Usd::ZERO, Tokens::default());
    for point in tx.spend_points(SpendBy::Hour, TimeSpan { from, to })? {
        money += point.money;
        tokens += point.tokens;
    }
    let done = tx.spend_on_done(TimeSpan { from, to })?;
    let before = TimeSpan { from: from.after_millis(-to.millis_since(from)), to: from };
    let before = tx.spend_on_done(before)?;
    let (failed, alone) = tx.spend_on_failed(TimeSpan { from, to })?;
    let wasted = failed.iter().map(|cost| cost.money).sum::<Usd>() + alone;
    let worst = failed.into_iter().next().map(|cost| CostliestTask {
        number: cost.number,
        slug: cost.slug,
        title: cost.title,
        usd: cost.money.dollars(),
    });
    Ok(CostSummary {
        from,
        to,
        spent_usd: money.dollars(),
        rate_usd: rate(tx, now)?,
        tokens: TokenTotals {
            all: tokens.all(),
            read: tokens.read(),
            written: tokens.output,
            cached: tokens.cache_read,
        },
        done_task: DoneTaskCosts {
            median_usd: median(&done),
            count: done.len(),
            before_usd: median(&before),
        },
        failed: FailedWorkCosts { usd: wasted.dollars(), worst },
        estimated_share: None,
    })
}

pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<CostSummaryQuery>,
) -> Answer<Json<CostSummary>> {
    let now = shared.app.engine.now();
    let span = time_of(asked.since, asked.until, now)?;
    let shown = shared.app.engine.store().scan(move |tx| summary(tx, span, now)).await?;
    Ok(Json(shown))
}

/// Query for a lineage.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LineageQuery {
    /// From this agent on down (default: the one without a parent that has spent the most of those that
    /// live, else the one that ended last)
    agent: Option<AgentId>,
}

fn lineage_agent(node: LineageNode) -> LineageAgent {
    LineageAgent {
        id: node.agent,
        short: node.agent.to_string().chars().skip(14).collect(),
        role: node.role,
        task_number: node.task,
        cap_usd: node.cap.map(Usd::dollars),
        spent_usd: node.spent.dollars(),
        state: node.state,
        children: Vec::new(),
    }
}

/// Hangs each under its parent. Parents come before children, so the last is always a leaf.
fn tree(mut nodes: Vec<LineageNode>) -> Option<LineageAgent> {
    let mut below: std::collections::HashMap<AgentId, Vec<LineageAgent>> = <_>::default();
    while let Some(node) = nodes.pop() {
        let parent = node.parent;
        let mut view = lineage_agent(node);
        view.children = below.remove(&view.id).unwrap_or_default();
        view.children.reverse();
        match parent.filter(|_| !nodes.is_empty()) {
            Some(parent) => below.entry(parent).or_default().push(view),
            None => return Some(view),
        }
    }
    None
}

pub(crate) async fn lineage(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<LineageQuery>,
) -> Answer<Json<Lineage>> {
    let shown = shared
        .app
        .engine
        .store()
        .scan(move |tx: &Tx<'_>| {
            let root = match asked.agent {
                Some(id) if tx.agent_get(id)?.is_none() => {
                    let message = format!("there is no agent `{id}`");
                    return Err(ToolError::new(Code::AgentNotFound, message));
                }
                Some(id) => Some(id),
                None => tx.spend_largest_root()?,
            };
            let Some(root) = root else { return Ok(Lineage { root: None, truncated: false }) };
            let mut nodes = tx.spend_lineage(root, TREE + 1)?;
            let most = usize::try_from(TREE).unwrap_or(usize::MAX);
            let truncated = nodes.len() > most;
            nodes.truncate(most);
            Ok(Lineage { root: tree(nodes), truncated })
        })
        .await?;
    Ok(Json(shown))
}
