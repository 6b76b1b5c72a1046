//! Supervisors of epics: health, recovery, and the epics that have none.

use crate::epics::EpicTaskCounts;
use crate::paging::PageCursor;
use model::agent::{AgentStateName, OfficeStatus};
use model::{AgentId, EpicId, EpicState, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Health of a supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthStatus {
    /// It shows signs of life, or waits with a reason
    Healthy,
    /// It should be active but was silent for too long
    Silent,
    /// It has ended
    Ended,
}

/// Health of a supervisor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupervisorHealth {
    /// The supervisor
    pub agent_id: AgentId,
    /// The epic it leads
    pub epic_id: Option<EpicId>,
    /// True if nothing needs to be done
    pub is_healthy: bool,
    /// Health
    pub status: HealthStatus,
    /// Time of its last activity
    pub last_active_at: Timestamp,
    /// Minutes since that time
    pub minutes_since_heartbeat: i64,
    /// Minutes of silence after which it counts as lost
    pub threshold_minutes: u32,
    /// Current state
    pub state: OfficeStatus,
    /// State as stored in the record
    pub agent_state: AgentStateName,
    /// Explanation, if needed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A supervisor that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedSupervisor {
    /// The supervisor
    pub agent_id: AgentId,
    /// Its role
    pub role: String,
    /// The epic it leads
    pub epic_id: EpicId,
    /// Its current state
    pub epic_state: EpicState,
}

/// A page of epics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingEpics {
    /// The epics, oldest first
    pub epics: Vec<PendingEpic>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

/// An epic without a supervisor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingEpic {
    /// Its id
    pub epic_id: EpicId,
    /// Title
    pub title: String,
    /// State
    pub state: EpicState,
    /// When it was created
    pub created_at: Timestamp,
    /// Number of its tasks by state
    pub tasks: EpicTaskCounts,
}

/// Supervisors of epics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Supervisors {
    /// The supervisors, oldest first
    pub supervisors: Vec<SupervisorRow>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

/// One supervisor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupervisorRow {
    /// Its id
    pub agent_id: AgentId,
    /// The epic it leads
    pub epic_id: Option<EpicId>,
    /// Title of that epic
    pub epic_title: Option<String>,
    /// Current state
    pub state: OfficeStatus,
    /// State as stored in the record
    pub agent_state: AgentStateName,
    /// Time of its last activity
    pub last_active_at: Timestamp,
    /// True if it is active or waits for something
    pub is_healthy: bool,
    /// Minutes since its last activity
    pub minutes_since_heartbeat: i64,
    /// Number of live agents below it
    pub workers: usize,
    /// Number of its epic's tasks by state
    pub tasks: EpicTaskCounts,
}

/// Outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveredSupervisor {
    /// The supervisor that was lost
    pub agent_id: AgentId,
    /// The epic it led
    pub epic_id: EpicId,
    /// New supervisor; null until the old one has ended
    pub new_agent_id: Option<AgentId>,
    /// Progress of the recovery
    pub status: RecoveryStatus,
    /// Number of tasks that were released
    pub tasks_reset: u32,
    /// Description of the outcome
    pub message: String,
}

/// Progress of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryStatus {
    /// It has
    Recovered,
    /// The old one is being ended; the same call again waits for it
    Pending,
}
