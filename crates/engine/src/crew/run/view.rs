//! Status of a run: its state, its result and its cost.

use model::agent::{AgentState, AgentStateName, AwaitStatus};
use model::money::Usd;
use model::{AgentId, Timestamp};
use store::{Agent, Run, StoreError, Tx};
use wire::agents::{AgentResultView, TokensView};

use crate::call::cx::{Caller, find_agent};
use crate::core::error::ToolError;
use crate::core::settings::Settings;
use crate::crew::result::AgentResult;
use model::Reach;

impl From<AgentResult> for AgentResultView {
    fn from(result: AgentResult) -> Self {
        let AgentResult { summary, changes, issues, questions, structured, .. } = result;
        Self { summary, changes, issues, questions, structured }
    }
}

/// An agent and its run at one moment.
#[derive(Debug, Clone)]
pub(crate) struct AgentSnapshot {
    /// The agent
    pub(crate) agent: Agent,
    /// Its run; an enlisted agent has none
    pub(crate) run: Option<Run>,
    /// Its result, once it has ended
    result: Option<AgentResult>,
}

impl AgentSnapshot {
    /// Status of an agent.
    pub(crate) fn of(tx: &Tx<'_>, id: AgentId) -> Result<Self, ToolError> {
        Self::new(find_agent(tx, id)?, tx.run_get(id)?)
    }

    /// Decodes what is kept of an agent.
    pub(crate) fn new(agent: Agent, run: Option<Run>) -> Result<Self, ToolError> {
        let is_over = matches!(agent.state, AgentState::Ended { .. });
        let kept = run.as_ref().filter(|_| is_over).and_then(|run| run.result.as_deref());
        let result = AgentResult::decode(kept, agent.id)?;
        Ok(Self { agent, run, result })
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.agent.state, AgentState::Ended { .. })
    }

    pub(crate) fn state(&self) -> AgentStateName {
        self.agent.state.name()
    }

    pub(crate) fn status(&self) -> AwaitStatus {
        self.state().awaited()
    }

    /// Reason of its end, or the time until which it is limited.
    pub(crate) fn reason(&self) -> Option<String> {
        match &self.agent.state {
            AgentState::Ended { reason, .. } => Some(reason.clone()),
            AgentState::Limited { until } => Some(format!("limited until {until}")),
            _ => None,
        }
    }

    /// Result, once it has ended.
    pub(crate) fn result(&self) -> Option<AgentResult> {
        self.result.clone()
    }

    pub(crate) fn cost(&self) -> Option<Usd> {
        self.run.as_ref()?.cost
    }

    pub(crate) fn tokens(&self) -> TokensView {
        let tokens = self.run.as_ref().map(|run| run.tokens).unwrap_or_default();
        TokensView { input: tokens.read(), output: tokens.output }
    }

    pub(crate) fn started_at(&self) -> Timestamp {
        self.run.as_ref().and_then(|run| run.started_at).unwrap_or(self.agent.created_at)
    }

    /// Running time so far.
    pub(crate) fn millis(&self, now: Timestamp) -> i64 {
        self.agent.ended_at().unwrap_or(now).millis_since(self.started_at()).max(0)
    }

    /// The model that answers it, or that it was asked for.
    pub(crate) fn model(&self) -> Option<String> {
        let run = self.run.as_ref()?;
        run.model.clone().or_else(|| super::options::RunOptions::shown(&run.options).model)
    }
}

/// Returns whether the caller may await, kill or read an agent. One that does not exist is within nobody's reach.
pub(crate) fn is_within_reach(
    tx: &Tx<'_>,
    settings: &Settings,
    caller: &Caller,
    id: AgentId,
) -> Result<bool, StoreError> {
    let Some(own) = &caller.agent else { return Ok(true) };
    Ok(match settings.reach_of(own) {
        Reach::All => true,
        Reach::Descendants if id != own.id => match tx.agent_get(id)? {
            Some(agent) => tx.agent_ancestors(&agent)?.iter().any(|above| above.id == own.id),
            None => false,
        },
        Reach::Descendants | Reach::Itself => id == own.id,
    })
}

/// An agent that the caller may await, kill or read.
pub(crate) fn within_reach(
    tx: &Tx<'_>,
    settings: &Settings,
    caller: &Caller,
    id: AgentId,
) -> Result<AgentSnapshot, ToolError> {
    let snapshot = AgentSnapshot::of(tx, id)?;
    if is_within_reach(tx, settings, caller, id)? {
        return Ok(snapshot);
    }
    Err(ToolError::denied(format!("you did not start agent `{id}`"))
        .hint("`list_agents` lists them"))
}
