//! Agents as they are listed, one agent with everything about it, and counts of those that live.

pub(crate) mod find;

use model::agent::AgentState;
use model::money::Usd;
use model::review::InstanceStatus;
use model::{AgentId, TaskRef, Timestamp};
use store::{Agent, AgentPage, Budget, Event, RecordTotals, Review, Run, StoreError, Tx};
use wire::agent_details::{
    AgentBudget, AgentDetails, AgentList, AgentTokens, AgentView, AgentWorktree, BudgetAmounts,
    RelationKind, ReviewRelation,
};
use wire::agents::AgentResultView;
use wire::event::EventData;
use wire::server::RecordCounts;

use crate::core::error::ToolError;
use crate::core::scope::ListScope;
use crate::crew::result::AgentResult;
use crate::crew::run::RunOptions;
use crate::views::service::Views;

/// Events of an agent's life in which its warnings are looked for, the newest ones.
const LIFE_EVENTS: u32 = 200;

/// Number of agents that have not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveAgents {
    /// All of them, enlisted ones too
    pub all: i64,
    /// Those run by Adjutant that are at work
    pub running: usize,
    /// Those run by Adjutant that wait for a place, an answer, a review or their model
    pub waiting: usize,
}

fn agent_view(tx: &Tx<'_>, agent: &Agent, run: Option<&Run>) -> Result<AgentView, StoreError> {
    let task = agent.task.map(|id| tx.task_find(&TaskRef::Id(id))).transpose()?.flatten();
    Ok(AgentView {
        state: agent.state.name(),
        reason: None,
        finished_at: agent.ended_at(),
        id: agent.id,
        role: agent.role.clone(),
        category: agent.category.clone(),
        kind: agent.kind.clone(),
        summary: run.map(|run| run.summary.clone()),
        model: run.and_then(model_of),
        task_slug: task.map(|task| task.slug),
        parent_id: agent.parent,
        depth: agent.depth,
        started_at: run.and_then(|run| run.started_at).unwrap_or(agent.created_at),
        cost_usd: run.and_then(|run| run.cost).map(Usd::dollars),
    })
}

/// The model that answers, else the one that was asked for.
fn model_of(run: &Run) -> Option<String> {
    run.model.clone().or_else(|| RunOptions::shown(&run.options).model)
}

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

fn whole_agent(tx: &Tx<'_>, agent: Agent, now: Timestamp) -> Result<AgentDetails, ToolError> {
    let run = tx.run_get(agent.id)?;
    let tokens = run.as_ref().map(|run| run.tokens).unwrap_or_default();
    let duration_ms = duration(&agent, run.as_ref(), now);
    let seconds = u64::try_from(duration_ms / 1000).unwrap_or_default();
    let budget = tx.budget_get(agent.id)?.map(|budget| budget_view(&budget, seconds));
    let worktree = tx.worktree_of(agent.id)?;
    let warnings = warnings(tx, agent.id)?;
    let pull = tx.pull_of(agent.id)?.map(|pull| pull.state);
    let reason = match &agent.state {
        AgentState::Ended { reason, .. } => Some(reason.clone()),
        AgentState::Limited { until } => Some(format!("limited until {until}")),
        _ => None,
    };
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
        result: AgentResult::decode(run.as_ref().and_then(|run| run.result.as_deref()), agent.id)?
            .map(AgentResultView::from),
        resumed_from: run.as_ref().and_then(|run| run.resumed_from),
        deadline_at: run.as_ref().and_then(|run| run.deadline_at),
        duration_ms,
        agent: AgentView { reason, ..agent_view(tx, &agent, run.as_ref())? },
        attempt: agent.attempt,
        cwd: agent.cwd,
        tmux_session: agent.tmux_session,
        prompt: run.map(|run| run.prompt),
        warnings,
    })
}

/// The newest warnings about an agent.
fn warnings(tx: &Tx<'_>, id: AgentId) -> Result<Vec<String>, ToolError> {
    let warning = |event: &Event| match event.decode() {
        Some(EventData::AgentWarned(warned)) => Some(warned.warning),
        _ => None,
    };
    Ok(tx.agent_life(id, LIFE_EVENTS)?.iter().filter_map(warning).collect())
}

/// Running time of an agent; zero while it is queued.
fn duration(agent: &Agent, run: Option<&Run>, now: Timestamp) -> i64 {
    let began = match run {
        Some(run) => run.started_at,
        None => Some(agent.created_at),
    };
    began.map_or(0, |began| agent.ended_at().unwrap_or(now).millis_since(began))
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

impl Views {
    /// A page of agents, oldest first.
    pub async fn agents(
        &self,
        scope: ListScope,
        after: i64,
        limit: u32,
    ) -> Result<AgentList, ToolError> {
        let which = scope.choose(AgentPage::Live, AgentPage::All);
        let views = self.clone();
        let look = move |tx: &Tx<'_>| {
            let page = tx.agent_page(which, after, limit)?;
            let view = |agent: &Agent| {
                let run = tx.run_get(agent.id)?;
                let queued = agent.state == AgentState::Queued;
                let reason = queued.then(|| views.queue_reason(agent.id)).flatten();
                Ok(AgentView { reason, ..agent_view(tx, agent, run.as_ref())? })
            };
            let agents = page.items.iter().map(view).collect::<Result<_, StoreError>>()?;
            Ok::<_, StoreError>(AgentList { agents, next_cursor: page.next })
        };
        Ok(self.store.scan(look).await?)
    }

    /// Everything about the agent that a name means: an id, the beginning or the end of one, or `last`.
    pub async fn agent_details(&self, name: String) -> Result<AgentDetails, ToolError> {
        let now = self.now();
        self.store.scan(move |tx| whole_agent(tx, find::find(tx, &name)?, now)).await
    }

    /// Counts what is on record.
    pub fn record_counts(&self) -> Result<RecordCounts, ToolError> {
        let totals = self.store.read(|tx| tx.record_totals())?;
        let RecordTotals { tasks, agents, mails, calls } = totals;
        Ok(RecordCounts { tasks, agents, mails, calls })
    }

    /// Counts the agents that have not ended.
    pub fn live_agents(&self) -> Result<LiveAgents, ToolError> {
        let counts = |tx: &Tx<'_>| Ok::<_, StoreError>((tx.agents_live_count()?, tx.agents_run()?));
        let (all, ours) = self.store.read(counts)?;
        let at_work =
            |agent: &&Agent| matches!(agent.state, AgentState::Starting | AgentState::Running);
        let running = ours.iter().filter(at_work).count();
        Ok(LiveAgents { all, running, waiting: ours.len() - running })
    }
}
