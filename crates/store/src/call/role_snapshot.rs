//! The last version of each role that could be read.

use model::Timestamp;
use rusqlite::params;

use crate::core::error::StoreError;
use crate::core::tx::Tx;

/// The last readable version of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleSnapshot {
    /// Name of the role
    pub name: String,
    /// The role as JSON
    pub body: String,
}

/// The live agents of one role and kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveRole {
    /// Name of the role
    pub role: String,
    /// Kind of the agents
    pub kind: String,
    /// Number of agents
    pub agents: i64,
}

impl Tx<'_> {
    /// Every recorded role, by name.
    pub fn role_snapshots(&self) -> Result<Vec<RoleSnapshot>, StoreError> {
        self.all("SELECT name, body FROM role_snapshot ORDER BY name", [], |row| {
            let mut cells = crate::core::row::RowReader::of(row);
            Ok(RoleSnapshot { name: cells.get()?, body: cells.get()? })
        })
    }

    /// Records a role as it was read. An unchanged one is left alone.
    pub fn role_snapshot_put(
        &mut self,
        snapshot: &RoleSnapshot,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO role_snapshot (name, body, updated_at) VALUES ($1, $2, $3)
             ON CONFLICT (name) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at
             WHERE role_snapshot.body <> excluded.body",
            params![snapshot.name, snapshot.body, now.as_millis()],
        )?;
        Ok(())
    }

    /// Deletes the record of a role.
    pub fn role_snapshot_delete(&mut self, name: &str) -> Result<(), StoreError> {
        self.execute("DELETE FROM role_snapshot WHERE name = $1", params![name])?;
        Ok(())
    }

    /// Counts live agents per role and kind.
    pub fn agents_live_by_role(&self) -> Result<Vec<LiveRole>, StoreError> {
        self.all(
            "SELECT role, kind, COUNT(*) FROM agent WHERE ended_at IS NULL
             GROUP BY role, kind ORDER BY role, kind",
            [],
            |row| {
                let mut cells = crate::core::row::RowReader::of(row);
                Ok(LiveRole { role: cells.get()?, kind: cells.get()?, agents: cells.get()? })
            },
        )
    }
}
