//! Decisions that agents log.

use model::{LogId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// That the decision is on record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoggedDecision {
    /// The entry
    pub log_id: LogId,
    /// When it was written
    pub timestamp: Timestamp,
}
