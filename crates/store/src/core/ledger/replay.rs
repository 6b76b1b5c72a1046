//! Replays log entries into another database, which then has the same state.

use rusqlite::Connection;
use rusqlite::types::ToSqlOutput;

use crate::core::chain::Chain;
use crate::core::error::StoreError;
use crate::core::ledger::entry::{LogEntry, LoggedWrite};
use crate::core::ledger::row_digest::{RowDigest, TouchedRows};
use crate::core::tx::prepare;

/// Runs the writes of an entry, in a transaction of the caller's. An entry that does not do what it did where it was
/// written is an error: the database differs from the log, and is of no more use. `touched` is what the connection
/// touches.
pub(crate) fn replay(
    connection: &Connection,
    touched: &TouchedRows,
    seq: i64,
    entry: &LogEntry<'_>,
) -> Result<(), StoreError> {
    let diverged = |why| StoreError::Diverged { seq, why };
    touched.set(RowDigest::default());
    for write in &entry.writes {
        let changed = match run(connection, write) {
            Ok(changed) => changed,
            // What was accepted once is accepted again, unless the rows differ.
            Err(StoreError::Duplicate(error)) => {
                return Err(diverged(format!("`{}` failed: {error}", write.sql)));
            }
            Err(error) => return Err(error),
        };
        if changed != write.changed {
            return Err(diverged(format!(
                "`{}` changed {changed} rows instead of {}",
                write.sql, write.changed
            )));
        }
    }
    if entry.digest.is_some_and(|digest| digest != touched.digest()) {
        let why = "a row that it touches has other values than it had where the entry was written";
        return Err(diverged(why.to_owned()));
    }
    let chain = Chain::load(connection)?;
    // Where everything was removed, the database cannot say where the chain stands.
    if chain.audit != entry.audit || chain.hash.as_slice() != entry.head {
        return Err(diverged(format!(
            "the audit chain is at row {} instead of {}, or has another hash",
            chain.audit, entry.audit
        )));
    }
    if chain.last_event() != entry.event {
        return Err(diverged(format!(
            "the last event is {} instead of {}",
            chain.last_event(),
            entry.event
        )));
    }
    Ok(())
}

/// Runs one write and says how many rows it changed.
fn run(connection: &Connection, write: &LoggedWrite<'_>) -> Result<u64, StoreError> {
    let mut statement = prepare(connection, write.sql)?;
    let values = write.values.iter().map(|value| ToSqlOutput::Borrowed(*value));
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    // Those that return rows have changed all of theirs at the end.
    while rows.next()?.is_some() {}
    drop(rows);
    Ok(connection.changes())
}
