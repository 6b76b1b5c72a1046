//! Homes as a whole: exported to a file, checked against their log, and the time for their next snapshot.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use tokio_postgres::types::Type;

use crate::core::error::StoreError;
use crate::core::ledger::client::{LedgerClient, LedgerHome};
use crate::core::ledger::compare::first_difference;
use crate::core::ledger::follow::{Follower, position, remove_position};
use crate::core::ledger::link::get;
use crate::core::tx::Tx;

/// Length of the log after which a snapshot is due.
const MAX_LOG_BYTES: i64 = 256 << 20;
/// Age of the newest snapshot after which another is due, if there is a log behind it.
const MAX_SNAPSHOT_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The part of a home's log that no snapshot has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogTail {
    /// Entries
    pub entries: i64,
    /// Bytes
    pub bytes: i64,
    /// Age of the newest snapshot
    pub snapshot_age: Duration,
}

impl LogTail {
    /// True if a snapshot should be made now.
    pub const fn needs_snapshot(&self) -> bool {
        self.bytes > MAX_LOG_BYTES
            || (self.entries > 0 && self.snapshot_age.as_secs() > MAX_SNAPSHOT_AGE.as_secs())
    }
}

/// Outcome of checking a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeCheck {
    /// The last commit that was checked
    pub seq: i64,
    /// Rows of the audit chain
    pub audit_rows: i64,
    /// Bytes of the snapshot that was restored
    pub snapshot_bytes: i64,
    /// The last commit of the local file that was compared, if one was
    pub compared: Option<i64>,
    /// Problem, if any
    pub problem: Option<String>,
}

/// Where PostgreSQL keeps a commit before it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standbys {
    /// Setting `synchronous_standby_names`: the standbys that a commit waits for; empty if it waits for none
    pub awaited: String,
    /// Standbys that are connected, as far as our role may see them
    pub connected: i64,
}

/// The last commit that a server's file has; none for a file of a single machine. Changes nothing.
pub fn file_commit(path: &Path) -> Result<Option<i64>, StoreError> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let file = Connection::open_with_flags(path, flags)?;
    Ok(position(&file)?.map(|(_, seq)| seq))
}

impl LedgerClient {
    /// Where this PostgreSQL keeps a commit before it is answered.
    pub fn standbys(&mut self) -> Result<Standbys, StoreError> {
        let read = "SELECT current_setting('synchronous_standby_names'),
            (SELECT COUNT(*) FROM pg_stat_replication)";
        let reply = self.ask(read, &[])?;
        match reply.rows.first() {
            Some(row) => Ok(Standbys { awaited: get(row, 0)?, connected: get(row, 1)? }),
            None => Ok(Standbys { awaited: String::new(), connected: 0 }),
        }
    }

    /// The part of a home's log that no snapshot has.
    pub fn log_tail(&mut self, home: &str) -> Result<LogTail, StoreError> {
        let read = "WITH newest AS (
                SELECT COALESCE(MAX(seq), 0) AS seq,
                    COALESCE(EXTRACT(EPOCH FROM clock_timestamp() - MAX(at)), 0)::BIGINT AS age
                  FROM adjutant.snapshot WHERE home = $1)
            SELECT COUNT(log.seq), COALESCE(SUM(octet_length(body)), 0)::BIGINT, newest.age
              FROM newest LEFT JOIN adjutant.log ON log.home = $1 AND log.seq > newest.seq
             GROUP BY newest.age";
        let reply = self.ask(read, &[(&home, Type::TEXT)])?;
        let Some(row) = reply.rows.first() else {
            return Ok(LogTail { entries: 0, bytes: 0, snapshot_age: Duration::ZERO });
        };
        let age: i64 = get(row, 2)?;
        Ok(LogTail {
            entries: get(row, 0)?,
            bytes: get(row, 1)?,
            snapshot_age: Duration::from_secs(age.max(0).unsigned_abs()),
        })
    }

    /// The home of that name, or an error that lists the names there are.
    pub fn find_home(&mut self, name: &str) -> Result<LedgerHome, StoreError> {
        if let Some(home) = self.home(name)? {
            return Ok(home);
        }
        let names: Vec<String> = self.homes()?.into_iter().map(|home| home.name).collect();
        let near = model::nearest::nearest(name, names.iter().map(String::as_str));
        let hint = match (near, names.is_empty()) {
            (Some(near), _) => format!("; did you mean `{near}`?"),
            (None, true) => "; it has none yet".to_owned(),
            (None, false) => format!("; it has {}", names.join(", ")),
        };
        Err(StoreError::Unfit { why: format!("it has no home `{name}`{hint}") })
    }

    /// Writes the newest state of a home to a file that must not exist yet, and that a server on one machine opens.
    /// Returns the last commit that it has.
    pub fn export(&mut self, home: &LedgerHome, to: &Path) -> Result<i64, StoreError> {
        self.restore(&home.id, to)?;
        let mut follower = Follower::open(to, &home.id)?;
        follower.catch_up(self)?;
        let seq = follower.seq();
        remove_position(&follower.into_file())?;
        Ok(seq)
    }

    /// Restores a home from its newest snapshot and its log, verifies its audit chain, and compares it with the local
    /// file of a server, where there is one. `scratch` is a file that must not exist yet and is removed.
    pub fn check(
        &mut self,
        home: &LedgerHome,
        scratch: &Path,
        local: Option<&Path>,
    ) -> Result<HomeCheck, StoreError> {
        let snapshot_bytes = self.restore(&home.id, scratch)?.bytes;
        let mut follower = Follower::open(scratch, &home.id)?;
        let local = local.map(Connection::open).transpose()?;
        let local_seq = local.as_ref().map(position).transpose()?.flatten().map(|(_, seq)| seq);
        let mut problem = None;
        let mut compared = None;
        if let (Some(local), Some(seq)) = (&local, local_seq) {
            // A server may be writing to it: it is compared as it is at one moment.
            local.execute_batch("BEGIN")?;
            let seq = position(local)?.map_or(seq, |(_, seq)| seq);
            if follower.seq() <= seq {
                follower.catch_up_to(self, seq)?;
                problem = first_difference(local, follower.file())?;
                compared = Some(seq);
            }
            local.execute_batch("COMMIT")?;
        }
        follower.catch_up(self)?;
        let verified =
            Tx::new(follower.file(), crate::core::chain::Chain::default()).audit_verify()?;
        if let Some((row, why)) = verified.broken {
            problem.get_or_insert(format!("audit row {row}: {why}"));
        }
        let seq = follower.seq();
        drop(follower);
        for suffix in ["", "-wal", "-shm"] {
            let mut name = scratch.as_os_str().to_owned();
            name.push(suffix);
            // The last two are not always there.
            drop(std::fs::remove_file(name));
        }
        Ok(HomeCheck { seq, audit_rows: verified.rows, snapshot_bytes, compared, problem })
    }
}
