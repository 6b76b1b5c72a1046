//! Bounds the write-ahead log.
//!
//! SQLite's own checkpoints never wait, so that readers who overlap keep the log from starting again
//! and it grows for as long as they come. Beyond a size the writer therefore waits a moment for
//! them: while it holds the write lock nothing is appended, whoever begins to read needs no more of
//! the log than there is, and each reader that ends brings the checkpoint closer to its end.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Connection;

/// Size to which the log is cut when it starts again.
pub(crate) const KEPT_WAL_BYTES: i64 = 16 << 20;
/// Size of the log beyond which the writer waits for readers.
const MAX_WAL_BYTES: u64 = 32 << 20;
/// Growth of the log after which a checkpoint that did not finish is tried again.
const RETRY_GROWTH: u64 = 8 << 20;
/// Longest wait for readers, during which nobody can write.
const READER_WAIT: Duration = Duration::from_millis(500);

/// Watches the size of the log.
#[derive(Debug)]
pub(crate) struct WalBound {
    file: Option<PathBuf>,
    /// Size at which the next checkpoint is due
    due: u64,
}

impl WalBound {
    /// Watches the log of that connection's database.
    pub(crate) fn of(connection: &Connection) -> Self {
        let file = connection.path().filter(|path| !path.is_empty());
        Self { file: file.map(|path| PathBuf::from(format!("{path}-wal"))), due: MAX_WAL_BYTES }
    }

    /// Empties the log where it has become too long.
    pub(crate) fn after_commit(&mut self, connection: &Connection) {
        let Some(file) = &self.file else { return };
        let length = std::fs::metadata(file).map_or(0, |meta| meta.len());
        if length < self.due {
            return;
        }
        let emptied = truncate(connection).unwrap_or_else(|error| {
            tracing::warn!(%error, length, "checkpoint of the write-ahead log failed; will retry");
            false
        });
        self.due = if emptied { MAX_WAL_BYTES } else { length.saturating_add(RETRY_GROWTH) };
    }
}

/// Moves the whole log into the database and empties it; false where a reader took too long.
fn truncate(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let patience: i64 = connection.query_row("PRAGMA busy_timeout", [], |row| row.get(0))?;
    connection.busy_timeout(READER_WAIT)?;
    let busy = connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        .map(|busy| busy != 0);
    connection.busy_timeout(Duration::from_millis(u64::try_from(patience).unwrap_or_default()))?;
    Ok(!busy?)
}
