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
    /// Which files
    pub pattern: String,
    /// Whose
    pub agent_id: AgentId,
    /// In which role that agent works
    pub role: String,
    /// What for
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
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

/// What is free again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReleasedFiles {
    /// How many reservations were released
    pub released: usize,
}

/// What is yours now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReservedFiles {
    /// The reservations, in the order of the patterns
    pub reservations: Vec<ReservationView>,
    /// Always empty: where somebody else holds a file, nothing is reserved and the error lists them
    pub conflicts: Vec<ReservationConflict>,
}

/// Files that somebody else holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReservationConflict {
    /// The pattern that was asked for
    pub pattern: String,
    /// The agent that holds files of it
    pub held_by: AgentId,
    /// That agent's role
    pub role: String,
    /// The pattern by which it holds them
    pub held_pattern: String,
    /// Until when
    pub expires_at: Timestamp,
    /// What for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
