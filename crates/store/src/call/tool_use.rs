//! Counts of tool use by agent.
//!
//! A call is counted in the commit that records it. What the operations of a commit counted is added up
//! first, so that it costs one row an agent and a tool, however many calls share the commit.

use model::{AgentId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tool_use_counts::{ToolUse, ToolUseCounts};
use crate::core::tx::Tx;

/// Usage of one tool by all agents of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleToolUse {
    /// The role's name
    pub role: String,
    /// Usage
    pub used: ToolUse,
}

fn read(cells: &mut RowReader<'_>) -> Result<ToolUse, StoreError> {
    Ok(ToolUse {
        tool: cells.get()?,
        calls: cells.large()?,
        errors: cells.large()?,
        micros: cells.large()?,
    })
}

impl Tx<'_> {
    /// Counts what an agent did with a tool that is recorded elsewhere, such as its own.
    pub fn tool_use_add(&mut self, agent: AgentId, used: &ToolUse) {
        self.uses.add(agent, &used.tool, [used.calls, used.errors, used.micros]);
    }

    /// Writes what was counted.
    pub(crate) fn tool_use_write(&mut self, uses: &ToolUseCounts) -> Result<(), StoreError> {
        if uses.0.is_empty() {
            return Ok(());
        }
        let stored = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let add = "INSERT INTO tool_use (agent_id, tool, calls, errors, micros)
             VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (agent_id, tool) DO UPDATE SET
                calls = tool_use.calls + excluded.calls,
                errors = tool_use.errors + excluded.errors,
                micros = tool_use.micros + excluded.micros";
        for (agent, uses) in &uses.0 {
            let agent = agent.to_string();
            for ToolUse { tool, calls, errors, micros } in uses {
                let (calls, errors, micros) = (stored(*calls), stored(*errors), stored(*micros));
                self.execute(add, params![agent, tool, calls, errors, micros])?;
            }
        }
        Ok(())
    }

    /// Lists an agent's tool use, the most used first.
    pub fn tool_use_by_agent(&self, agent: AgentId) -> Result<Vec<ToolUse>, StoreError> {
        self.all(
            "SELECT tool, calls, errors, micros FROM tool_use WHERE agent_id = $1
             ORDER BY calls DESC, tool",
            params![agent.to_string()],
            |row: &Row<'_>| read(&mut RowReader::of(row)),
        )
    }

    /// Lists tool use by role over all agents, the most used first.
    pub fn tool_use_by_role(&self) -> Result<Vec<RoleToolUse>, StoreError> {
        self.all(
            "SELECT agent.role, tool, SUM(calls) AS called, SUM(errors), SUM(micros)
             FROM tool_use JOIN agent ON agent.id = tool_use.agent_id
             GROUP BY agent.role, tool ORDER BY called DESC, agent.role, tool",
            [],
            |row| {
                let mut cells = RowReader::of(row);
                Ok(RoleToolUse { role: cells.get()?, used: read(&mut cells)? })
            },
        )
    }

    /// Lists the use of agents' own tools, for agents that spent something since a time, the most used first.
    pub fn tool_use_own(&self, since: Timestamp, limit: u32) -> Result<Vec<ToolUse>, StoreError> {
        self.all(
            r"SELECT tool, SUM(calls) AS called, SUM(errors), SUM(micros) FROM tool_use
             WHERE agent_id IN (SELECT agent_id FROM spend WHERE hour >= $1)
                AND tool NOT LIKE 'mcp\_\_%' ESCAPE '\'
             GROUP BY tool ORDER BY called DESC, tool LIMIT $2",
            params![since.as_millis(), limit],
            |row: &Row<'_>| read(&mut RowReader::of(row)),
        )
    }
}
