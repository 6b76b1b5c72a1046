//! Snapshot of live agents and their ended ancestors.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::AgentId;
use model::agent::AgentStateName;
use store::{Agent, LiveAgent, Tx};

use crate::core::error::ToolError;

/// The live crew as it was last looked up, and after which event that was. The crew only changes with
/// events, so that it is looked up once for all who ask in between.
#[derive(Debug, Default)]
pub(crate) struct Memo(Mutex<Option<(i64, Arc<Live>)>>);

/// Everybody who has not ended.
#[derive(Debug, Default)]
pub(crate) struct Live {
    agents: Vec<LiveAgent>,
    /// Number of live descendants, by agent
    below: HashMap<AgentId, u32>,
    /// Number of live children, by agent
    children: HashMap<AgentId, u32>,
    /// Ended agents with live descendants
    ended: Vec<AgentId>,
}

impl Memo {
    /// Live agents as of a read transaction.
    pub(crate) fn live(&self, tx: &Tx<'_>) -> Result<Arc<Live>, ToolError> {
        let newest = tx.event_newest()?;
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((seen, live)) = known
            && seen == newest
        {
            return Ok(live);
        }
        let live = Arc::new(Live::read(tx)?);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((newest, Arc::clone(&live)));
        Ok(live)
    }
}

impl Live {
    fn read(tx: &Tx<'_>) -> Result<Self, ToolError> {
        let agents = tx.crew_live()?;
        let mut parents: HashMap<AgentId, Option<AgentId>> =
            agents.iter().map(|agent| (agent.id, agent.parent)).collect();
        let (mut below, mut children) = (HashMap::<_, u32>::new(), HashMap::<_, u32>::new());
        let mut ended = Vec::new();
        for agent in &agents {
            if let Some(parent) = agent.parent {
                *children.entry(parent).or_default() += 1;
            }
            let mut next = agent.parent;
            while let Some(id) = next {
                *below.entry(id).or_default() += 1;
                next = if let Some(parent) = parents.get(&id) {
                    *parent
                } else {
                    // It is not among the live, so it is over.
                    ended.push(id);
                    let parent = tx.agent_parent(id)?;
                    parents.insert(id, parent);
                    parent
                };
            }
        }
        Ok(Self { agents, below, children, ended })
    }

    /// Number of live descendants of an agent.
    pub(crate) fn below(&self, id: AgentId) -> u32 {
        self.below.get(&id).copied().unwrap_or_default()
    }

    /// Number of live children of an agent.
    pub(crate) fn children(&self, id: AgentId) -> u32 {
        self.children.get(&id).copied().unwrap_or_default()
    }

    /// All of them, oldest first.
    pub(crate) fn agents(&self) -> &[LiveAgent] {
        &self.agents
    }

    /// Those whom the operator started, by number.
    pub(crate) fn roots(&self) -> impl Iterator<Item = (i64, AgentId)> {
        let roots = self.agents.iter().filter(|agent| agent.parent.is_none());
        roots.map(|agent| (agent.number, agent.id))
    }

    /// Ended agents that have live descendants and were started by an agent or the operator.
    pub(crate) fn ended_above(
        &self,
        tx: &Tx<'_>,
        parent: Option<AgentId>,
    ) -> Result<Vec<Agent>, ToolError> {
        let mut found = Vec::new();
        for id in &self.ended {
            found.extend(tx.agent_get(*id)?.filter(|agent| agent.parent == parent));
        }
        Ok(found)
    }

    /// Number of live agents in one of these states.
    pub(crate) fn count(&self, states: &[AgentStateName]) -> u64 {
        let of = self.agents.iter().filter(|agent| states.contains(&agent.state));
        u64::try_from(of.count()).unwrap_or(u64::MAX)
    }
}
