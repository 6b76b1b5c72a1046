//! Schemas: plain SQL, append-only, applied under a lock.

use std::path::Path;
use std::sync::OnceLock;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::core::error::StoreError;

/// Every migration, in order. What was released is never changed; what comes is added.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_begin.sql"),
    include_str!("../../migrations/0002_run.sql"),
    include_str!("../../migrations/0003_review.sql"),
    include_str!("../../migrations/0004_page.sql"),
    include_str!("../../migrations/0005_webhook.sql"),
    include_str!("../../migrations/0006_loop.sql"),
    include_str!("../../migrations/0007_plan.sql"),
    include_str!("../../migrations/0008_slack.sql"),
    include_str!("../../migrations/0009_money.sql"),
    include_str!("../../migrations/0010_retention.sql"),
    include_str!("../../migrations/0011_exact_text.sql"),
    include_str!("../../migrations/0012_last_good.sql"),
    include_str!("../../migrations/0013_squash.sql"),
    include_str!("../../migrations/0014_slack_order.sql"),
    include_str!("../../migrations/0015_lost_commit.sql"),
    include_str!("../../migrations/0016_task_board.sql"),
    include_str!("../../migrations/0017_rights.sql"),
    include_str!("../../migrations/0018_pattern.sql"),
    include_str!("../../migrations/0019_home_file.sql"),
    include_str!("../../migrations/0020_check_environment.sql"),
];

/// The newest schema that this Adjutant knows.
#[expect(clippy::cast_possible_wrap, reason = "there are never so many migrations")]
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// Migrations after the newest, as the next program would have them.
static REHEARSED: OnceLock<Vec<String>> = OnceLock::new();

/// Makes this process a newer program: it knows these migrations as well. For tests of an upgrade; debug builds only.
/// Without effect once it was done.
#[cfg(debug_assertions)]
pub fn rehearse_migrations(migrations: Vec<String>) {
    // The first call decides what this program knows.
    drop(REHEARSED.set(migrations));
}

/// Every migration that this program knows, with its number.
fn known_migrations() -> impl Iterator<Item = (i64, &'static str)> {
    let rehearsed = REHEARSED.get().map_or(&[][..], Vec::as_slice);
    (1..).zip(MIGRATIONS.iter().copied().chain(rehearsed.iter().map(String::as_str)))
}

/// The newest schema that this program knows, with what is rehearsed.
pub(crate) fn known_schema() -> i64 {
    known_migrations().map(|(version, _)| version).last().unwrap_or(SCHEMA_VERSION)
}

/// Refuses an open database that a newer program has migrated.
pub(crate) fn refuse_newer(connection: &Connection) -> Result<(), StoreError> {
    let (found, known) = (schema_of(connection)?, known_schema());
    if found > known { Err(StoreError::Newer { found, known }) } else { Ok(()) }
}

/// The schema of a database file, which is left as it is.
pub fn schema_version(path: &Path) -> Result<i64, StoreError> {
    let open = || -> Result<i64, rusqlite::Error> {
        // The log beside the file may be newer than the file, so only SQLite itself can tell.
        let file = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        file.query_row("PRAGMA user_version", [], |row| row.get(0))
    };
    open().map_err(|source| StoreError::Open { path: path.display().to_string(), source })
}

/// Checks that a database file is whole and of a schema that this Adjutant knows. It must be in use by
/// nobody.
pub fn check_database(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Open { path: path.display().to_string(), source };
    let open = || Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE);
    let file = open().map_err(failed)?;
    let found: i64 = file.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
    if found > known_schema() {
        return Err(StoreError::Newer { found, known: known_schema() });
    }
    let message: String =
        file.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(failed)?;
    let tables = "SELECT COUNT(*) FROM sqlite_master WHERE name IN ('agent', 'audit', 'event')";
    let tables: i64 = file.query_row(tables, [], |row| row.get(0)).map_err(failed)?;
    match (message.as_str(), tables) {
        ("ok", 3) => Ok(()),
        ("ok", _) => Err(StoreError::Corrupt("it is not a database of Adjutant".to_owned())),
        _ => Err(StoreError::Corrupt(message)),
    }
}

/// The schema of an open database.
pub(crate) fn schema_of(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Brings the database to the next schema, in a transaction of the caller's.
pub(crate) fn migrate_to(connection: &Connection, schema: i64) -> Result<(), StoreError> {
    let found = schema_of(connection)?;
    if schema > known_schema() {
        return Err(StoreError::Newer { found: schema, known: known_schema() });
    }
    match known_migrations().find(|(version, _)| *version == schema) {
        Some((version, sql)) if version == found + 1 => {
            connection.execute_batch(sql)?;
            Ok(connection.pragma_update(None, "user_version", version)?)
        }
        _ => Err(StoreError::Corrupt(format!("schema {schema} does not follow schema {found}"))),
    }
}

/// Brings the database to the newest schema, or refuses one that is newer still.
pub(crate) fn migrate(connection: &Connection) -> Result<(), StoreError> {
    // The write lock comes first, so that of two processes one migrates and one finds it done.
    let lock = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    refuse_newer(&lock)?;
    let found = schema_of(&lock)?;
    for (version, sql) in known_migrations() {
        if version > found {
            lock.execute_batch(sql)?;
            lock.pragma_update(None, "user_version", version)?;
        }
    }
    lock.commit()?;
    Ok(())
}
