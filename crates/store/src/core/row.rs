//! From columns to values. This is where a damaged database is noticed.
//!
//! Columns are read in the order in which the query names them: looking each up by its name would
//! cost more than the query itself.

use std::fmt::Display;
use std::str::FromStr;

use model::Timestamp;
use rusqlite::Row;
use rusqlite::types::{FromSql, ValueRef};

use crate::core::error::StoreError;

/// Columns that identify a row, the most telling first.
const KEY_COLUMNS: [&str; 5] = ["id", "session", "name", "number", "agent_id"];

/// The columns of a row, one after the other.
#[derive(Debug)]
pub(crate) struct RowReader<'r> {
    row: &'r Row<'r>,
    next: usize,
}

impl<'r> RowReader<'r> {
    pub(crate) const fn of(row: &'r Row<'r>) -> Self {
        Self { row, next: 0 }
    }

    fn step(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// The next column as it is.
    pub(crate) fn get<T: FromSql>(&mut self) -> Result<T, StoreError> {
        let at = self.step();
        Ok(self.row.get(at)?)
    }

    /// The next column, of text or null, without taking it out.
    fn text(&mut self) -> Result<Option<&'r str>, StoreError> {
        let at = self.step();
        let cell = self.row.get_ref(at)?;
        cell.as_str_or_null().map_err(|error| self.damaged(&error))
    }

    /// The next column of text, as a value of the model.
    pub(crate) fn parse<T: FromStr<Err: Display>>(&mut self) -> Result<T, StoreError> {
        self.parse_opt()?.ok_or_else(|| self.damaged(&"it is missing"))
    }

    /// The next column of text or null, as a value of the model.
    pub(crate) fn parse_opt<T: FromStr<Err: Display>>(&mut self) -> Result<Option<T>, StoreError> {
        let text = self.text()?;
        text.map(|text| text.parse().map_err(|error: T::Err| self.damaged(&error))).transpose()
    }

    /// The next column of text, as one of a closed list of names.
    pub(crate) fn named<T>(
        &mut self,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        let text = self.text()?.unwrap_or_default();
        parse(text).ok_or_else(|| self.damaged(&format!("`{text}` is not known")))
    }

    /// The next column of text or null, as one of a closed list of names.
    pub(crate) fn named_opt<T>(
        &mut self,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        let Some(text) = self.text()? else { return Ok(None) };
        parse(text).map(Some).ok_or_else(|| self.damaged(&format!("`{text}` is not known")))
    }

    /// The next column as a time.
    pub(crate) fn time(&mut self) -> Result<Timestamp, StoreError> {
        self.get().map(Timestamp::from_millis)
    }

    /// The next column as a time or null.
    pub(crate) fn time_opt(&mut self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.get::<Option<i64>>()?.map(Timestamp::from_millis))
    }

    /// The next column as a number that is never negative.
    pub(crate) fn count(&mut self) -> Result<u32, StoreError> {
        let number: i64 = self.get()?;
        u32::try_from(number).map_err(|error| self.damaged(&error))
    }

    /// The next column as a large number that is never negative.
    pub(crate) fn large(&mut self) -> Result<u64, StoreError> {
        let number: i64 = self.get()?;
        u64::try_from(number).map_err(|error| self.damaged(&error))
    }

    /// The next column as a large number or null.
    pub(crate) fn large_opt(&mut self) -> Result<Option<u64>, StoreError> {
        let number: Option<i64> = self.get()?;
        number.map(|number| u64::try_from(number).map_err(|error| self.damaged(&error))).transpose()
    }

    /// Says which row is damaged, and what is wrong with the column that was read last.
    pub(crate) fn damaged(&self, why: &dyn Display) -> StoreError {
        let column = self.row.as_ref().column_name(self.next.saturating_sub(1)).unwrap_or("?");
        let row = self.key().map(|key| format!(" of the row with {key}")).unwrap_or_default();
        StoreError::Corrupt(format!("column `{column}`{row}: {why}"))
    }

    /// First column that identifies the row, with its value.
    fn key(&self) -> Option<String> {
        KEY_COLUMNS.iter().find_map(|&column| match self.row.get_ref(column).ok()? {
            ValueRef::Integer(number) => Some(format!("{column} {number}")),
            ValueRef::Text(text) => Some(format!("{column} `{}`", String::from_utf8_lossy(text))),
            _ => None,
        })
    }
}
