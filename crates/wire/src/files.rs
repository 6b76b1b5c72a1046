//! Reservations of files.

use crate::paging::PageCursor;
use model::{AgentId, ReservationId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reservation, as the tools show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReservationView {
    /// Its id
    pub id: ReservationId,
    /// Pattern of files
    pub pattern: String,
    /// Owner
    pub agent_id: AgentId,
    /// Role that agent works
    pub role: String,
    /// Reason
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Until when
    pub expires_at: Timestamp,
}

/// A page of reservations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reservations {
    /// The reservations, oldest first
    pub reservations: Vec<ReservationView>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

/// Released reservations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReleasedFiles {
    /// Number of released reservations
    pub released: usize,
}

/// Reservations now held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReservedFiles {
    /// The reservations, in the order of the patterns
    pub reservations: Vec<ReservationView>,
    /// Always empty: if another agent holds a file, nothing is reserved and the error lists the conflicts
    pub conflicts: Vec<ReservationConflict>,
}

/// Files that another agent holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReservationConflict {
    /// Requested pattern
    pub pattern: String,
    /// Agent that holds the conflicting reservation
    pub held_by: AgentId,
    /// That agent's role
    pub role: String,
    /// Pattern of that reservation
    pub held_pattern: String,
    /// Until when
    pub expires_at: Timestamp,
    /// Reason
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
