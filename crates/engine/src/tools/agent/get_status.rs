//! `mcp__agent__get_status`.

use model::agent::{AgentState, AgentStateName, AgentType, OfficeStatus};
use model::{AgentId, EpicId, TaskId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::cx::ReadCx;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;

/// Get your own status and metadata
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

/// An agent's status.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// Your id
    id: AgentId,
    /// What you are
    #[serde(rename = "type")]
    kind: AgentType,
    /// Your role
    role: String,
    /// What you do now
    state: OfficeStatus,
    /// The same, as it is stored
    agent_state: AgentStateName,
    /// Why, where there is a reason
    reason: Option<String>,
    /// Your epic
    current_epic_id: Option<EpicId>,
    /// Your task
    current_task_id: Option<TaskId>,
    /// The terminal in which you can be watched
    tmux_session_name: Option<String>,
    /// When you last did something
    last_active_at: Timestamp,
    /// When you were recorded
    created_at: Timestamp,
    /// When you last changed
    updated_at: Timestamp,
}

pub(crate) struct GetStatus;

impl Tool for GetStatus {
    const NAME: &'static str = "mcp__agent__get_status";
    type Args = Args;
    type Answer = Answer;
}

impl Read for GetStatus {
    fn read(cx: &ReadCx<'_>, Args {}: Args) -> Result<Answer, ToolError> {
        let agent = cx.caller.agent()?;
        let name = agent.state.name();
        Ok(Answer {
            id: agent.id,
            kind: AgentType::of_category(&agent.category),
            role: agent.role.clone(),
            state: name.office(),
            agent_state: name,
            reason: match &agent.state {
                AgentState::Limited { until } => Some(format!("limited until {until}")),
                AgentState::Ended { reason, .. } => Some(reason.clone()),
                AgentState::Queued
                | AgentState::Starting
                | AgentState::Running
                | AgentState::WaitingReview
                | AgentState::WaitingInput => None,
            },
            current_epic_id: agent.epic,
            current_task_id: agent.task,
            tmux_session_name: agent.tmux_session.clone(),
            last_active_at: agent.last_active_at,
            created_at: agent.created_at,
            updated_at: agent.updated_at,
        })
    }
}
