//! What agents cost that do nothing.

use std::time::Duration;

use anyhow::Result;

use crate::Scale;
use crate::crew::Crew;
use crate::memory;
use crate::report::say;

/// So many supervisors are looked at.
pub(crate) const SUPERVISORS: usize = 20;

/// What resting agents cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RestingCost {
    /// Memory that the server needs more for them, in megabytes
    pub(crate) growth: f64,
    /// How much of one core the server uses, in hundredths
    pub(crate) load: f64,
}

/// What a supervisor costs, in megabytes: the most of those looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Supervisor {
    /// With the program's own pages, which all of them and the server share
    pub(crate) resident: f64,
    /// With what is shared counted once
    pub(crate) proportional: f64,
}

/// Looks at supervisors of agents that rest.
pub(crate) async fn supervisors(crew: &Crew) -> Result<Supervisor> {
    say("looking at supervisors at rest");
    let agents = crew.rest(SUPERVISORS).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut most = Supervisor { resident: 0.0, proportional: 0.0 };
    for agent in &agents {
        let pid = crew.supervisor(agent)?;
        most.resident = most.resident.max(memory::resident(pid)?);
        most.proportional = most.proportional.max(memory::proportional(pid)?);
    }
    crew.let_go(&agents).await?;
    Ok(most)
}

/// Has many agents rest, and looks at the server. They go on resting.
pub(crate) async fn measure(crew: &Crew, scale: &Scale) -> Result<(RestingCost, Vec<String>)> {
    say(&format!("having {} agents rest", scale.resting));
    let pid = crew.subject().pid();
    let before = memory::of(pid).await?;
    let agents = crew.rest(scale.resting).await?;
    let growth = memory::of(pid).await? - before;
    let load = memory::load(pid, scale.rest).await?;
    Ok((RestingCost { growth, load }, agents))
}
