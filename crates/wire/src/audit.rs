//! The audit chain: rows as their hashes cover them, and the result of verifying it.

use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page of the audit chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Calls")]
pub struct AuditCalls {
    /// The calls
    pub rows: Vec<AuditCallView>,
    /// Cursor of the next page, if there is one: `after`, or `before` with the newest first.
    /// A page may be empty and have one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

/// A recorded call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CallView")]
pub struct AuditCallView {
    /// Its place in the chain
    pub number: i64,
    /// When
    pub at: Timestamp,
    /// Calling agent, or the one the operator acted as
    pub agent_id: Option<AgentId>,
    /// Tool name
    pub tool: String,
    /// The code it failed with
    pub code: Option<String>,
    /// Everything, as JSON in the very text that the hash covers
    pub body: String,
    /// The hash of the hash before, a newline and the body
    pub hash: String,
}

/// Result of verifying the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Verified")]
pub struct ChainVerificationView {
    /// True if it is intact
    pub ok: bool,
    /// Number of verified rows, from the first
    pub rows: i64,
    /// Number of rows
    pub of: i64,
    /// The hash of the last good one
    pub head: String,
    /// When it was verified
    pub checked_at: Timestamp,
    /// When the verification began that started at the first row
    pub from_first_at: Timestamp,
    /// The first bad row
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken_at: Option<i64>,
    /// Problem, if any
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Number of the last row that is in an archive and was not checked; 0 if none is
    pub archived: i64,
    /// The archives, oldest first
    pub archives: Vec<AuditArchive>,
}

/// A part of the chain that was moved into an archive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArchiveView")]
pub struct AuditArchive {
    /// First row in it
    pub first_row: i64,
    /// Last row in it
    pub last_row: i64,
    /// Hash of that row
    pub last_hash: String,
    /// Name of the file
    pub archive: String,
    /// SHA-256 of the file, in hex
    pub sha256: String,
}
