//! Summary of spending, and the budgets of a lineage.

use std::collections::HashMap;

use model::money::Usd;
use model::{AgentId, Timestamp};
use store::{LineageNode, SpendBy, TaskCost, TimeSpan, Tokens, Tx};
use wire::costs::{
    CostSummary, CostliestTask, DoneTaskCosts, FailedWorkCosts, Lineage, LineageAgent, TokenTotals,
};

use crate::core::error::ToolError;
use crate::views::agents::find;
use crate::views::costs::series::{HOUR, hours_of};
use crate::views::period::Period;
use crate::views::service::Views;

/// Agents of a lineage shown.
const MAX_LINEAGE_AGENTS: u32 = 300;

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
    from: Timestamp,
    to: Timestamp,
    now: Timestamp,
) -> Result<CostSummary, ToolError> {
    let span = TimeSpan { from, to };
    let (mut money, mut tokens) = (Usd::ZERO, Tokens::default());
    for point in tx.spend_points(SpendBy::Hour, span)? {
        money += point.money;
        tokens += point.tokens;
    }
    let done = tx.spend_on_done(span)?;
    let before = TimeSpan { from: from.after_millis(-to.millis_since(from)), to: from };
    let before = tx.spend_on_done(before)?;
    let (failed, alone) = tx.spend_on_failed(span)?;
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

fn lineage_view(node: LineageNode) -> LineageAgent {
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
    let mut below: HashMap<AgentId, Vec<LineageAgent>> = <_>::default();
    while let Some(node) = nodes.pop() {
        let parent = node.parent;
        let mut view = lineage_view(node);
        view.children = below.remove(&view.id).unwrap_or_default();
        view.children.reverse();
        match parent.filter(|_| !nodes.is_empty()) {
            Some(parent) => below.entry(parent).or_default().push(view),
            None => return Some(view),
        }
    }
    None
}

fn lineage(tx: &Tx<'_>, root: Option<AgentId>) -> Result<Lineage, ToolError> {
    let root = match root {
        Some(id) => Some(find::get(tx, id)?.id),
        None => tx.spend_largest_root()?,
    };
    let Some(root) = root else { return Ok(Lineage { root: None, truncated: false }) };
    let mut nodes = tx.spend_lineage(root, MAX_LINEAGE_AGENTS + 1)?;
    let most = usize::try_from(MAX_LINEAGE_AGENTS).unwrap_or(usize::MAX);
    let truncated = nodes.len() > most;
    nodes.truncate(most);
    Ok(Lineage { root: tree(nodes), truncated })
}

impl Views {
    /// Sums up a period in a few figures.
    pub async fn costs_summary(&self, period: Period) -> Result<CostSummary, ToolError> {
        let now = self.now();
        let (from, to) = hours_of(period, now)?;
        self.store.scan(move |tx| summary(tx, from, to, now)).await
    }

    /// The budgets of an agent and all below it; without an agent, those of the one without a parent that has spent the
    /// most.
    pub async fn costs_lineage(&self, root: Option<AgentId>) -> Result<Lineage, ToolError> {
        self.store.scan(move |tx| lineage(tx, root)).await
    }
}
