//! Everything about one agent.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::ToolError;
use engine::store::{Agent, Budget, Review, Run, Tx};
use model::agent::{AgentState, AwaitStatus};
use model::money::Usd;
use model::review::{InstanceStatus, WorktreeState};
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{AgentView, find};
use crate::answer::Answer;
use crate::server::Shared;

/// An agent, whole.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WholeAgent {
    #[serde(flatten)]
    agent: AgentView,
    /// Why it ended, or until when it is limited
    reason: Option<String>,
    /// The state as `await_agent` says it
    await_status: AwaitStatus,
    /// Number of attempts
    attempt: u32,
    /// Where it works; null is the project
    cwd: Option<String>,
    /// Status in the review toolset's vocabulary
    review_status: InstanceStatus,
    /// The worktree that Adjutant made for it; null where it has none
    worktree: Option<WorktreeOf>,
    /// Review relations: its reviewers and the agents it reviews
    relations: Vec<Relation>,
    /// The tmux session that shows it
    tmux_session: Option<String>,
    /// Prompt; null for an enlisted agent
    prompt: Option<String>,
    /// Tokens used by itself
    tokens: Tokens,
    /// Budget and spending of it and its descendants; null without one
    budget: Option<BudgetView>,
    /// Result, once it has ended
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    result: Option<Value>,
    /// The agent whose conversation it goes on with
    resumed_from: Option<AgentId>,
    /// When it must be over
    deadline_at: Option<Timestamp>,
    /// Running time so far, in milliseconds
    duration_ms: i64,
}

/// An agent's worktree.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorktreeOf {
    /// Where it is
    path: String,
    /// Its branch
    branch: String,
    /// The branch its work is meant for
    target: Option<String>,
    /// Current state
    state: WorktreeState,
}

/// Two agents, and what they have to do with each other.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Relation {
    /// Kind
    #[serde(rename = "type")]
    kind: &'static str,
    /// Author of the work
    parent_id: AgentId,
    /// Reviewing agent
    child_id: AgentId,
    /// For which time
    review_iteration: u32,
}

/// The reviews that an agent has to do with, first to last.
fn relations(tx: &Tx<'_>, id: AgentId) -> Result<Vec<Relation>, ToolError> {
    let mut reviews = tx.reviews_of(id)?;
    reviews.extend(tx.review_by(id)?);
    let relation = |review: Review| Relation {
        kind: "spawned_review",
        parent_id: review.coder,
        child_id: review.reviewer,
        review_iteration: review.iteration,
    };
    Ok(reviews.into_iter().map(relation).collect())
}

/// Tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tokens {
    /// Read, from a cache too
    input: u64,
    /// Written
    output: u64,
}

/// Budget and spending.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BudgetView {
    /// The caps; an absent one is none
    caps: Amounts,
    /// Amount spent
    spent: Amounts,
}

/// Amounts of what is bounded.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Amounts {
    /// Dollars
    usd: Option<f64>,
    /// Tokens, in and out
    tokens: Option<u64>,
    /// Agents started
    agents: Option<u64>,
    /// Seconds of running
    seconds: Option<u64>,
}

impl WholeAgent {
    fn read(tx: &Tx<'_>, agent: Agent, now: Timestamp) -> Result<Self, ToolError> {
        let run = tx.run_get(agent.id)?;
        let tokens = run.as_ref().map(|run| run.tokens).unwrap_or_default();
        let duration_ms = duration(&agent, run.as_ref(), now);
        let seconds = u64::try_from(duration_ms / 1000).unwrap_or_default();
        let budget = tx.budget_get(agent.id)?.map(|budget| BudgetView::new(&budget, seconds));
        let worktree = tx.worktree_of(agent.id)?;
        let pull = tx.pull_of(agent.id)?.map(|pull| pull.state);
        Ok(Self {
            review_status: InstanceStatus::of(agent.state.name(), pull),
            worktree: worktree.map(|worktree| WorktreeOf {
                path: worktree.path,
                branch: worktree.branch,
                target: worktree.target,
                state: worktree.state,
            }),
            relations: relations(tx, agent.id)?,
            reason: match &agent.state {
                AgentState::Ended { reason, .. } => Some(reason.clone()),
                AgentState::Limited { until } => Some(format!("limited until {until}")),
                _ => None,
            },
            await_status: agent.state.name().awaited(),
            tokens: Tokens { input: tokens.read(), output: tokens.output },
            budget,
            result: run.as_ref().and_then(|run| result_of(run.result.as_deref()?)),
            resumed_from: run.as_ref().and_then(|run| run.resumed_from),
            deadline_at: run.as_ref().and_then(|run| run.deadline_at),
            duration_ms,
            agent: AgentView::read(tx, &agent, run.as_ref())?,
            attempt: agent.attempt,
            cwd: agent.cwd,
            tmux_session: agent.tmux_session,
            prompt: run.map(|run| run.prompt),
        })
    }
}

/// Running time of an agent; zero while it is queued.
fn duration(agent: &Agent, run: Option<&Run>, now: Timestamp) -> i64 {
    let began = match run {
        Some(run) => run.started_at,
        None => Some(agent.created_at),
    };
    began.map_or(0, |began| agent.ended_at().unwrap_or(now).millis_since(began))
}

/// The fields of a result that `await_agent` gives, too.
fn result_of(kept: &str) -> Option<Value> {
    let mut kept: Map<String, Value> = serde_json::from_str(kept).ok()?;
    kept.retain(|field, _| {
        ["summary", "changes", "issues", "questions", "structured"].contains(&field.as_str())
    });
    Some(kept.into())
}

impl BudgetView {
    fn new(budget: &Budget, ran_seconds: u64) -> Self {
        let caps = budget.caps;
        Self {
            caps: Amounts {
                usd: caps.money.map(Usd::dollars),
                tokens: caps.tokens,
                agents: caps.agents,
                seconds: caps.seconds,
            },
            spent: Amounts {
                usd: Some(budget.money.dollars()),
                tokens: Some(budget.tokens),
                agents: Some(budget.agents),
                seconds: Some(ran_seconds),
            },
        }
    }
}

pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<WholeAgent>> {
    let engine = &shared.app.engine;
    let now = engine.now();
    let found = engine.store().scan(move |tx: &Tx<'_>| {
        let agent = find::find(tx, &name)?;
        WholeAgent::read(tx, agent, now)
    });
    Ok(Json(found.await?))
}
