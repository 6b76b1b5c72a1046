//! The request to end an agent. It is recorded for the agent and for its descendants; keepers carry it
//! out, the deepest first, and what has no process ends at once.

use model::agent::{AgentState, Outcome};
use model::{AgentId, Timestamp};
use store::{Agent, EventDraft, StopRequest, Tx};
use wire::event::{AgentStopping, EventData};

use super::finish::{self, Ending};
use crate::call::cx::find_agent;
use crate::core::error::ToolError;
use crate::core::settings::Settings;

/// Records the request to end an agent and all below it. An agent that has ended stays as it is.
pub(crate) fn stop_tree(
    tx: &mut Tx<'_>,
    settings: &Settings,
    id: AgentId,
    stop: &StopRequest,
    now: Timestamp,
) -> Result<(), ToolError> {
    let top = find_agent(tx, id)?;
    // Who spends too much stops all who spend with it; any other end takes the rest along.
    let below = match stop.outcome {
        same @ (Outcome::OverBudget | Outcome::Abandoned) => same,
        _ => Outcome::Killed,
    };
    let reason = format!("its ancestor {id} ended: {}", stop.reason);
    for agent in tx.agent_descendants(id)? {
        let stop = StopRequest { outcome: below, reason: reason.clone() };
        stop_one(tx, settings, &agent, &stop, now)?;
    }
    stop_one(tx, settings, &top, stop, now)
}

fn stop_one(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    stop: &StopRequest,
    now: Timestamp,
) -> Result<(), ToolError> {
    let parked = tx.run_get(agent.id)?.filter(|run| run.parked_at.is_some());
    match (&agent.state, parked) {
        (AgentState::Ended { .. }, _) => Ok(()),
        // It has no process of ours: it is queued, or enlisted.
        (AgentState::Queued | AgentState::Limited { .. }, _) => {
            tx.run_stop(agent.id, stop)?;
            finish::finish(tx, settings, agent, &Ending::of(stop), now)
        }
        (AgentState::WaitingReview, Some(run)) => {
            tx.run_stop(agent.id, stop)?;
            finish::finish(tx, settings, agent, &Ending::of_parked(stop, &run)?, now)
        }
        _ if agent.kind == "enlisted" => {
            finish::finish(tx, settings, agent, &Ending::of(stop), now)
        }
        (
            AgentState::Starting
            | AgentState::Running
            | AgentState::WaitingReview
            | AgentState::WaitingInput,
            _,
        ) => {
            if tx.run_stop(agent.id, stop)? {
                let (outcome, reason) = (stop.outcome.state(), stop.reason.clone());
                let data = EventData::AgentStopping(AgentStopping { outcome, reason });
                let event = EventDraft { agent: Some(agent.id), task: agent.task, data };
                tx.event_append(now, &event)?;
            }
            Ok(())
        }
    }
}
