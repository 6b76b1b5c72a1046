//! `mcp__orchestrator__check_supervisor_health`.

use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;
use store::Agent;
use wire::supervisors::{HealthStatus, SupervisorHealth};

use super::waiting;
use crate::automation::office::{Health, find_supervisor};
use crate::call::cx::ReadCx;
use crate::call::tool::{Probe, Tool};
use crate::core::error::ToolError;
use crate::core::handle::Core;

/// Check the health of a supervisor
///
/// A supervisor is healthy if it makes calls or prints output. One that waits for another agent,
/// mail, a review, a person, a free slot or its model is healthy too.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The supervisor
    agent_id: AgentId,
}

pub(crate) struct CheckSupervisorHealth;

impl Tool for CheckSupervisorHealth {
    const NAME: &'static str = "mcp__orchestrator__check_supervisor_health";
    type Args = Args;
    type Answer = SupervisorHealth;
}

/// The supervisor to check.
pub(crate) struct HealthQuestion {
    agent: Agent,
    /// Minutes of silence after which it counts as lost
    threshold: u32,
    now: Timestamp,
}

impl Probe for CheckSupervisorHealth {
    type Question = HealthQuestion;

    fn question(cx: &ReadCx<'_>, args: Args) -> Result<Self::Question, ToolError> {
        let agent = find_supervisor(cx.tx, args.agent_id)?;
        let threshold = cx.settings.office.heartbeat_minutes;
        Ok(HealthQuestion { agent, threshold, now: cx.now })
    }

    // Who waits is known to the server alone.
    fn answer(engine: &Core, question: Self::Question) -> Result<SupervisorHealth, ToolError> {
        let HealthQuestion { agent, threshold, now } = question;
        let health = Health::of(&agent, waiting(engine, agent.id), threshold, now);
        let name = agent.state.name();
        Ok(SupervisorHealth {
            agent_id: agent.id,
            epic_id: agent.epic,
            is_healthy: health.status == HealthStatus::Healthy,
            status: health.status,
            last_active_at: agent.last_active_at,
            minutes_since_heartbeat: health.minutes,
            threshold_minutes: threshold,
            state: name.office(),
            agent_state: name,
            reason: health.reason,
        })
    }
}
