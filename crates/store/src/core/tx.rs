//! A transaction, over which operations are written. Reading needs `&Tx`, writing `&mut Tx`.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{
    CachedStatement, Connection, ErrorCode, OptionalExtension as _, Params, Row, ToSql,
};

use crate::core::chain::Chain;
use crate::core::error::StoreError;
use crate::core::ledger::write_log::WriteLog;
use crate::core::tool_use_counts::ToolUseCounts;

/// One transaction on the record.
#[derive(Debug)]
pub struct Tx<'a> {
    pub(crate) connection: &'a Connection,
    /// Where the audit chain and the sequence of events stand; kept back if the operation fails.
    pub(crate) chain: Chain,
    /// Tool use counted by the operation; kept only if it succeeds.
    pub(crate) uses: ToolUseCounts,
    /// Notes of what was written, where it is replayed; kept only if the operation succeeds.
    log: Option<&'a mut WriteLog>,
}

impl<'a> Tx<'a> {
    /// A transaction that only reads, or whose writes nobody replays.
    pub(crate) const fn new(connection: &'a Connection, chain: Chain) -> Self {
        Self::recording(connection, chain, None)
    }

    /// A transaction whose writes are noted, if there is a log.
    pub(crate) const fn recording(
        connection: &'a Connection,
        chain: Chain,
        log: Option<&'a mut WriteLog>,
    ) -> Self {
        Self { connection, chain, uses: ToolUseCounts::new(), log }
    }

    /// Prepares a statement that reads.
    pub(crate) fn statement(&self, sql: &str) -> Result<CachedStatement<'a>, StoreError> {
        let statement = prepare(self.connection, sql)?;
        debug_assert!(statement.readonly(), "it writes, and nobody would note it: {sql}");
        Ok(statement)
    }

    /// Runs a statement and says how many rows it changed.
    pub(crate) fn execute(
        &mut self,
        sql: &str,
        values: &[&dyn ToSql],
    ) -> Result<usize, StoreError> {
        let changed = prepare(self.connection, sql)?.execute(values)?;
        if let Some(log) = &mut self.log {
            log.note(sql, values, changed as u64)?;
        }
        Ok(changed)
    }

    /// Runs a statement that writes at most one row and returns it.
    pub(crate) fn execute_returning<T>(
        &mut self,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = prepare(self.connection, sql)?;
        let found = statement.query_row(values, |row| Ok(read(row))).optional()?;
        if let Some(log) = &mut self.log {
            // SQLite makes all changes before it returns the first row, and counts them when the statement is reset.
            log.note(sql, values, self.connection.changes())?;
        }
        found.transpose()
    }

    /// Reads the one row there is at the most.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self.statement(sql)?;
        let found = statement.query_row(params, |row| Ok(read(row))).optional()?;
        found.transpose()
    }

    /// Reads all rows.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query(params)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// Reads a number, such as a count.
    pub(crate) fn number(&self, sql: &str, params: impl Params) -> Result<i64, StoreError> {
        Ok(self.statement(sql)?.query_row(params, |row| row.get(0))?)
    }
}

/// Prepares a statement, or takes it from the cache.
pub(crate) fn prepare<'c>(
    connection: &'c Connection,
    sql: &str,
) -> Result<CachedStatement<'c>, StoreError> {
    // PostgreSQL numbers its parameters `$1`; to SQLite that is a name, and `?1` the number.
    Ok(connection.prepare_cached(&sql.replace('$', "?"))?)
}

/// Opens a connection with the settings that every one of ours has.
pub(crate) fn connect(path: &Path, patience: Duration) -> Result<Connection, StoreError> {
    let open = || -> Result<Connection, rusqlite::Error> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(patience)?;
        connection.set_prepared_statement_cache_capacity(256);
        // Plans do not depend on the values bound to them: otherwise SQLite prepares a statement
        // anew whenever a bound value changes, which costs more than running it.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        write_ahead(&connection)?;
        // An answered call survives a power cut, not only a crash.
        connection.pragma_update(None, "synchronous", "FULL")?;
        // Moving pages from the log into the database pays off in larger portions.
        connection.pragma_update(None, "wal_autocheckpoint", crate::core::wal::CHECKPOINT_PAGES)?;
        // A log that grew beside a long reader shrinks to this size once it starts again.
        connection.pragma_update(None, "journal_size_limit", crate::core::wal::KEPT_WAL_BYTES)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        // What is deleted may have been a secret: its bytes go, too.
        connection.pragma_update(None, "secure_delete", "ON")?;
        Ok(connection)
    };
    open().map_err(|source| StoreError::Open { path: path.display().to_string(), source })
}

/// Switches to the write-ahead log. Of several that open a new database at once one does it, and SQLite
/// sends the others away instead of letting them wait.
fn write_ahead(connection: &Connection) -> Result<(), rusqlite::Error> {
    const MAX_WAL_ATTEMPTS: u32 = 500;
    for _ in 1..MAX_WAL_ATTEMPTS {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                std::thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
    connection.pragma_update(None, "journal_mode", "WAL")
}
