//! Figures of one agent: calls over time, spending over time, and amounts of content.

use model::money::Usd;
use model::{AgentId, Timestamp};
use rusqlite::params;

use crate::call::audit::ROWS_PER_BLOCK;
use crate::core::amount::sum;
use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;
use crate::mail::message::Recipient;

/// Number of the newest blocks searched for one agent's calls.
const MAX_BLOCKS_SEARCHED: u32 = 64;

impl Tx<'_> {
    /// When an agent called our tools, oldest first; of very many only the newest.
    pub fn agent_call_times(&self, id: AgentId, limit: u32) -> Result<Vec<Timestamp>, StoreError> {
        let id = id.to_string();
        let blocks: Vec<i64> = self.all(
            "SELECT block FROM audit_block WHERE key = $1 ORDER BY block DESC LIMIT $2",
            params![id, MAX_BLOCKS_SEARCHED],
            |row| RowReader::of(row).get(),
        )?;
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut times = Vec::new();
        for block in blocks {
            let missing = most.saturating_sub(times.len());
            if missing == 0 {
                break;
            }
            times.extend(self.all(
                "SELECT at FROM audit WHERE number >= $1 AND number < $2 AND agent_id = $3
                 ORDER BY number DESC LIMIT $4",
                params![
                    block * ROWS_PER_BLOCK,
                    (block + 1) * ROWS_PER_BLOCK,
                    id,
                    i64::try_from(missing).unwrap_or(i64::MAX)
                ],
                |row| RowReader::of(row).time(),
            )?);
        }
        times.reverse();
        Ok(times)
    }

    /// Lists an agent's own spending by hour, oldest first: start of the hour and amount.
    pub fn agent_spend(&self, id: AgentId) -> Result<Vec<(Timestamp, Usd)>, StoreError> {
        self.all(
            &format!(
                "SELECT hour, {} FROM spend WHERE agent_id = $1 GROUP BY hour ORDER BY hour",
                sum("nanos"),
            ),
            params![id.to_string()],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.time()?, Usd::from_nanos(cells.get()?)))
            },
        )
    }

    /// Counts an agent's tool calls, ours and its own.
    pub fn agent_calls_count(&self, id: AgentId) -> Result<i64, StoreError> {
        self.number(
            "SELECT COALESCE(SUM(calls), 0) FROM tool_use WHERE agent_id = $1",
            params![id.to_string()],
        )
    }

    /// Counts the mails that an agent received and sent.
    pub fn agent_mail_count(&self, id: AgentId) -> Result<i64, StoreError> {
        let got = self.number(
            "SELECT COUNT(*) FROM mail WHERE recipient = $1",
            params![Recipient::Agent(id).stored()],
        )?;
        // One to itself is in its inbox already.
        let wrote = self.number(
            "SELECT COUNT(*) FROM mail WHERE from_agent_id = $1 AND recipient <> $2",
            params![id.to_string(), Recipient::Agent(id).stored()],
        )?;
        Ok(got + wrote)
    }
}
