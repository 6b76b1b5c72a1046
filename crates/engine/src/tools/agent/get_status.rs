//! `mcp__agent__get_status`.

use model::agent::{AgentState, AgentType};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::agents::AgentStatusAnswer;

use crate::call::cx::ReadCx;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;

/// Get your own status and metadata
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

pub(crate) struct GetStatus;

impl Tool for GetStatus {
    const NAME: &'static str = "mcp__agent__get_status";
    type Args = Args;
    type Answer = AgentStatusAnswer;
}

impl Read for GetStatus {
    fn read(cx: &ReadCx<'_>, Args {}: Args) -> Result<AgentStatusAnswer, ToolError> {
        let agent = cx.caller.agent()?;
        let name = agent.state.name();
        Ok(AgentStatusAnswer {
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
