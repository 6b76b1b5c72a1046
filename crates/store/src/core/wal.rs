//! Bounds the write-ahead log.
//!
//! SQLite's own checkpoints never wait, so that readers who overlap keep the log from starting again
//! and it grows for as long as they come. Beyond a size the writer therefore waits a moment for
//! them: while it holds the write lock nothing is appended, and one that begins to read needs no more of
//! the log than there is, and each reader that ends brings the checkpoint closer to its end.
//!
//! The size is what SQLite says of it after each commit. To ask the file would cost the next commit: a file whose times
//! were read gets exact ones with its next write, and these have to reach the disk as well.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rusqlite::Connection;

/// Size to which the log is cut when it starts again.
pub(crate) const KEPT_WAL_BYTES: i64 = 32 << 20;
/// Pages in the log after which they are moved into the database; larger portions pay off.
pub(crate) const CHECKPOINT_PAGES: i32 = 4_000;
/// Pages in the log beyond which the writer waits for readers: 32 MB.
const MAX_PAGES: i32 = 8_000;
/// Pages after which a checkpoint that did not finish is tried again.
const RETRY_PAGES: i32 = 1_000;
/// Longest wait for readers, during which nobody can write.
const READER_WAIT: Duration = Duration::from_millis(500);

/// Watches the size of the log, and keeps it small.
#[derive(Debug)]
pub(crate) struct WalBound {
    /// Pages in the log after the last commit
    pages: Arc<AtomicI32>,
    /// Size at which the next checkpoint is due
    due: i32,
}

impl WalBound {
    /// Watches the log of that connection's database, and takes over its checkpoints.
    pub(crate) fn of(connection: &mut Connection) -> Result<Self, rusqlite::Error> {
        let pages = Arc::new(AtomicI32::new(0));
        let seen = Arc::clone(&pages);
        connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
            seen.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self { pages, due: CHECKPOINT_PAGES })
    }

    /// Moves the log into the database where it has become long.
    pub(crate) fn after_commit(&mut self, connection: &Connection) {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < CHECKPOINT_PAGES {
            self.due = CHECKPOINT_PAGES;
        }
        if pages < self.due {
            return;
        }
        // One that a reader kept from its end is tried again after this.
        self.due = pages.saturating_add(RETRY_PAGES);
        let moved = if pages < MAX_PAGES {
            checkpoint(connection, "PRAGMA wal_checkpoint(PASSIVE)")
        } else {
            restart(connection)
        };
        if let Err(error) = moved {
            tracing::warn!(%error, pages, "checkpoint of the write-ahead log failed; will retry");
        }
    }
}

/// Moves the whole log into the database, so that it starts again, unless a reader takes too long.
fn restart(connection: &Connection) -> Result<(), rusqlite::Error> {
    let patience: i64 = connection.query_row("PRAGMA busy_timeout", [], |row| row.get(0))?;
    connection.busy_timeout(READER_WAIT)?;
    let moved = checkpoint(connection, "PRAGMA wal_checkpoint(RESTART)");
    connection.busy_timeout(Duration::from_millis(u64::try_from(patience).unwrap_or_default()))?;
    moved
}

fn checkpoint(connection: &Connection, sql: &str) -> Result<(), rusqlite::Error> {
    connection.query_row(sql, [], |_| Ok(()))
}
