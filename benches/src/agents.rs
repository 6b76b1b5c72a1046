//! Every figure of agents that run.

use std::path::Path;

use anyhow::Result;

use crate::Scale;
use crate::crew::Crew;
use crate::drafts::{self, DraftingCost};
use crate::rest::{self, RestingCost, Supervisor};
use crate::waits::{self, WaitingCost};
use crate::wire::Endpoint;

/// So many agents may run at once while many are started; the rest queue.
const MAX_RUNNING_AGENTS: u32 = 64;

/// What agents cost.
#[derive(Debug)]
pub(crate) struct AgentCost {
    /// Their start
    pub(crate) drafts: DraftingCost,
    /// Their supervisors
    pub(crate) supervisor: Supervisor,
    /// Their rest
    pub(crate) rest: RestingCost,
    /// Those who wait for them
    pub(crate) waits: Vec<WaitingCost>,
}

/// Measures all of it.
pub(crate) async fn measure(program: &Path, scale: &Scale) -> Result<AgentCost> {
    let crew = Crew::start(program, MAX_RUNNING_AGENTS).await?;
    let drafts = drafts::measure(&crew, scale).await?;
    let supervisor = rest::supervisors(&crew).await?;
    crew.subject().stop().await?;

    // Each on a server of its own: what one has needed is not all given back before the next.
    let running = u32::try_from(scale.resting).unwrap_or(u32::MAX);
    let crew = Crew::start(program, running).await?;
    let (rest, agents) = rest::measure(&crew, scale).await?;
    let mut waits = vec![waits::measure(&crew, Endpoint::Execute, &agents, scale).await?];
    crew.subject().stop().await?;

    let crew = Crew::start(program, running).await?;
    let agents = crew.rest(scale.resting).await?;
    waits.push(waits::measure(&crew, Endpoint::Mcp, &agents, scale).await?);
    crew.subject().stop().await?;
    Ok(AgentCost { drafts, supervisor, rest, waits })
}
