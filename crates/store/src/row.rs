//! From columns to values. This is where a damaged database is noticed.

use std::fmt::Display;
use std::str::FromStr;

use model::Timestamp;
use rusqlite::Row;
use rusqlite::types::FromSql;

use crate::error::StoreError;

/// Reads a column as it is.
pub(crate) fn get<T: FromSql>(row: &Row<'_>, column: &str) -> Result<T, StoreError> {
    Ok(row.get(column)?)
}

/// Reads a column of text as a value of the model.
pub(crate) fn parse<T: FromStr<Err: Display>>(
    row: &Row<'_>,
    column: &str,
) -> Result<T, StoreError> {
    let text: String = get(row, column)?;
    text.parse().map_err(|error: T::Err| damaged(column, &error))
}

/// Reads a column of text or null.
pub(crate) fn parse_opt<T: FromStr<Err: Display>>(
    row: &Row<'_>,
    column: &str,
) -> Result<Option<T>, StoreError> {
    let text: Option<String> = get(row, column)?;
    text.map(|text| text.parse().map_err(|error: T::Err| damaged(column, &error))).transpose()
}

/// Reads a column of text as one of a closed list of names.
pub(crate) fn named<T>(
    row: &Row<'_>,
    column: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, StoreError> {
    let text: String = get(row, column)?;
    parse(&text).ok_or_else(|| damaged(column, &format!("`{text}` is not known")))
}

/// Reads a time.
pub(crate) fn time(row: &Row<'_>, column: &str) -> Result<Timestamp, StoreError> {
    Ok(Timestamp::from_millis(get(row, column)?))
}

/// Reads a time or null.
pub(crate) fn time_opt(row: &Row<'_>, column: &str) -> Result<Option<Timestamp>, StoreError> {
    Ok(get::<Option<i64>>(row, column)?.map(Timestamp::from_millis))
}

/// Reads a number that is never negative.
pub(crate) fn count(row: &Row<'_>, column: &str) -> Result<u32, StoreError> {
    let number: i64 = get(row, column)?;
    u32::try_from(number).map_err(|error| damaged(column, &error))
}

pub(crate) fn damaged(column: &str, why: &dyn Display) -> StoreError {
    StoreError::Corrupt(format!("column `{column}`: {why}"))
}
