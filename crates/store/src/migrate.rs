//! Schemas: plain SQL, append-only, applied under a lock.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;

/// Every migration, in order. What was released is never changed; what comes is added.
const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_begin.sql")];

/// The newest schema that this Adjutant knows.
#[expect(clippy::cast_possible_wrap, reason = "there are never so many migrations")]
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// Brings the database to the newest schema, or refuses one that is newer still.
pub(crate) fn migrate(connection: &Connection) -> Result<(), StoreError> {
    // The write lock comes first, so that of two processes one migrates and one finds it done.
    let lock = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let found: i64 = lock.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > SCHEMA_VERSION {
        return Err(StoreError::Newer { found, known: SCHEMA_VERSION });
    }
    for (version, sql) in (1_i64..).zip(MIGRATIONS) {
        if version > found {
            lock.execute_batch(sql)?;
            lock.pragma_update(None, "user_version", version)?;
        }
    }
    lock.commit()?;
    Ok(())
}
