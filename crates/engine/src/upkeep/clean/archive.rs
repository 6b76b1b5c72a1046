//! Archives of the audit chain: JSON Lines as `adjutant audit export` writes them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use host::atomic_file::AtomicFile;
use host::files::{self, Mode, at};
use model::Timestamp;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use store::{AuditCheckpoint, AuditCut, AuditRow, verify_archived};
use wire::cleanup::{CleanPart, CleanedPart};

use super::CleanRequest;
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::point::Point;
use crate::upkeep::service::Upkeep;

/// Rows in one archive, which one transaction removes.
const ROWS_PER_ARCHIVE: i64 = 20_000;
/// Rows read at once.
const ROWS_PER_READ: u32 = 500;
/// Least time between two archives that the configuration asks for. A cut adds a row, which would else be cut an hour
/// later than the rows before it, for ever.
const MIN_SPAN_SECONDS: i64 = 24 * 60 * 60;

fn archive_dir(core: &Core) -> PathBuf {
    core.options.state.join("archive")
}

impl Upkeep {
    /// Where archives of the audit chain are.
    pub fn archive_dir(&self) -> PathBuf {
        archive_dir(self)
    }

    /// Moves old rows of the audit chain into archives.
    pub(super) async fn clean_audit(
        &self,
        request: &CleanRequest,
        before: Timestamp,
    ) -> Result<CleanedPart, ToolError> {
        let mut done = CleanedPart::new(CleanPart::Audit);
        let (mut archived, until) = self
            .store
            .read(|tx| Ok::<_, ToolError>((tx.audit_archived()?, tx.audit_last_before(before)?)))?;
        if request.dry_run {
            done.removed = u64::try_from(until - archived).unwrap_or(0);
            return Ok(done);
        }
        if !request.by_operator {
            let overdue = before.after_seconds(-MIN_SPAN_SECONDS);
            let overdue = self.store.read(|tx| tx.audit_last_before(overdue))?;
            if overdue <= archived {
                return Ok(done);
            }
        }
        while archived < until {
            let last = until.min(archived + ROWS_PER_ARCHIVE);
            let (checkpoint, bytes) =
                self.outside(move |engine| write(engine, archived, last)).await?;
            self.point(Point::CleanArchived);
            let name = checkpoint.archive.clone();
            let cut = AuditCut { checkpoint, by_operator: request.by_operator, at: self.now() };
            if !self.store.write(move |tx| tx.audit_cut(&cut)).await.map_err(ToolError::from)? {
                let message =
                    format!("rows {} to {last} changed while they were archived", archived + 1);
                return Err(
                    ToolError::conflict(message).hint("check them with `adjutant audit verify`")
                );
            }
            self.point(Point::CleanCut);
            done.removed = done.removed.saturating_add(u64::try_from(last - archived).unwrap_or(0));
            done.bytes = done.bytes.saturating_add(bytes);
            done.archives.push(name);
            archived = last;
        }
        Ok(done)
    }
}

/// Writes the archive of the rows after one and up to another, and says what a checkpoint must say of
/// it, and its size. Nothing is archived of a chain that does not hold.
fn write(engine: &Core, after: i64, last: i64) -> Result<(AuditCheckpoint, u64), ToolError> {
    let dir = archive_dir(engine);
    files::make_dir(&dir, Mode::Private).map_err(ToolError::internal)?;
    let archive = format!("audit-{:09}-{last:09}.jsonl", after + 1);
    let path = dir.join(&archive);
    let mut file = AtomicFile::create(&path).map_err(ToolError::internal)?;
    let written = fill(engine, &mut file, after, last);
    let (last_hash, sha256, bytes) = match written {
        Ok(written) => written,
        Err(error) => {
            file.discard();
            return Err(error);
        }
    };
    file.commit().map_err(ToolError::internal)?;
    let checkpoint = AuditCheckpoint {
        first_row: after + 1,
        last_row: last,
        last_hash,
        archive,
        sha256,
        audit_row: 0,
    };
    Ok((checkpoint, bytes))
}

/// Writes the rows, and gives the hash of the last one, the SHA-256 of the file and its length.
fn fill(
    engine: &Core,
    file: &mut AtomicFile,
    after: i64,
    last: i64,
) -> Result<(String, String, u64), ToolError> {
    let mut head = engine.store.read(|tx| {
        let cut = tx.audit_checkpoints()?.pop();
        Ok::<_, ToolError>(cut.map_or_else(|| "0".repeat(64), |cut| cut.last_hash))
    })?;
    let (mut seen, mut digest, mut bytes) = (after, Sha256::new(), 0_u64);
    while seen < last {
        let rows = engine.store.read(|tx| tx.audit_rows_between(seen, last, ROWS_PER_READ))?;
        let pairs = rows.iter().map(|row| (row.body.as_str(), row.hash.as_str()));
        let verdict = verify_archived(seen, &head, pairs);
        let next = seen + i64::try_from(rows.len()).unwrap_or(0);
        let in_order = rows.last().is_some_and(|row| row.number == next);
        if verdict.broken.is_some() || !in_order {
            let number = verdict.broken.map_or(next + 1, |(number, _)| number);
            let message = format!("the audit chain is broken at row {number}; nothing was cut");
            return Err(ToolError::conflict(message).hint("`adjutant audit verify` shows details"));
        }
        for row in &rows {
            let line = line_of(row);
            digest.update(line.as_bytes());
            bytes = bytes.saturating_add(u64::try_from(line.len()).unwrap_or(0));
            let written = file.write_all(line.as_bytes());
            written.map_err(at("write", Path::new("archive"))).map_err(ToolError::internal)?;
        }
        (seen, head) = (next, verdict.head);
    }
    let sha256 = digest.finalize().iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        _ = write!(hex, "{byte:02x}");
        hex
    });
    Ok((head, sha256, bytes))
}

/// A row as an export has it: the body stays text, for its hash covers every byte.
fn line_of(row: &AuditRow) -> String {
    format!("{}\n", json!({ "number": row.number, "hash": row.hash, "body": row.body }))
}
