//! Supervisors of epics: health, recovery, and the epics that have none.

use crate::epics::EpicTaskCounts;
use crate::paging::PageCursor;
use model::agent::{AgentStateName, OfficeStatus};
use model::{AgentId, EpicId, EpicState, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a supervisor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum HealthStatus {
    /// It shows signs of life, or waits with a reason
    Healthy,
    /// It should be at work and was not heard of for too long
    Silent,
    /// It is over
    Ended,
}

/// How it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupervisorHealth {
    /// The supervisor
    pub agent_id: AgentId,
    /// The epic it leads
    pub epic_id: Option<EpicId>,
    /// Whether nothing needs to be done
    pub is_healthy: bool,
    /// How it is
    pub status: HealthStatus,
    /// When it was last heard of
    pub last_active_at: Timestamp,
    /// How many minutes ago that was
    pub minutes_since_heartbeat: i64,
    /// After how many minutes of silence it counts as lost
    pub threshold_minutes: u32,
    /// What it does now
    pub state: OfficeStatus,
    /// The same, as it is stored
    pub agent_state: AgentStateName,
    /// Why it is so, where that is not plain
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
    /// Where that stands now
    pub epic_state: EpicState,
}

/// A page of epics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingEpics {
    /// The epics, oldest first
    pub epics: Vec<PendingEpic>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}

/// An epic that nobody leads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingEpic {
    /// Its id
    pub epic_id: EpicId,
    /// What it is called
    pub title: String,
    /// Where it stands
    pub state: EpicState,
    /// When it was made
    pub created_at: Timestamp,
    /// How many of its tasks are in each state
    pub tasks: EpicTaskCounts,
}

/// Those who lead epics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Supervisors {
    /// The supervisors, oldest first
    pub supervisors: Vec<SupervisorRow>,
    /// Where the next page begins, if there is one
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
    /// What that is called
    pub epic_title: Option<String>,
    /// What it does now
    pub state: OfficeStatus,
    /// The same, as it is stored
    pub agent_state: AgentStateName,
    /// When it was last heard of
    pub last_active_at: Timestamp,
    /// Whether it shows signs of life, or waits with a reason
    pub is_healthy: bool,
    /// How many minutes ago it was last heard of
    pub minutes_since_heartbeat: i64,
    /// How many agents below it have not ended
    pub workers: usize,
    /// How many tasks of its epic are in each state
    pub tasks: EpicTaskCounts,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveredSupervisor {
    /// The supervisor that was lost
    pub agent_id: AgentId,
    /// The epic it led
    pub epic_id: EpicId,
    /// Who leads it now; null until the old one is gone
    pub new_agent_id: Option<AgentId>,
    /// Whether that is so yet
    pub status: RecoveryStatus,
    /// How many tasks are free again
    pub tasks_reset: u32,
    /// What happened, in words
    pub message: String,
}

/// Whether another one has taken its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum RecoveryStatus {
    /// It has
    Recovered,
    /// The old one is being ended; the same call again waits for it
    Pending,
}
