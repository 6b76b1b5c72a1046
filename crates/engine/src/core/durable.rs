//! Decoding of JSON that the record keeps. What cannot be decoded is an error that names its row: a default in its
//! place would drop a timeout or a cap, or charge a second time.

#[cfg(test)]
mod tests;

use std::fmt::Display;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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

/// An error as the row of a failed outbox job keeps it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredError {
    /// Error code
    code: Code,
    /// Message for the caller
    message: String,
    /// Suggested next steps
    suggestions: Vec<String>,
    /// Facts that a program may want
    details: Map<String, Value>,
    /// Chain of causes, for people who read the record; no caller gets it
    causes: String,
}

/// Encodes an error for the row of an outbox job.
pub(crate) fn encode_error(error: &ToolError) -> Result<String, ToolError> {
    let stored = StoredError {
        code: error.code,
        message: error.message.clone(),
        suggestions: error.suggestions.clone(),
        details: error.details.clone(),
        causes: error.causes(),
    };
    serde_json::to_string(&stored).map_err(ToolError::internal)
}

/// Decodes the error of a row, to return it to a caller.
pub(crate) fn decode_error(text: &str, row: impl Display) -> Result<ToolError, ToolError> {
    let StoredError { code, message, suggestions, details, causes: _ } =
        decode(text, row, "error")?;
    let mut error = ToolError::new(code, message);
    (error.suggestions, error.details) = (suggestions, details);
    Ok(error)
}
