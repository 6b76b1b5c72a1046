//! Moves an agent from one state to the next: the one place that writes an agent's state and the event about it.
//!
//! `model::agent` decides which moves there are. A move that an agent's state refuses is logged and returned; a caller
//! that expects it asks for the state first, or says with [`unless_illegal`] that nothing depends on the move.

use model::Timestamp;
use model::agent::{AgentEvent, AgentState, IllegalEvent};
use store::{Agent, EventDraft, StoreError, Tx};
use wire::event::{AgentStateChanged, EventData};

use crate::core::error::ToolError;

/// Why an agent was not moved.
#[derive(Debug)]
pub(crate) enum MoveError {
    /// Its state refuses the move; the log has it
    Illegal(IllegalEvent),
    /// The record failed, or what belongs to the move
    Failed(ToolError),
}

impl From<ToolError> for MoveError {
    fn from(error: ToolError) -> Self {
        Self::Failed(error)
    }
}

impl From<StoreError> for MoveError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<MoveError> for ToolError {
    fn from(error: MoveError) -> Self {
        match error {
            MoveError::Illegal(illegal) => Self::wrong_state(illegal.to_string()),
            MoveError::Failed(error) => error,
        }
    }
}

/// Passes over a move that the agent's state refused, where the rest of the transaction stands without it.
pub(crate) fn unless_illegal(moved: Result<(), MoveError>) -> Result<(), ToolError> {
    match moved {
        Ok(()) | Err(MoveError::Illegal(_)) => Ok(()),
        Err(MoveError::Failed(error)) => Err(error),
    }
}

/// The state that follows, without moving the agent.
pub(crate) fn next_state(
    agent: &Agent,
    event: AgentEvent,
    now: Timestamp,
) -> Result<AgentState, MoveError> {
    agent.state.apply(event, now).map_err(|illegal| {
        let (id, state) = (agent.id, illegal.from);
        tracing::warn!(%id, %state, event = ?illegal.event, "agent not moved; its state refuses it");
        MoveError::Illegal(illegal)
    })
}

/// Moves an agent and appends `agent.state_changed`. An agent that is there already stays, without an event.
pub(crate) fn advance(
    tx: &mut Tx<'_>,
    agent: &mut Agent,
    event: AgentEvent,
    now: Timestamp,
) -> Result<(), MoveError> {
    let begins_attempt = matches!(event, AgentEvent::Dispatched | AgentEvent::Requeued);
    advance_with(tx, agent, event, now, |_, agent| {
        let until = match agent.state {
            AgentState::Limited { until } => Some(until),
            _ => None,
        };
        let (state, attempt) = (agent.state.name(), begins_attempt.then_some(agent.attempt));
        Ok(EventData::AgentStateChanged(AgentStateChanged { state, attempt, until }))
    })
}

/// Moves an agent, writes what belongs to the move, and appends the event whose payload `settle` gives. `settle` finds
/// the agent moved, and its own events come before.
pub(crate) fn advance_with(
    tx: &mut Tx<'_>,
    agent: &mut Agent,
    event: AgentEvent,
    now: Timestamp,
    settle: impl FnOnce(&mut Tx<'_>, &Agent) -> Result<EventData, ToolError>,
) -> Result<(), MoveError> {
    let to = next_state(agent, event, now)?;
    if to == agent.state {
        return Ok(());
    }
    tx.agent_advance(agent.id, &to, now)?;
    agent.state = to;
    let data = settle(tx, agent)?;
    tx.event_append(now, &EventDraft { agent: Some(agent.id), task: agent.task, data })?;
    Ok(())
}

#[cfg(test)]
mod tests;
