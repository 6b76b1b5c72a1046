//! The office: supervisors of epics, and epics without one.

use rusqlite::params;

use crate::core::error::StoreError;
use crate::core::page::Page;
use crate::core::tx::Tx;
use crate::crew::agent::{self, Agent};
use crate::tasks::epic::{self, Epic};

impl Tx<'_> {
    /// Lists the supervisors that have not ended, oldest first.
    pub fn supervisor_page(&self, after: i64, limit: u32) -> Result<Page<Agent>, StoreError> {
        let rows = self.all(
            &format!(
                "SELECT {} FROM agent
                 WHERE category = 'supervisor' AND ended_at IS NULL AND number > $1
                 ORDER BY number LIMIT $2",
                agent::COLUMNS
            ),
            params![after, i64::from(limit) + 1],
            agent::read,
        )?;
        Ok(Page::cut(rows, limit, |agent| agent.number))
    }

    /// The orchestrator that has been there longest and has not ended.
    pub fn orchestrator_live(&self) -> Result<Option<Agent>, StoreError> {
        self.one(
            &format!(
                "SELECT {} FROM agent WHERE category = 'orchestrator' AND ended_at IS NULL
                 ORDER BY number LIMIT 1",
                agent::COLUMNS
            ),
            [],
            agent::read,
        )
    }

    /// Lists the epics that are neither done nor given up and that nobody leads, oldest first.
    pub fn epic_page_unled(&self, after: i64, limit: u32) -> Result<Page<Epic>, StoreError> {
        let rows = self.all(
            &format!(
                "SELECT {} FROM epic
                 WHERE number > $1 AND state NOT IN ('COMPLETED', 'CANCELLED') AND NOT EXISTS (
                    SELECT 1 FROM agent AS a
                    WHERE a.epic_id = epic.id AND a.category = 'supervisor' AND a.ended_at IS NULL)
                 ORDER BY number LIMIT $2",
                epic::COLUMNS
            ),
            params![after, i64::from(limit) + 1],
            epic::read,
        )?;
        Ok(Page::cut(rows, limit, |epic| epic.number))
    }
}
