//! Summary of spending, and the budgets of a lineage.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::store::{LineageNode, SpendBy, TaskCost, TimeSpan, Tokens, Tx};
use engine::{Code, ToolError};
use model::agent::AgentStateName;
use model::money::Usd;
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::costs_series::{HOUR, time_of};
use crate::answer::{Answer, Params};
use crate::server::Shared;

/// Agents of a lineage shown.
const TREE: u32 = 300;

/// Over which time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WhichTime {
    /// From this hour on (default: a day before the end)
    since: Option<Timestamp>,
    /// Before this time (default: now)
    until: Option<Timestamp>,
}

/// Summary of spending.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    /// From when on
    from: Timestamp,
    /// Until when
    to: Timestamp,
    /// Dollars
    spent_usd: f64,
    /// Dollars in the last hour
    rate_usd: f64,
    /// Tokens
    tokens: TokensRead,
    /// Cost of a completed task
    done_task: DoneTask,
    /// Cost of failed work
    failed: FailedWork,
    /// Share estimated from the price table; null if unknown
    estimated_share: Option<f64>,
}

/// Tokens, and how many of those that were read came from a cache.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokensRead {
    /// In and out
    all: u64,
    /// Read, from wherever
    read: u64,
    /// Written
    written: u64,
    /// Read from a cache
    cached: u64,
}

/// Cost of completed tasks.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DoneTask {
    /// Half of them cost no more; null where there is none
    median_usd: Option<f64>,
    /// Number of places
    count: usize,
    /// The same for the time before, which was as long
    before_usd: Option<f64>,
}

/// Cost of failed work.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FailedWork {
    /// Dollars
    usd: f64,
    /// The task that took the most of it
    worst: Option<WorstTask>,
}

/// A task, and what failed work on it cost.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WorstTask {
    /// Its number
    number: i64,
    /// Its slug
    slug: String,
    /// Title
    title: String,
    /// Dollars
    usd: f64,
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
    (from, to): (Timestamp, Timestamp),
    now: Timestamp,
) -> Result<Summary, ToolError> {
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
    let worst = failed.into_iter().next().map(|cost| WorstTask {
        number: cost.number,
        slug: cost.slug,
        title: cost.title,
        usd: cost.money.dollars(),
    });
    Ok(Summary {
        from,
        to,
        spent_usd: money.dollars(),
        rate_usd: rate(tx, now)?,
        tokens: TokensRead {
            all: tokens.all(),
            read: tokens.read(),
            written: tokens.output,
            cached: tokens.cache_read,
        },
        done_task: DoneTask {
            median_usd: median(&done),
            count: done.len(),
            before_usd: median(&before),
        },
        failed: FailedWork { usd: wasted.dollars(), worst },
        estimated_share: None,
    })
}

pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<WhichTime>,
) -> Answer<Json<Summary>> {
    let now = shared.app.engine.now();
    let span = time_of(asked.since, asked.until, now)?;
    let shown = shared.app.engine.store().scan(move |tx| summary(tx, span, now)).await?;
    Ok(Json(shown))
}

/// Query for a lineage.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WhichLineage {
    /// From this agent on down (default: the one without a parent that has spent the most of those that
    /// live, else the one that ended last)
    agent: Option<AgentId>,
}

/// The budgets of a lineage.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Lineage {
    /// Root of the lineage; null if there are no agents
    root: Option<LineageView>,
    /// True if there are more agents than shown
    truncated: bool,
}

/// An agent with what it and those below it may spend.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LineageView {
    /// Agent id
    id: AgentId,
    /// The end of its id
    short: String,
    /// In which role
    role: String,
    /// The number of its task
    task_number: Option<i64>,
    /// Cap of it and its descendants in dollars; null for its parent's
    cap_usd: Option<f64>,
    /// Amount spent by it and its descendants
    spent_usd: f64,
    /// Where it stands
    state: AgentStateName,
    /// Those below it
    children: Vec<Self>,
}

impl From<LineageNode> for LineageView {
    fn from(node: LineageNode) -> Self {
        Self {
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
}

/// Hangs each under its parent. Parents come before children, so the last is always a leaf.
fn tree(mut nodes: Vec<LineageNode>) -> Option<LineageView> {
    let mut below: std::collections::HashMap<AgentId, Vec<LineageView>> = <_>::default();
    while let Some(node) = nodes.pop() {
        let parent = node.parent;
        let mut view = LineageView::from(node);
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
    Params(asked): Params<WhichLineage>,
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
