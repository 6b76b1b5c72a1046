//! Connections that only look: as many as look at the same time.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use crate::core::chain::Chain;
use crate::core::error::StoreError;
use crate::core::tx::{Tx, connect};

/// Idle connections are kept; more than this would only hold memory.
const MAX_IDLE_CONNECTIONS: usize = 4;

#[derive(Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    patience: Duration,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(crate) fn new(path: &Path, patience: Duration) -> Self {
        Self { path: path.to_owned(), patience, idle: Mutex::new(Vec::new()) }
    }

    pub(crate) fn read<T, E: From<StoreError>>(
        &self,
        op: impl FnOnce(&Tx<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.open()?,
        };
        let answer = look(&connection, op);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE_CONNECTIONS {
            idle.push(connection);
        }
        drop(idle);
        answer
    }

    /// Writes a compact copy of the database into a new file.
    pub(crate) fn snapshot(&self, to: &Path) -> Result<(), StoreError> {
        self.copy(to)?;
        // A copy lies about for longer than an exact text may be kept.
        let copy = Connection::open(to)?;
        copy.pragma_update(None, "secure_delete", "ON")?;
        copy.execute("DELETE FROM exact_text", [])?;
        Ok(())
    }

    /// Writes a compact copy of the whole database into a new file.
    pub(crate) fn copy(&self, to: &Path) -> Result<(), StoreError> {
        let connection = connect(&self.path, self.patience)?;
        connection.execute("VACUUM INTO ?1", [to.to_string_lossy().as_ref()])?;
        Ok(())
    }

    fn open(&self) -> Result<Connection, StoreError> {
        let connection = connect(&self.path, self.patience)?;
        // A slip in an operation that should only look is refused by the database itself.
        connection.pragma_update(None, "query_only", "ON")?;
        Ok(connection)
    }
}

/// Runs the operation on one snapshot, so that its queries see the same moment.
fn look<T, E: From<StoreError>>(
    connection: &Connection,
    op: impl FnOnce(&Tx<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let begin = || connection.prepare_cached("BEGIN DEFERRED")?.execute([]);
    begin().map_err(StoreError::from)?;
    let answer = op(&Tx::new(connection, Chain::default()));
    let end = || connection.prepare_cached("COMMIT")?.execute([]);
    end().map_err(StoreError::from)?;
    answer
}
