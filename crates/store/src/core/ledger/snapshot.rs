//! Snapshots: whole copies of a home's state in the ledger, so that its log can be cut and a file made anew.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use sha2::{Digest, Sha256};
use tokio_postgres::types::Type;

use crate::core::chain::Chain;
use crate::core::error::StoreError;
use crate::core::guard::make_private;
use crate::core::ledger::client::LedgerClient;
use crate::core::ledger::follow::{position, set_position};
use crate::core::ledger::link::{Param, get};
use crate::core::migrate::migrate;
use crate::core::tx::Tx;

/// Size of a part.
const PART_BYTES: usize = 1 << 20;
/// Entries that one statement removes from the log at the most.
const MAX_ENTRIES_REMOVED: i64 = 1_000;

/// A snapshot in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// The last entry of the log that it has
    pub seq: i64,
    /// Size of the file
    pub bytes: i64,
}

/// A home to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewHome<'a> {
    /// Id
    pub id: &'a str,
    /// Name
    pub name: &'a str,
    /// The database of a single machine that it is made from
    pub from: Option<&'a Path>,
    /// Folder for a copy that is removed again
    pub scratch: &'a Path,
}

impl LedgerClient {
    /// Makes a home from a file: a snapshot before the first entry of its log.
    ///
    /// The file is a database of Adjutant that nobody uses. Without one the home begins empty. `prepare` writes what the
    /// home has and a single machine does not.
    pub fn create_home(
        &mut self,
        new: &NewHome<'_>,
        prepare: impl FnOnce(&mut Tx<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let NewHome { id, name, from, scratch } = *new;
        let params: [Param<'_>; 2] = [(&id, Type::TEXT), (&name, Type::TEXT)];
        let taken = "SELECT id FROM adjutant.home WHERE id = $1 OR name = $2";
        if !self.ask(taken, &params)?.rows.is_empty() {
            let known = self.home(name)?.map_or_else(String::new, |home| {
                let owner = home.owner_url.map_or_else(
                    || ", owned by nobody now".to_owned(),
                    |url| format!(", owned by {url}"),
                );
                format!(": epoch {}{owner}", home.epoch)
            });
            let why = format!("it has a home `{name}` already{known}");
            return Err(StoreError::Unfit { why });
        }
        // What an earlier try left that did not come to its end is not this home's.
        for table in ["snapshot", "snapshot_part"] {
            let forget = format!("DELETE FROM adjutant.{table} WHERE home = $1");
            self.ask(&forget, &[(&id, Type::TEXT)])?;
        }
        let copy = scratch_file(scratch, id);
        let removes = RemoveFile(copy.clone());
        make_private(&copy);
        if let Some(from) = from {
            let source = crate::core::tx::connect(from, std::time::Duration::ZERO)?;
            source.execute("VACUUM INTO ?1", [copy.to_string_lossy().as_ref()])?;
        }
        let file = Connection::open(&copy)?;
        migrate(&file)?;
        set_position(&file, id, 0)?;
        let mut tx = Tx::new(&file, Chain::load(&file)?);
        prepare(&mut tx)?;
        let chain = Chain::load(&file)?;
        drop(file);
        self.upload(&copy)?;
        drop(removes);
        let head = String::from_utf8_lossy(&chain.hash);
        self.ask(
            "INSERT INTO adjutant.home (id, name, epoch, expires_at, seq, audit, head, event)
             VALUES ($1, $2, 0, clock_timestamp(), 0, $3, $4, $5)",
            &[
                (&id, Type::TEXT),
                (&name, Type::TEXT),
                (&chain.audit, Type::INT8),
                (&head, Type::TEXT),
                (&chain.last_event(), Type::INT8),
            ],
        )?;
        Ok(())
    }

    /// Uploads a copy of a home's state, which itself says of which home and entry it is. Then removes what the
    /// snapshot before it makes superfluous.
    pub fn upload(&mut self, copy: &Path) -> Result<SnapshotInfo, StoreError> {
        let file = Connection::open(copy)?;
        let schema: i32 = file.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let Some((home, seq)) = position(&file)? else {
            return Err(StoreError::Corrupt("the copy follows no log".to_owned()));
        };
        drop(file);
        let content = fs::read(copy).map_err(|error| unreadable(copy, &error))?;
        let params: [Param<'_>; 2] = [(&home, Type::TEXT), (&seq, Type::INT8)];
        let forget = "DELETE FROM adjutant.snapshot_part WHERE home = $1 AND seq = $2
            AND NOT EXISTS (SELECT 1 FROM adjutant.snapshot WHERE home = $1 AND seq = $2)";
        // Another server may have begun the same snapshot and died.
        self.ask(forget, &params)?;
        let mut parts = 0_i32;
        for part in content.chunks(PART_BYTES) {
            let put = "INSERT INTO adjutant.snapshot_part (home, seq, part, body)
                 VALUES ($1, $2, $3, $4) ON CONFLICT (home, seq, part) DO NOTHING";
            let [home, seq] = params.clone();
            self.ask(put, &[home, seq, (&parts, Type::INT4), (&part, Type::BYTEA)])?;
            parts += 1;
        }
        let bytes = i64::try_from(content.len()).unwrap_or(i64::MAX);
        let (sum, [first, second]) = (hex(&Sha256::digest(&content)), params);
        let whole = "INSERT INTO adjutant.snapshot (home, seq, schema, parts, bytes, sha256)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (home, seq) DO NOTHING";
        self.ask(
            whole,
            &[
                first,
                second,
                (&schema, Type::INT4),
                (&parts, Type::INT4),
                (&bytes, Type::INT8),
                (&sum, Type::TEXT),
            ],
        )?;
        self.cut_log(&home, seq)?;
        Ok(SnapshotInfo { seq, bytes })
    }

    /// Removes entries up to the snapshot before the newest one, and the snapshots before that.
    fn cut_log(&mut self, home: &str, newest: i64) -> Result<(), StoreError> {
        let params: [Param<'_>; 2] = [(&home, Type::TEXT), (&newest, Type::INT8)];
        let before = "SELECT MAX(seq) FROM adjutant.snapshot WHERE home = $1 AND seq < $2";
        let reply = self.ask(before, &params)?;
        let kept: Option<i64> = match reply.rows.first() {
            Some(row) => get(row, 0)?,
            None => None,
        };
        let Some(kept) = kept else { return Ok(()) };
        let params: [Param<'_>; 3] =
            [(&home, Type::TEXT), (&kept, Type::INT8), (&MAX_ENTRIES_REMOVED, Type::INT8)];
        let remove = "DELETE FROM adjutant.log WHERE home = $1 AND seq IN (
                SELECT seq FROM adjutant.log WHERE home = $1 AND seq <= $2 ORDER BY seq LIMIT $3)
            RETURNING seq";
        while !self.ask(remove, &params)?.rows.is_empty() {}
        let [home, kept, _] = params;
        for table in ["snapshot", "snapshot_part"] {
            let forget = format!("DELETE FROM adjutant.{table} WHERE home = $1 AND seq < $2");
            self.ask(&forget, &[home.clone(), kept.clone()])?;
        }
        Ok(())
    }

    /// Writes the newest sound snapshot of a home to a file that must not exist yet.
    pub fn restore(&mut self, home: &str, to: &Path) -> Result<SnapshotInfo, StoreError> {
        let newest_first = "SELECT seq, parts, bytes, sha256 FROM adjutant.snapshot WHERE home = $1
             ORDER BY seq DESC";
        let reply = self.ask(newest_first, &[(&home, Type::TEXT)])?;
        let mut failed =
            StoreError::Unfit { why: format!("it has no snapshot of the home {home}") };
        for row in &reply.rows {
            let stored = StoredSnapshot {
                seq: get(row, 0)?,
                parts: get(row, 1)?,
                bytes: get(row, 2)?,
                sha256: get(row, 3)?,
            };
            match self.download(home, &stored, to) {
                Ok(()) => return Ok(SnapshotInfo { seq: stored.seq, bytes: stored.bytes }),
                // The log is kept from the one before it on.
                Err(StoreError::Corrupt(why)) => {
                    tracing::error!(home, seq = stored.seq, why, "skipped a damaged snapshot");
                    failed = StoreError::Corrupt(why);
                }
                Err(error) => return Err(error),
            }
        }
        Err(failed)
    }

    fn download(
        &mut self,
        home: &str,
        stored: &StoredSnapshot,
        to: &Path,
    ) -> Result<(), StoreError> {
        let mut name = to.as_os_str().to_owned();
        name.push(".restoring");
        let scratch = RemoveFile(PathBuf::from(name));
        drop(fs::remove_file(&scratch.0));
        let failed = |error| unreadable(&scratch.0, &error);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(&scratch.0).map_err(failed)?;
        let mut hasher = Sha256::new();
        for part in 0..stored.parts {
            let read = "SELECT body FROM adjutant.snapshot_part
                 WHERE home = $1 AND seq = $2 AND part = $3";
            let params: [Param<'_>; 3] =
                [(&home, Type::TEXT), (&stored.seq, Type::INT8), (&part, Type::INT4)];
            let reply = self.ask(read, &params)?;
            let Some(row) = reply.rows.first() else {
                let seq = stored.seq;
                return Err(StoreError::Corrupt(format!("snapshot {seq} lacks part {part}")));
            };
            let body: &[u8] = get(row, 0)?;
            hasher.update(body);
            file.write_all(body).map_err(failed)?;
        }
        if hex(&hasher.finalize()) != stored.sha256 {
            let seq = stored.seq;
            return Err(StoreError::Corrupt(format!("snapshot {seq} has another SHA-256 sum")));
        }
        file.sync_all().map_err(failed)?;
        // A link, and not a new name: a file that is there stays.
        fs::hard_link(&scratch.0, to).map_err(|error| unreadable(to, &error))
    }
}

/// A row of the table of snapshots.
struct StoredSnapshot {
    seq: i64,
    parts: i32,
    bytes: i64,
    sha256: String,
}

/// A file that goes when this value does.
struct RemoveFile(PathBuf);

impl Drop for RemoveFile {
    fn drop(&mut self) {
        // It may never have been made.
        drop(fs::remove_file(&self.0));
    }
}

fn scratch_file(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.new.db"))
}

fn unreadable(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::File { path: path.display().to_string(), why: error.to_string() }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}
