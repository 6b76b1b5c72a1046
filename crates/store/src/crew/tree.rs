//! The crew as a tree and a queue: running agents, queued agents, ancestors and descendants.

use model::agent::AgentState;
use model::{AgentId, Timestamp};
use rusqlite::params;

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;
use crate::crew::agent::{self, Agent, COLUMNS};

/// An agent that counts against the running limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedAgent {
    /// The agent
    pub agent: AgentId,
    /// Depth below the operator
    pub depth: u32,
}

impl Tx<'_> {
    /// The agents that wait for a place: the deepest first, then the oldest.
    pub fn agents_queued(&self, limit: u32) -> Result<Vec<QueuedAgent>, StoreError> {
        self.all(
            "SELECT id, depth FROM agent WHERE state = 'queued'
             ORDER BY depth DESC, number LIMIT $1",
            params![limit],
            |row| {
                let mut cells = RowReader::of(row);
                Ok(QueuedAgent { agent: cells.parse()?, depth: cells.count()? })
            },
        )
    }

    /// The agents that take a place, whatever they wait for.
    pub fn agents_placed(&self) -> Result<Vec<AgentId>, StoreError> {
        self.all(
            "SELECT id FROM agent
             WHERE ended_at IS NULL AND kind <> 'enlisted' AND state IN ('starting', 'running')",
            [],
            |row| RowReader::of(row).parse(),
        )
    }

    /// The agents that Adjutant runs itself and that have not ended.
    pub fn agents_run(&self) -> Result<Vec<Agent>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM agent WHERE ended_at IS NULL AND kind <> 'enlisted'
                 ORDER BY number"
            ),
            [],
            agent::read,
        )
    }

    /// Those whose model does not answer them for a while, when they may go on, and since when they wait.
    pub fn agents_limited_since(&self) -> Result<Vec<(AgentId, Timestamp, Timestamp)>, StoreError> {
        self.all(
            "SELECT id, limited_until, last_active_at FROM agent
             WHERE ended_at IS NULL AND state = 'limited'",
            [],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.parse()?, cells.time()?, cells.time()?))
            },
        )
    }

    /// Live enlisted agents.
    pub fn agents_enlisted(&self) -> Result<Vec<Agent>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM agent WHERE ended_at IS NULL AND kind = 'enlisted'
                 ORDER BY number"
            ),
            [],
            agent::read,
        )
    }

    /// Those whose model does not answer them for a while, and when they may go on.
    pub fn agents_limited(&self) -> Result<Vec<(AgentId, Timestamp)>, StoreError> {
        self.all(
            "SELECT id, limited_until FROM agent WHERE ended_at IS NULL AND state = 'limited'
             ORDER BY limited_until",
            [],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.parse()?, cells.time()?))
            },
        )
    }

    /// Everybody above an agent, nearest first, whether they have ended or not.
    pub fn agent_ancestors(&self, agent: &Agent) -> Result<Vec<Agent>, StoreError> {
        let mut above = Vec::new();
        let mut next = agent.parent;
        while let Some(id) = next {
            let Some(parent) = self.agent_get(id)? else { break };
            next = parent.parent;
            above.push(parent);
        }
        Ok(above)
    }

    /// Everybody below an agent who has not ended, deepest first.
    pub fn agent_descendants(&self, id: AgentId) -> Result<Vec<Agent>, StoreError> {
        self.all(
            &format!(
                "WITH RECURSIVE below (id) AS (
                    SELECT id FROM agent WHERE parent_id = $1
                    UNION ALL
                    SELECT a.id FROM agent AS a JOIN below AS b ON a.parent_id = b.id)
                 SELECT {COLUMNS} FROM agent WHERE id IN (SELECT id FROM below)
                    AND ended_at IS NULL
                 ORDER BY depth DESC, number"
            ),
            params![id.to_string()],
            agent::read,
        )
    }

    /// Counts an agent's live children.
    pub fn agent_children_count(&self, id: AgentId) -> Result<i64, StoreError> {
        self.number(
            "SELECT COUNT(*) FROM agent WHERE parent_id = $1 AND ended_at IS NULL",
            params![id.to_string()],
        )
    }

    /// Begins an agent's attempt of that number, under a new token; the old one is void.
    pub fn agent_begin(
        &mut self,
        id: AgentId,
        attempt: u32,
        token_hash: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE agent SET attempt = $2, token_hash = $3, last_active_at = $4 WHERE id = $1",
            params![id.to_string(), attempt, token_hash, now.as_millis()],
        )?;
        Ok(())
    }

    /// Says in which terminal an agent can be watched.
    pub fn agent_set_tmux(&mut self, id: AgentId, session: Option<&str>) -> Result<(), StoreError> {
        self.execute(
            "UPDATE agent SET tmux_session = $2 WHERE id = $1",
            params![id.to_string(), session],
        )?;
        Ok(())
    }

    /// True for a known agent that has not ended.
    pub fn agent_is_live(&self, id: AgentId) -> Result<bool, StoreError> {
        Ok(self
            .agent_get(id)?
            .is_some_and(|agent| !matches!(agent.state, AgentState::Ended { .. })))
    }
}
