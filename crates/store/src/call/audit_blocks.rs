//! Checks that `audit_block`, by which an agent's and a tool's rows are found, leaves none of them out.

use std::collections::HashSet;

use rusqlite::params;

use crate::call::audit::{AuditRow, ROWS_PER_BLOCK};
use crate::core::error::StoreError;
use crate::core::tx::Tx;

/// Checks the entries of `audit_block` while rows are followed in order; asks once per block and key.
#[derive(Debug, Default)]
pub(crate) struct BlockCheck {
    block: i64,
    found: HashSet<String>,
}

impl BlockCheck {
    /// Finds the index entries that a row lacks for its agent and its tool.
    pub(crate) fn problem(
        &mut self,
        tx: &Tx<'_>,
        row: &AuditRow,
    ) -> Result<Option<String>, StoreError> {
        let block = row.number / ROWS_PER_BLOCK;
        if block != self.block {
            self.block = block;
            self.found.clear();
        }
        for key in row.agent.map(|agent| agent.to_string()).iter().chain([&row.tool]) {
            if self.found.contains(key) {
                continue;
            }
            let there = "SELECT COUNT(*) FROM audit_block WHERE key = $1 AND block = $2";
            if tx.number(there, params![key, block])? == 0 {
                return Ok(Some(format!(
                    "its entry for `{key}` in `audit_block` is missing, so lists omit it"
                )));
            }
            self.found.insert(key.clone());
        }
        Ok(None)
    }
}
