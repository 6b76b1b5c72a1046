//! Follows the log of a home: a file that is a prefix of it is brought up to date, entry by entry.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};
use tokio_postgres::types::Type;

use crate::core::chain::Chain;
use crate::core::error::StoreError;
use crate::core::ledger::client::LedgerClient;
use crate::core::ledger::commit_log::agent_counts;
use crate::core::ledger::entry::LogEntry;
use crate::core::ledger::link::{Param, get};
use crate::core::ledger::owned::{EntryKind, NewEntry, OwnedHome};
use crate::core::ledger::replay::replay;
use crate::core::ledger::row_digest::TouchedRows;
use crate::core::migrate::{known_schema, migrate_to, refuse_newer, schema_of};
use crate::core::tx::{Tx, connect};

/// Wait for another connection to the file.
const LOCK_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
/// Entries that one statement reads at the most.
const MAX_ENTRIES_READ: i64 = 64;
/// Bytes after which a statement reads no further entry.
const MAX_BYTES_READ: i64 = 16 << 20;

// The sum over what comes before an entry: one entry is read, however long it is.
const READ_ENTRIES: &str = "SELECT seq, kind, body FROM (
        SELECT seq, kind, body,
            SUM(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS before
          FROM (SELECT seq, kind, body FROM adjutant.log WHERE home = $1 AND seq > $2
                ORDER BY seq LIMIT $3) AS next) AS summed
     WHERE before < $4 ORDER BY seq";

/// A file that follows the log of a home.
#[derive(Debug)]
pub struct Follower {
    file: Connection,
    touched: TouchedRows,
    home: String,
    seq: i64,
}

impl Follower {
    /// Opens a file that was restored from a snapshot.
    pub fn open(path: &Path, home: &str) -> Result<Self, StoreError> {
        let file = connect(path, LOCK_TIMEOUT)?;
        // A snapshot may be of a newer program, and its tables mean something else to this one.
        refuse_newer(&file)?;
        let position = position(&file)?;
        match position {
            Some((found, seq)) if found == home => {
                let touched = TouchedRows::of(&file)?;
                Ok(Self { file, touched, home: found, seq })
            }
            Some((found, _)) => {
                Err(StoreError::Corrupt(format!("it is a file of the home {found}, not of {home}")))
            }
            None => {
                Err(StoreError::Corrupt("it follows no log; restore it from a snapshot".to_owned()))
            }
        }
    }

    /// Number of the last entry that the file has.
    pub const fn seq(&self) -> i64 {
        self.seq
    }

    /// Replays every entry that the file does not have yet, and says how many there were.
    pub fn catch_up(&mut self, ledger: &mut LedgerClient) -> Result<u64, StoreError> {
        self.catch_up_to(ledger, i64::MAX)
    }

    /// The same, up to an entry.
    pub(crate) fn catch_up_to(
        &mut self,
        ledger: &mut LedgerClient,
        last: i64,
    ) -> Result<u64, StoreError> {
        let mut replayed = 0;
        while self.seq < last {
            let params: [Param<'_>; 4] = [
                (&self.home, Type::TEXT),
                (&self.seq, Type::INT8),
                (&MAX_ENTRIES_READ, Type::INT8),
                (&MAX_BYTES_READ, Type::INT8),
            ];
            let reply = ledger.ask(READ_ENTRIES, &params)?;
            if reply.rows.is_empty() {
                return Ok(replayed);
            }
            for row in &reply.rows {
                if self.seq == last {
                    break;
                }
                self.apply(get(row, 0)?, get(row, 1)?, get(row, 2)?)?;
                replayed += 1;
            }
        }
        Ok(replayed)
    }

    /// A value that all servers of the home know.
    pub fn home_value(&self, name: &str) -> Result<Option<String>, StoreError> {
        Tx::new(&self.file, Chain::default()).home_value(name)
    }

    /// Writes a copy of the file, for a snapshot, to one that must not exist yet.
    pub fn copy_to(&self, to: &Path) -> Result<(), StoreError> {
        crate::core::guard::make_private(to);
        self.file.execute("VACUUM INTO ?1", [to.to_string_lossy().as_ref()])?;
        Ok(())
    }

    pub(crate) const fn file(&self) -> &Connection {
        &self.file
    }

    pub(crate) fn into_file(self) -> Connection {
        self.file
    }

    fn apply(&mut self, seq: i64, kind: i16, body: &[u8]) -> Result<(), StoreError> {
        if seq != self.seq + 1 {
            let why = format!("the log goes on only with entry {seq}; restore a snapshot");
            return Err(StoreError::Diverged { seq: self.seq + 1, why });
        }
        // Dropped without a commit, it is rolled back.
        let transaction =
            rusqlite::Transaction::new(&mut self.file, TransactionBehavior::Immediate)?;
        match EntryKind::of(kind) {
            Some(EntryKind::Writes) => {
                replay(&transaction, &self.touched, seq, &LogEntry::decode(body)?)?;
            }
            Some(EntryKind::Migration) => migrate_watched(&transaction, migration_in(body)?)?,
            None => {
                return Err(StoreError::Corrupt(format!("entry {seq} is of the kind {kind}")));
            }
        }
        move_position(&transaction, seq)?;
        transaction.commit()?;
        self.seq = seq;
        Ok(())
    }
}

