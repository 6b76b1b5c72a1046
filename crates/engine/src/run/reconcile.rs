//! After a restart: the record's story against the machine's.
//!
//! An agent that is queued or limited waits on. One that was to be started and never was goes back into
//! the queue: the run's claim makes sure that it cannot start after all. Every other is handed to a
//! keeper, which finds it running and follows it, finds it ended and finishes it, or finds it gone.

use host::run::Standing;
use model::agent::{AgentEvent, AgentState};
use model::event::EventKind;
use model::{AgentId, Timestamp};
use serde_json::json;
use store::{Agent, EventDraft, Run, Tx};

use super::launch::folder_of;
use crate::engine::Engine;
use crate::error::ToolError;

/// Finds who is to be kept, and puts back into the queue who was never started.
pub(crate) async fn reconcile(engine: &Engine) -> Result<Vec<(Agent, Run)>, ToolError> {
    let mut kept = Vec::new();
    let mut again = Vec::new();
    for agent in engine.store.read(|tx| tx.agents_run())? {
        if matches!(agent.state, AgentState::Queued | AgentState::Limited { .. }) {
            continue;
        }
        let run = engine.store.read(|tx| tx.run_get(agent.id))?;
        // Its process has ended, and it waits for a review.
        if run.as_ref().is_some_and(|run| run.parked_at.is_some()) {
            continue;
        }
        let folder = folder_of(engine, &agent);
        let standing = folder.standing().map_err(ToolError::internal)?;
        let never = standing == Standing::NotBegun
            && (!folder.path().is_dir() || folder.give_up().map_err(ToolError::internal)?);
        if never {
            tracing::info!(id = %agent.id, "was to be started and never was");
            again.push(agent.id);
        } else if let Some(run) = run {
            tracing::info!(id = %agent.id, ?standing, "is taken up");
            kept.push((agent, run));
        }
    }
    let now = engine.now();
    engine
        .store
        .write(move |tx| again.iter().try_for_each(|agent| requeue(tx, *agent, now)))
        .await?;
    Ok(kept)
}

/// Puts an agent back into the queue. Its next attempt has a number and a folder of its own.
pub(crate) fn requeue(tx: &mut Tx<'_>, id: AgentId, now: Timestamp) -> Result<(), ToolError> {
    let Some(mut agent) = tx.agent_get(id)? else { return Ok(()) };
    let Ok(state) = agent.state.apply(AgentEvent::Requeued, now) else { return Ok(()) };
    agent.state = state;
    tx.agent_advance(id, &agent.state, now)?;
    let data = json!({ "state": agent.state.name(), "attempt": agent.attempt });
    let kind = EventKind::AgentStateChanged;
    tx.event_append(now, &EventDraft { kind, agent: Some(id), task: agent.task, data })?;
    Ok(())
}
