//! The record as a file: opened for an engine, checked, and its exports verified.

use std::path::Path;

use store::{Store, StoreError};

/// The record, open. Cheap to clone; all clones are the same one.
#[derive(Debug, Clone)]
pub struct Record(Store);

/// Error of the record.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct RecordError(#[from] pub(crate) StoreError);

impl RecordError {
    /// True if PostgreSQL gave no answer, and may give one later.
    pub fn is_away(&self) -> bool {
        matches!(self.0, StoreError::Away { .. })
    }
}

impl Record {
    /// Opens the database and makes it current. Every write is refused once it, or one of these other files, is no
    /// longer the file that it was.
    pub fn open_guarded(path: &Path, others: &[&Path]) -> Result<Self, RecordError> {
        Ok(Self(Store::open_guarded(path, others)?))
    }

    /// True if agents that Adjutant runs have not ended.
    pub fn has_running_agents(&self) -> Result<bool, RecordError> {
        let running = self.0.read(|tx| Ok::<_, StoreError>(!tx.agents_run()?.is_empty()))?;
        Ok(running)
    }

    /// Checks that the database and the files it was opened with are still the same files. Cheap.
    pub fn check_files(&self) -> Result<(), RecordError> {
        Ok(self.0.check_files()?)
    }

    /// Ends the writer after everything that waits is on disk.
    pub async fn close(&self) {
        self.0.close().await;
    }

    pub(crate) const fn store(&self) -> &Store {
        &self.0
    }

    pub(crate) fn into_store(self) -> Store {
        self.0
    }
}

impl From<Store> for Record {
    fn from(store: Store) -> Self {
        Self(store)
    }
}

/// Version of the schema that this program writes.
pub const SCHEMA_VERSION: i64 = store::SCHEMA_VERSION;

/// Makes this process a newer program: it knows these migrations as well. For tests of an upgrade.
#[cfg(debug_assertions)]
pub fn rehearse_migrations(migrations: Vec<String>) {
    store::rehearse_migrations(migrations);
}

/// Version of a database's schema, read without changing anything.
pub fn schema_version(path: &Path) -> Result<i64, RecordError> {
    Ok(store::schema_version(path)?)
}

/// Checks that a file is a whole database that this program can open.
pub fn check_database(path: &Path) -> Result<(), RecordError> {
    Ok(store::check_database(path)?)
}

/// Outcome of verifying rows of the chain of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainVerdict {
    /// Number of rows verified, from the first
    pub rows: i64,
    /// Hash of the last good row
    pub head: String,
    /// The first bad row and what is wrong with it
    pub broken: Option<(i64, String)>,
    /// Number of the last row that is in an archive and was not checked; 0 where none is
    pub archived: i64,
}

/// Verifies exported rows, pairs of body and hash, that follow row number `row` with the hash `hash`.
pub fn verify_exported<'a>(
    row: i64,
    hash: &str,
    rows: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> ChainVerdict {
    let store::ChainVerification { rows, head, broken, archived } =
        store::verify_archived(row, hash, rows);
    ChainVerdict { rows, head, broken, archived }
}
