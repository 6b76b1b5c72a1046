//! Open requests to a person and totals, for the page's frame.

use model::money::Usd;
use model::{AgentId, Timestamp};
use rusqlite::params;

use crate::core::amount::sum;
use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;
use crate::crew::agent::{self, Agent, COLUMNS};
use crate::delivery::merge_queue::{self, Merge};

impl Tx<'_> {
    /// The agents that spent what they had after a time, who ended last first.
    pub fn agents_over_budget(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<Agent>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM agent WHERE ended_at > $1 AND state = 'over_budget'
                 ORDER BY ended_at DESC LIMIT $2"
            ),
            params![since.as_millis(), limit],
            agent::read,
        )
    }

    /// True if another agent resumed an agent's conversation.
    pub fn run_is_resumed(&self, id: AgentId) -> Result<bool, StoreError> {
        let later = self
            .number("SELECT COUNT(*) FROM run WHERE resumed_from = $1", params![id.to_string()])?;
        Ok(later > 0)
    }

    /// The newest merges, newest first.
    pub fn merges_newest(&self, limit: u32) -> Result<Vec<Merge>, StoreError> {
        self.all(
            &format!("SELECT {} FROM merge ORDER BY number DESC LIMIT $1", merge_queue::COLUMNS),
            params![limit],
            merge_queue::read,
        )
    }

    /// The live agents whose work was ever looked at.
    pub fn coders_live(&self) -> Result<Vec<AgentId>, StoreError> {
        self.all(
            "SELECT id FROM agent WHERE ended_at IS NULL
                AND EXISTS (SELECT 1 FROM review WHERE review.coder_id = agent.id)
             ORDER BY number",
            [],
            |row| RowReader::of(row).parse(),
        )
    }

    /// Counts open reviews.
    pub fn reviews_open_count(&self) -> Result<i64, StoreError> {
        self.number("SELECT COUNT(*) FROM review WHERE ended_at IS NULL", [])
    }

    /// Counts open tasks.
    pub fn tasks_open_count(&self) -> Result<i64, StoreError> {
        self.number(
            "SELECT COUNT(*) FROM task
             WHERE state IN ('pending', 'assigned', 'in_progress', 'review', 'blocked')",
            [],
        )
    }

    /// Counts open tasks that wait for a task, directly or through others; at most a
    /// thousand are counted.
    pub fn tasks_held_up(&self, number: i64) -> Result<i64, StoreError> {
        self.number(
            "WITH RECURSIVE behind (number) AS (
                SELECT task_number FROM task_dependency WHERE needs_number = $1
                UNION
                SELECT d.task_number FROM task_dependency AS d
                    JOIN behind AS b ON d.needs_number = b.number)
             SELECT COUNT(*) FROM (SELECT number FROM behind LIMIT 1000) AS b
                JOIN task AS t ON t.number = b.number
             WHERE t.state NOT IN ('completed', 'cancelled', 'failed')",
            params![number],
        )
    }

    /// Sums spending since a time: money, and tokens in and out.
    pub fn spend_total(&self, since: Timestamp) -> Result<(Usd, u64), StoreError> {
        let sum = self.one(
            &format!(
                "SELECT COALESCE({}, 0), COALESCE({}, 0) FROM spend WHERE hour >= $1",
                sum("nanos"),
                sum("tokens_in + tokens_out + cache_read + cache_write"),
            ),
            params![since.as_millis()],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((Usd::from_nanos(cells.get()?), cells.large()?))
            },
        )?;
        Ok(sum.unwrap_or_default())
    }
}
