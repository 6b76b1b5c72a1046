//! Commits that the record names and no branch reaches any more, as a person has accepted.

use std::collections::HashSet;

use model::Timestamp;
use rusqlite::params;

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

impl Tx<'_> {
    /// Notes that a commit is gone and that this is as it should be.
    pub fn lost_commit_settle(&mut self, hash: &str, now: Timestamp) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO lost_commit (hash, settled_at) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            params![hash, now.as_millis()],
        )?;
        Ok(())
    }

    /// Commits whose loss was accepted.
    pub fn lost_commits(&self) -> Result<HashSet<String>, StoreError> {
        let hashes =
            self.all("SELECT hash FROM lost_commit", [], |row| RowReader::of(row).get::<String>())?;
        Ok(hashes.into_iter().collect())
    }
}
