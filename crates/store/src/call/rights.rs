//! What agents may do: the versions of the rights that were in force.

use model::Timestamp;
use rusqlite::params;

use crate::core::error::StoreError;
use crate::core::tx::Tx;

/// Rights that were in force, and perhaps still are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RightsSnapshot {
    /// Its place among them; an agent is bound by those from its own number on
    pub number: i64,
    /// The rights as JSON
    pub body: String,
}

impl Tx<'_> {
    /// Recorded rights, the oldest first.
    pub fn rights_snapshots(&self) -> Result<Vec<RightsSnapshot>, StoreError> {
        self.all("SELECT number, body FROM rights ORDER BY number", [], |row| {
            let mut cells = crate::core::row::RowReader::of(row);
            Ok(RightsSnapshot { number: cells.get()?, body: cells.get()? })
        })
    }

    /// Records rights that come into force. Of equal ones only the last stay: an agent bound by earlier ones is bound by
    /// later ones too.
    pub fn rights_put(&mut self, body: &str, now: Timestamp) -> Result<(), StoreError> {
        let last = self.rights_last()?;
        let newest =
            self.one("SELECT body FROM rights WHERE number = $1", params![last], |row| {
                Ok(row.get::<_, String>(0)?)
            })?;
        if newest.as_deref() == Some(body) {
            return Ok(());
        }
        self.execute("DELETE FROM rights WHERE body = $1", params![body])?;
        self.execute(
            "INSERT INTO rights (number, body, recorded_at) VALUES ($1, $2, $3)",
            params![last + 1, body, now.as_millis()],
        )?;
        Ok(())
    }

    /// Deletes rights that bind no live agent. The last ones stay.
    pub fn rights_prune(&mut self) -> Result<(), StoreError> {
        let last = self.rights_last()?;
        self.execute(
            "DELETE FROM rights WHERE number < $1
             AND number < COALESCE((SELECT MIN(rights) FROM agent WHERE ended_at IS NULL), $1)",
            params![last],
        )?;
        Ok(())
    }

    /// Number of the rights in force; 0 before any were recorded.
    pub(crate) fn rights_last(&self) -> Result<i64, StoreError> {
        self.number("SELECT COALESCE(MAX(number), 0) FROM rights", [])
    }
}
