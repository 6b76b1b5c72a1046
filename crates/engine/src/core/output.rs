//! Answers of tools with their types forgotten.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::core::error::ToolError;

/// An answer with its types forgotten: JSON text, which is what nearly everybody wants of it.
#[derive(Debug, Clone)]
pub struct Output {
    /// The answer as JSON
    pub text: String,
}

impl Output {
    pub(crate) fn of(answer: &impl Serialize) -> Result<Self, ToolError> {
        Ok(Self { text: serde_json::to_string(answer).map_err(ToolError::internal)? })
    }

    /// Decodes the answer into its type.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_str(&self.text).map_err(ToolError::internal)
    }

    /// The answer as a value.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}
