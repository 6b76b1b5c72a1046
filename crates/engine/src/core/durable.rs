//! Decoding of JSON that the record keeps. What cannot be decoded is an error that names its row: a default in its
//! place would drop a timeout or a cap, or charge a second time.

#[cfg(test)]
mod tests;

use std::fmt::Display;

use serde::de::DeserializeOwned;

use crate::core::error::{Code, ToolError};

/// Decodes a column of a row.
pub(crate) fn decode<T: DeserializeOwned>(
    text: &str,
    row: impl Display,
    column: &str,
) -> Result<T, ToolError> {
    serde_json::from_str(text).map_err(|error| damaged(row, column, error))
}

/// The error about a column that cannot be decoded.
pub(crate) fn damaged(row: impl Display, column: &str, error: impl Display) -> ToolError {
    let message = format!("the record of {row} is damaged: its {column} cannot be read ({error})");
    ToolError::new(Code::InternalError, message)
        .hint("start it again, or restore a backup with `adjutant restore`")
}
