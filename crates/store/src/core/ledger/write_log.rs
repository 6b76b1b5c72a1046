//! The notes of one commit: every statement that wrote, the values bound to it, and how many rows it changed.
//!
//! Notes are taken only where somebody replays them. They are kept in the form of a log entry, so that taking one is
//! appending a few bytes, and dropping those of an operation that failed is cutting them off.

use std::collections::HashMap;

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::core::error::StoreError;
use crate::core::ledger::bytes::{put_bytes, put_number, put_value};
use crate::core::ledger::entry::ENTRY_VERSION;
use crate::core::ledger::row_digest::{RowDigest, TouchedRows};

/// Notes of the commit under way.
#[derive(Debug, Default)]
pub(crate) struct WriteLog {
    /// Statements in the order of their first use; a text stands once an entry
    statements: Vec<String>,
    numbers: HashMap<String, usize>,
    /// The writes as an entry has them
    writes: Vec<u8>,
    count: u64,
    touched: TouchedRows,
}

/// The notes at a moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    statements: usize,
    writes: usize,
    count: u64,
    digest: RowDigest,
}

impl WriteLog {
    /// Notes of what a connection writes, of which this is what it touches.
    pub(crate) fn of(touched: TouchedRows) -> Self {
        Self { touched, ..Self::default() }
    }

    /// Notes one statement that was run.
    pub(crate) fn note(
        &mut self,
        sql: &str,
        values: &[&dyn ToSql],
        changed: u64,
    ) -> Result<(), StoreError> {
        let number = self.number_of(sql);
        put_number(&mut self.writes, number as u64);
        put_number(&mut self.writes, changed);
        put_number(&mut self.writes, values.len() as u64);
        for value in values {
            match value.to_sql()? {
                ToSqlOutput::Borrowed(value) => put_value(&mut self.writes, value),
                ToSqlOutput::Owned(value) => put_value(&mut self.writes, ValueRef::from(&value)),
                other => {
                    return Err(StoreError::Corrupt(format!("{other:?} cannot be logged")));
                }
            }
        }
        self.count += 1;
        Ok(())
    }

    fn number_of(&mut self, sql: &str) -> usize {
        if let Some(number) = self.numbers.get(sql) {
            return *number;
        }
        let number = self.statements.len();
        self.statements.push(sql.to_owned());
        self.numbers.insert(sql.to_owned(), number);
        number
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Size of the writes in the entry.
    pub(crate) const fn bytes(&self) -> usize {
        self.writes.len()
    }

    /// The present notes, for [`WriteLog::rewind`].
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            statements: self.statements.len(),
            writes: self.writes.len(),
            count: self.count,
            digest: self.touched.digest(),
        }
    }

    /// Drops what was noted since, because it was rolled back.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        for sql in self.statements.drain(mark.statements..) {
            self.numbers.remove(&sql);
        }
        self.writes.truncate(mark.writes);
        self.count = mark.count;
        self.touched.set(mark.digest);
    }

    /// Drops everything.
    pub(crate) fn clear(&mut self) {
        self.statements.clear();
        self.numbers.clear();
        self.writes.clear();
        self.count = 0;
        self.touched.set(RowDigest::default());
    }

    /// The entry of this commit, after which the audit chain and the events stand where it says.
    pub(crate) fn entry(&self, audit: i64, head: &[u8; 64], event: i64) -> Vec<u8> {
        let mut entry = Vec::with_capacity(self.writes.len() + 128);
        entry.push(ENTRY_VERSION);
        put_number(&mut entry, self.statements.len() as u64);
        for sql in &self.statements {
            put_bytes(&mut entry, sql.as_bytes());
        }
        put_number(&mut entry, self.count);
        entry.extend_from_slice(&self.writes);
        put_number(&mut entry, audit.unsigned_abs());
        entry.extend_from_slice(head);
        put_number(&mut entry, event.unsigned_abs());
        entry.extend_from_slice(self.touched.digest().bytes());
        entry
    }
}
