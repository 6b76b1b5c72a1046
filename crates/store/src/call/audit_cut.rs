//! Cuts of the audit chain: the oldest rows move into an archive, behind a checkpoint in the chain.
//!
//! The archive is on disk before the cut. The cut is one transaction: a row of the chain that names
//! the archive, its SHA-256 and the last hash in it; the entry in `audit_checkpoint` that repeats
//! this; and the removal of the rows. What is left of the chain is followed from the newest entry,
//! which must say what its row in the chain says.

use model::Timestamp;
use rusqlite::params;
use serde::{Deserialize, Serialize};

use crate::call::audit::{self, AuditRow, COLUMNS, ChainVerification, ROWS_PER_BLOCK};
use crate::core::chain::{AuditDraft, Chain};
use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// Tool name under which a cut stands in the chain.
pub const CHECKPOINT_TOOL: &str = "adjutant__audit__checkpoint";

/// An archived part of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditCheckpoint {
    /// First row in the archive
    pub first_row: i64,
    /// Last row in the archive
    pub last_row: i64,
    /// Hash of that row
    pub last_hash: String,
    /// File name of the archive
    pub archive: String,
    /// SHA-256 of the archive, in hex
    pub sha256: String,
    /// Row of the chain that records the cut
    #[serde(skip)]
    pub audit_row: i64,
}

/// A cut whose archive is on disk.
#[derive(Debug, Clone)]
pub struct AuditCut {
    /// Archived rows; `audit_row` is assigned by the cut
    pub checkpoint: AuditCheckpoint,
    /// True if the operator asked for it
    pub by_operator: bool,
    /// When
    pub at: Timestamp,
}

const CHECKPOINT_COLUMNS: &str = "first_row, last_row, last_hash, archive, sha256, audit_row";

impl Tx<'_> {
    /// All cuts, oldest first.
    pub fn audit_checkpoints(&self) -> Result<Vec<AuditCheckpoint>, StoreError> {
        self.all(
            &format!("SELECT {CHECKPOINT_COLUMNS} FROM audit_checkpoint ORDER BY last_row"),
            [],
            |row| {
                let mut cells = RowReader::of(row);
                Ok(AuditCheckpoint {
                    first_row: cells.get()?,
                    last_row: cells.get()?,
                    last_hash: cells.get()?,
                    archive: cells.get()?,
                    sha256: cells.get()?,
                    audit_row: cells.get()?,
                })
            },
        )
    }

    /// The number of the last row that is in an archive; 0 where none is.
    pub fn audit_archived(&self) -> Result<i64, StoreError> {
        self.number("SELECT COALESCE(MAX(last_row), 0) FROM audit_checkpoint", [])
    }

    /// The hash of a row that is the last one of an archive.
    pub(crate) fn audit_checkpoint_hash(&self, row: i64) -> Result<Option<String>, StoreError> {
        self.one(
            "SELECT last_hash FROM audit_checkpoint WHERE last_row = $1",
            params![row],
            |row| RowReader::of(row).get(),
        )
    }

    /// Finds the first faulty cut: its row and the problem.
    pub(crate) fn audit_checkpoints_problem(
        &self,
        checkpoints: &[AuditCheckpoint],
    ) -> Result<Option<(i64, String)>, StoreError> {
        let archived = checkpoints.last().map_or(0, |cut| cut.last_row);
        let mut next = 1;
        for cut in checkpoints {
            if cut.first_row != next || cut.last_row < cut.first_row {
                return Ok(Some((next, "the checkpoint of its archive is missing".to_owned())));
            }
            next = cut.last_row + 1;
            // The row of an older cut may be in a later archive itself.
            if cut.audit_row > archived || cut.last_row == archived {
                let stated = self.audit_get(cut.audit_row)?.and_then(|row| checkpoint_in(&row));
                if stated.as_ref() != Some(cut) {
                    let archive = &cut.archive;
                    let problem = format!("it does not match the archive `{archive}`");
                    return Ok(Some((cut.audit_row, problem)));
                }
            }
        }
        let behind = "SELECT COALESCE(MIN(number), 0) FROM audit WHERE number <= $1";
        let left = self.number(behind, params![archived])?;
        Ok((left > 0).then(|| (left, "it is behind the checkpoint of its archive".to_owned())))
    }

    /// The last row before a time that may be archived, as far as times are in order; 0 where there is none.
    pub fn audit_last_before(&self, at: Timestamp) -> Result<i64, StoreError> {
        let last = self.audit_last()?;
        // The newest row stays: the next one follows its hash.
        Ok((self.audit_number_at(at, last)? - 1).min(last - 1).max(0))
    }

    /// Rows in their order, for an archive: those after `after` and up to `until`.
    pub fn audit_rows_between(
        &self,
        after: i64,
        until: i64,
        limit: u32,
    ) -> Result<Vec<AuditRow>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM audit WHERE number > $1 AND number <= $2
                 ORDER BY number LIMIT $3"
            ),
            params![after, until, limit],
            audit::read,
        )
    }

    /// Cuts the chain: records the checkpoint and removes the rows that its archive has. False where
    /// another cut came first, or the last row is not what the archive says; then nothing is changed.
    pub fn audit_cut(&mut self, cut: &AuditCut) -> Result<bool, StoreError> {
        let AuditCheckpoint { first_row, last_row, last_hash, archive, sha256, .. } =
            &cut.checkpoint;
        let is_next = self.audit_archived()? + 1 == *first_row;
        let hash = self.audit_get(*last_row)?.map(|row| row.hash);
        if !is_next || hash.as_ref() != Some(last_hash) || *last_row >= self.chain.audit {
            return Ok(false);
        }
        let input = serde_json::to_string(&cut.checkpoint)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let row = self.audit_append_uncounted(&AuditDraft {
            at: cut.at,
            agent: None,
            by_operator: cut.by_operator,
            tool: CHECKPOINT_TOOL.to_owned(),
            input,
            code: None,
            output: format!(r#"{{"rows":{}}}"#, last_row - first_row + 1),
            duration_micros: 0,
            git_commit: None,
        })?;
        self.execute(
            &format!(
                "INSERT INTO audit_checkpoint ({CHECKPOINT_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6)"
            ),
            params![first_row, last_row, last_hash, archive, sha256, row],
        )?;
        self.execute("DELETE FROM audit WHERE number <= $1", params![last_row])?;
        let kept = (last_row + 1) / ROWS_PER_BLOCK;
        self.execute("DELETE FROM audit_block WHERE block < $1", params![kept])?;
        Ok(true)
    }
}

/// Body of a checkpoint row.
fn checkpoint_in(row: &AuditRow) -> Option<AuditCheckpoint> {
    if row.tool != CHECKPOINT_TOOL {
        return None;
    }
    let body: serde_json::Value = serde_json::from_str(&row.body).ok()?;
    let stated: AuditCheckpoint = serde_json::from_value(body["input"].clone()).ok()?;
    Some(AuditCheckpoint { audit_row: row.number, ..stated })
}

/// Follows exported rows, pairs of body and hash, that come right behind `row` with its hash.
pub fn verify_archived<'a>(
    row: i64,
    hash: &str,
    rows: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> ChainVerification {
    audit::follow_export(Chain::behind(row, hash), rows)
}