/// Opens the file of an owned home: replays what it lacks, checks that it stands where the log says, and migrates it
/// through the log. A home that cannot be opened is given up.
pub(crate) fn bring_up_to_date(
    path: &Path,
    mut home: OwnedHome,
) -> Result<(Connection, OwnedHome), StoreError> {
    match open_up_to_date(path, &mut home) {
        Ok(file) => Ok((file, home)),
        Err(error) => {
            if !matches!(error, StoreError::Fenced { .. } | StoreError::Away { .. })
                && let Err(error) = home.release()
            {
                tracing::warn!(%error, "failed to hand the home over");
            }
            Err(error)
        }
    }
}

fn open_up_to_date(path: &Path, home: &mut OwnedHome) -> Result<Connection, StoreError> {
    let mut follower = Follower::open(path, home.id())?;
    follower.catch_up(home.client())?;
    let (seq, mut file) = (follower.seq, follower.file);
    if seq != home.seq() {
        let why = format!("the log ends at {seq}, and the home is at {}", home.seq());
        return Err(StoreError::Diverged { seq, why });
    }
    expect_chain(&file, home)?;
    while schema_of(&file)? < known_schema() {
        let transaction = rusqlite::Transaction::new(&mut file, TransactionBehavior::Immediate)?;
        let next = schema_of(&transaction)? + 1;
        migrate_watched(&transaction, next)?;
        let chain = Chain::load(&transaction)?;
        let seq = home.append(&NewEntry {
            kind: EntryKind::Migration,
            body: &migration_body(next),
            audit: chain.audit,
            head: &String::from_utf8_lossy(&chain.hash),
            event: chain.last_event(),
            agents: agent_counts(&transaction)?,
        })?;
        move_position(&transaction, seq)?;
        transaction.commit()?;
    }
    // What a power cut takes is replayed: the log has it.
    file.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(file)
}

/// Brings a file whose touched rows are counted to the next schema.
fn migrate_watched(file: &Connection, schema: i64) -> Result<(), StoreError> {
    TouchedRows::unwatch(file)?;
    migrate_to(file, schema)?;
    TouchedRows::watch_tables(file)
}

/// Checks that the chain and the events of a file stand where the home's row says.
fn expect_chain(file: &Connection, home: &mut OwnedHome) -> Result<(), StoreError> {
    let (id, seq) = (home.id().to_owned(), home.seq());
    let read = "SELECT audit, head, event FROM adjutant.home WHERE id = $1";
    let reply = home.client().ask(read, &[(&id, Type::TEXT)])?;
    let Some(row) = reply.rows.first() else {
        return Err(StoreError::Unfit { why: format!("it has no home {id} any more") });
    };
    let (audit, head, event): (i64, &str, i64) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
    let chain = Chain::load(file)?;
    if (chain.audit, chain.hash.as_slice(), chain.last_event()) == (audit, head.as_bytes(), event) {
        return Ok(());
    }
    let why = format!(
        "the file is at audit row {} and event {}, the home at {audit} and {event}, or the hashes differ",
        chain.audit,
        chain.last_event()
    );
    Err(StoreError::Diverged { seq, why })
}

/// The body of an entry that migrates the state to a schema.
fn migration_body(schema: i64) -> Vec<u8> {
    schema.to_string().into_bytes()
}

fn migration_in(body: &[u8]) -> Result<i64, StoreError> {
    let text = std::str::from_utf8(body).unwrap_or_default();
    text.parse().map_err(|_| StoreError::Corrupt(format!("there is no schema `{text}`")))
}

/// The home whose log a file follows, and the last entry that it has; a file of one machine follows none.
pub(crate) fn position(file: &Connection) -> Result<Option<(String, i64)>, StoreError> {
    let is_there = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'log_position'";
    if file.query_row(is_there, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(None);
    }
    let read = "SELECT home, seq FROM log_position";
    Ok(file.query_row(read, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Notes in a file that it has an entry. In the transaction of that entry, so that the two never differ.
pub(crate) fn move_position(file: &Connection, seq: i64) -> Result<(), StoreError> {
    file.prepare_cached("UPDATE log_position SET seq = ?1")?.execute([seq])?;
    Ok(())
}

/// Makes a file of a home one of a single machine again.
pub(crate) fn remove_position(file: &Connection) -> Result<(), StoreError> {
    Ok(file.execute_batch("DROP TABLE log_position")?)
}

/// Makes a file one of a home. Only such files have the table: it is no part of the state.
pub(crate) fn set_position(file: &Connection, home: &str, seq: i64) -> Result<(), StoreError> {
    file.execute_batch(
        "CREATE TABLE IF NOT EXISTS log_position (
            id   INTEGER PRIMARY KEY CHECK (id = 1),
            home TEXT NOT NULL,
            seq  INTEGER NOT NULL
        )",
    )?;
    file.execute(
        "INSERT INTO log_position (id, home, seq) VALUES (1, ?1, ?2)
         ON CONFLICT (id) DO UPDATE SET home = excluded.home, seq = excluded.seq",
        rusqlite::params![home, seq],
    )?;
    Ok(())
}
