//! Numbers of rows on record.

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// Numbers of rows on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordTotals {
    /// Tasks
    pub tasks: u64,
    /// Agents, live and ended
    pub agents: u64,
    /// Messages
    pub mails: u64,
    /// Calls in the audit chain that are not in archives
    pub calls: u64,
}

impl Tx<'_> {
    /// Counts what is on record. Calls are counted from the first to the last, which have no gaps.
    pub fn record_totals(&self) -> Result<RecordTotals, StoreError> {
        let totals = self.one(
            "SELECT (SELECT COUNT(*) FROM task), (SELECT COUNT(*) FROM agent), (SELECT COUNT(*) FROM mail),
                (SELECT COALESCE(MAX(number), 0) FROM audit) - (SELECT COALESCE(MIN(number), 1) FROM audit) + 1",
            [],
            |row| {
                let mut cells = RowReader::of(row);
                Ok(RecordTotals {
                    tasks: cells.large()?,
                    agents: cells.large()?,
                    mails: cells.large()?,
                    calls: cells.large()?,
                })
            },
        )?;
        Ok(totals.unwrap_or(RecordTotals { tasks: 0, agents: 0, mails: 0, calls: 0 }))
    }
}
