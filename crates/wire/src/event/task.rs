//! Events of tasks and epics.

use model::{AgentId, EpicId, EpicState, Priority, TaskId, TaskStateName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Payload of `epic.created`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EpicCreated {
    /// The epic
    pub epic_id: EpicId,
    /// Its title
    pub title: String,
    /// Issue in Linear that it was made for
    pub linear_issue_id: Option<String>,
}

/// Payload of `epic.updated`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EpicUpdated {
    /// The epic
    pub epic_id: EpicId,
    /// State before
    pub from: EpicState,
    /// State after
    pub to: EpicState,
}

/// Payload of `task.created`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskCreated {
    /// The task
    pub task_id: TaskId,
    /// Its slug
    pub slug: String,
    /// Its number, the 12 in `TAS-12`
    pub number: i64,
    /// Its title
    pub title: String,
    /// Epic that it belongs to
    pub epic_id: Option<EpicId>,
    /// Session that it belongs to
    pub session: String,
    /// Its priority; 0 comes first
    pub priority: Priority,
}

/// Payload of `task.assigned` and `task.updated`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskChange {
    /// The task
    pub task_id: TaskId,
    /// Its slug
    pub slug: String,
    /// Its number, the 12 in `TAS-12`
    pub number: i64,
    /// State before
    pub from: TaskStateName,
    /// State after; the same as before where something else changed
    pub to: TaskStateName,
    /// Agent that has the task now
    pub assigned_agent_id: Option<AgentId>,
    /// Reason of a failure or of being blocked
    pub reason: Option<String>,
    /// Priority after the change; 0 comes first
    pub priority: Priority,
}

/// Payload of `task.commented`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskCommented {
    /// The task
    pub task_id: TaskId,
    /// Its slug
    pub slug: String,
    /// Its number, the 12 in `TAS-12`
    pub number: i64,
    /// The comment
    pub comment_id: i64,
}
