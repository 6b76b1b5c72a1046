//! After a restart: the record's story against the machine's.
//!
//! An agent that is queued or limited waits on. One that was to be started and never was goes back into
//! the queue: the run's claim makes sure that it cannot start after all. Every other is handed to a
//! keeper, which finds it running and follows it, finds it ended and finishes it, or finds it gone.
//!
//! In a home that several servers share, the folder of a run may be on the machine of a server that owned the home
//! before. Nobody here can tell whether such an agent still runs, so it is lost and never started a second time.

use host::run::RunStatus;
use model::agent::{AgentEvent, AgentState, Outcome};
use model::{AgentId, Timestamp};
use store::{Agent, Run, StopRequest, Tx};

use super::finish::{Ending, finish};

use crate::call::cx::find_agent;
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::machine::folder_of;
use crate::core::settings::Settings;
use crate::crew::transition;

/// A live agent and its run, as a keeper is given them.
#[derive(Debug)]
pub(crate) struct SupervisedRun {
    pub(crate) agent: Agent,
    pub(crate) run: Run,
}

/// Result of comparing an agent's record with its run folder.
enum ReconciledAgent {
    /// Nothing of it runs, and nothing is to be done
    Waiting,
    /// It was to be started and never was
    NeverStarted,
    /// A keeper has to look after it
    Kept(Box<SupervisedRun>),
    /// Its run folder is on a machine whose server no longer owns the home
    Elsewhere(Box<Agent>, String),
}

/// Finds who is to be kept, and puts back into the queue who was never started.
pub(crate) async fn reconcile(engine: &Core) -> Result<Vec<SupervisedRun>, ToolError> {
    let mut kept = Vec::new();
    let mut again = Vec::new();
    for agent in engine.store.read(|tx| tx.agents_run())? {
        match look(engine, agent.id).await? {
            ReconciledAgent::Waiting => {}
            ReconciledAgent::NeverStarted => again.push(agent.id),
            ReconciledAgent::Kept(found) => kept.push(*found),
            ReconciledAgent::Elsewhere(agent, machine) => lose(engine, *agent, &machine).await?,
        }
    }
    let (settings, now) = (engine.settings(), engine.now());
    engine
        .store
        .write(move |tx| again.iter().try_for_each(|agent| requeue(tx, &settings, *agent, now)))
        .await?;
    Ok(kept)
}

/// Finds whether a single agent is to be kept. One that was never started is put back into the queue.
pub(crate) async fn take_up(
    engine: &Core,
    id: AgentId,
) -> Result<Option<SupervisedRun>, ToolError> {
    match look(engine, id).await? {
        ReconciledAgent::Waiting => Ok(None),
        ReconciledAgent::Elsewhere(agent, machine) => {
            lose(engine, *agent, &machine).await?;
            Ok(None)
        }
        ReconciledAgent::Kept(found) => Ok(Some(*found)),
        ReconciledAgent::NeverStarted => {
            let (settings, now) = (engine.settings(), engine.now());
            engine.store.write(move |tx| requeue(tx, &settings, id, now)).await?;
            Ok(None)
        }
    }
}

/// Compares the record of an agent with its run folder.
async fn look(engine: &Core, id: AgentId) -> Result<ReconciledAgent, ToolError> {
    let (agent, run) =
        engine.store.read(|tx| Ok::<_, ToolError>((tx.agent_get(id)?, tx.run_get(id)?)))?;
    let Some(agent) = agent.filter(|agent| agent.ended_at().is_none()) else {
        return Ok(ReconciledAgent::Waiting);
    };
    if matches!(agent.state, AgentState::Queued | AgentState::Limited { .. }) {
        return Ok(ReconciledAgent::Waiting);
    }
    // Its process has ended, and it waits for a review.
    if run.as_ref().is_some_and(|run| run.parked_at.is_some()) {
        return Ok(ReconciledAgent::Waiting);
    }
    let machine = run.as_ref().and_then(|run| run.machine.clone());
    if machine.as_deref() != engine.options.machine() {
        let machine = machine.unwrap_or_else(|| "the one that it was started on".to_owned());
        return Ok(ReconciledAgent::Elsewhere(Box::new(agent), machine));
    }
    let folder = folder_of(engine, &agent);
    let looked = engine.outside(move |_| {
        let standing = folder.standing().map_err(ToolError::internal)?;
        // A supervisor that lives is its keeper's business, whatever the files say.
        let never = standing == RunStatus::NotBegun
            && !folder.is_locked().map_err(ToolError::internal)?
            && (!folder.path().is_dir() || folder.give_up().map_err(ToolError::internal)?);
        Ok::<_, ToolError>((standing, never))
    });
    let (standing, never) = looked.await?;
    if never {
        tracing::info!(%id, "agent was never started; queued again");
        return Ok(ReconciledAgent::NeverStarted);
    }
    tracing::info!(%id, ?standing, "agent re-adopted");
    Ok(match run {
        Some(run) => ReconciledAgent::Kept(Box::new(SupervisedRun { agent, run })),
        None => ReconciledAgent::Waiting,
    })
}

/// Ends an agent whose run folder is on another machine.
async fn lose(engine: &Core, agent: Agent, machine: &str) -> Result<(), ToolError> {
    let (settings, now) = (engine.settings(), engine.now());
    let reason = format!("its machine {machine} no longer owns the home");
    tracing::warn!(id = %agent.id, machine, "agent of another machine is lost");
    let stop = StopRequest { outcome: Outcome::Lost, reason };
    let ending = Ending::of(&stop);
    engine.store.write(move |tx| finish(tx, &settings, &agent, &ending, now)).await
}

/// Puts an agent back into the queue, or ends it if that was asked for. Its next attempt has a number and a folder of
/// its own.
pub(crate) fn requeue(
    tx: &mut Tx<'_>,
    settings: &Settings,
    id: AgentId,
    now: Timestamp,
) -> Result<(), ToolError> {
    let mut agent = find_agent(tx, id)?;
    // It may have been stopped, or put there, since it was looked at.
    if agent.ended_at().is_some() || agent.state == AgentState::Queued {
        return Ok(());
    }
    if let Some(stop) = tx.run_get(id)?.and_then(|run| run.stop) {
        return finish(tx, settings, &agent, &Ending::of(&stop), now);
    }
    Ok(transition::advance(tx, &mut agent, AgentEvent::Requeued, now)?)
}
