//! Everything about one agent.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::ToolError;
use engine::store::{Agent, Budget, Review, Run, Tx};
use model::agent::AgentState;
use model::money::Usd;
use model::review::InstanceStatus;
use model::{AgentId, Timestamp};
use serde_json::{Map, Value};

use wire::agent_details::{
    AgentBudget, AgentDetails, AgentTokens, AgentView, AgentWorktree, BudgetAmounts, RelationKind,
    ReviewRelation,
};
use wire::agents::AgentResultView;

use super::{agent_view, find};
use crate::answer::Answer;
use crate::server::Shared;

/// The reviews that an agent has to do with, first to last.
fn relations(tx: &Tx<'_>, id: AgentId) -> Result<Vec<ReviewRelation>, ToolError> {
    let mut reviews = tx.reviews_of(id)?;
    reviews.extend(tx.review_by(id)?);
    let relation = |review: Review| ReviewRelation {
        kind: RelationKind::SpawnedReview,
        parent_id: review.coder,
        child_id: review.reviewer,
        review_iteration: review.iteration,
    };
    Ok(reviews.into_iter().map(relation).collect())
}

/// Reads one agent in full.
fn agent_details(tx: &Tx<'_>, agent: Agent, now: Timestamp) -> Result<AgentDetails, ToolError> {
    let run = tx.run_get(agent.id)?;
    let tokens = run.as_ref().map(|run| run.tokens).unwrap_or_default();
    let duration_ms = duration(&agent, run.as_ref(), now);
    let seconds = u64::try_from(duration_ms / 1000).unwrap_or_default();
    let budget = tx.budget_get(agent.id)?.map(|budget| budget_view(&budget, seconds));
    let worktree = tx.worktree_of(agent.id)?;
    let pull = tx.pull_of(agent.id)?.map(|pull| pull.state);
    Ok(AgentDetails {
        review_status: InstanceStatus::of(agent.state.name(), pull),
        worktree: worktree.map(|worktree| AgentWorktree {
            path: worktree.path,
            branch: worktree.branch,
            target: worktree.target,
            state: worktree.state,
        }),
        relations: relations(tx, agent.id)?,
        await_status: agent.state.name().awaited(),
        tokens: AgentTokens { input: tokens.read(), output: tokens.output },
        budget,
        result: run.as_ref().and_then(|run| result_of(run.result.as_deref()?)),
        resumed_from: run.as_ref().and_then(|run| run.resumed_from),
        deadline_at: run.as_ref().and_then(|run| run.deadline_at),
        duration_ms,
        agent: AgentView {
            reason: reason_of(&agent.state),
            ..agent_view(tx, &agent, run.as_ref())?
        },
        attempt: agent.attempt,
        cwd: agent.cwd,
        tmux_session: agent.tmux_session,
        prompt: run.map(|run| run.prompt),
    })
}

/// Why an agent ended, or until when it is limited.
fn reason_of(state: &AgentState) -> Option<String> {
    match state {
        AgentState::Ended { reason, .. } => Some(reason.clone()),
        AgentState::Limited { until } => Some(format!("limited until {until}")),
        _ => None,
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

/// The result as `await_agent` gives it. Lists that an older row lacks are empty.
fn result_of(kept: &str) -> Option<AgentResultView> {
    let mut kept: Map<String, Value> = serde_json::from_str(kept).ok()?;
    for list in ["changes", "issues", "questions"] {
        kept.entry(list).or_insert_with(|| Vec::<Value>::new().into());
    }
    serde_json::from_value(kept.into()).ok()
}

fn budget_view(budget: &Budget, ran_seconds: u64) -> AgentBudget {
    let caps = budget.caps;
    AgentBudget {
        caps: BudgetAmounts {
            usd: caps.money.map(Usd::dollars),
            tokens: caps.tokens,
            agents: caps.agents,
            seconds: caps.seconds,
        },
        spent: BudgetAmounts {
            usd: Some(budget.money.dollars()),
            tokens: Some(budget.tokens),
            agents: Some(budget.agents),
            seconds: Some(ran_seconds),
        },
    }
}

pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<AgentDetails>> {
    let engine = &shared.app.engine;
    let now = engine.now();
    let found = engine.store().scan(move |tx: &Tx<'_>| {
        let agent = find::find(tx, &name)?;
        agent_details(tx, agent, now)
    });
    Ok(Json(found.await?))
}
