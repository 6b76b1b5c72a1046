//! Places: at most a limit of agents run; the rest queue, the deepest first and then the oldest. An agent that
//! waits for its children, a review or a person takes no place, so that parents cannot starve the
//! children they wait for.

use model::agent::{AgentEvent, AgentState};
use model::task::{Claim, TaskMove, TaskStateName};
use model::{AgentId, TaskRef, Timestamp};
use store::{Agent, Tx};

use super::environment::StartGrant;
use super::options::{Claims, RunOptions};
use crate::call::cx::find_agent;
use crate::call::identity::hash_token;
use crate::core::error::ToolError;
use crate::crew::transition;
use crate::tasks::task_change;

/// An agent that is to start, with its token.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    /// The agent
    pub(crate) agent: AgentId,
    /// Secrets for its start
    pub(crate) grant: StartGrant,
}

/// Number of agents that may start now.
pub(crate) fn free_places(limit: u32, placed: &[AgentId], waits: impl Fn(AgentId) -> bool) -> u32 {
    let taken = placed.iter().filter(|agent| !waits(**agent)).count();
    limit.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX))
}

/// Records that an agent's turn has come; nothing where it has left the queue meanwhile.
pub(crate) fn begin(
    tx: &mut Tx<'_>,
    turn: &Turn,
    machine: Option<&str>,
    now: Timestamp,
) -> Result<Option<Agent>, ToolError> {
    let mut agent = find_agent(tx, turn.agent)?;
    if agent.state != AgentState::Queued {
        return Ok(None);
    }
    let Some(run) = tx.run_get(agent.id)? else { return Ok(None) };
    // The first attempt is number 1 from the beginning.
    agent.attempt += u32::from(run.started_at.is_some());
    tx.agent_begin(agent.id, agent.attempt, &hash_token(&turn.grant.token), now)?;
    let deadline = deadline(tx, &agent, run.ran_ms, now)?;
    tx.run_begin(agent.id, deadline, machine, now)?;
    // One whose request cannot be read ends with that when it is started.
    if RunOptions::of(&run).is_ok_and(|options| options.claims == Claims::Task) {
        claim(tx, &agent, now)?;
    }
    transition::advance(tx, &mut agent, AgentEvent::Dispatched, now)?;
    Ok(Some(agent))
}

/// When it must be over: by its own cap, what it ran before counted in, and by every ancestor's.
fn deadline(
    tx: &Tx<'_>,
    agent: &Agent,
    ran_ms: i64,
    now: Timestamp,
) -> Result<Option<Timestamp>, ToolError> {
    let own = tx.budget_get(agent.id)?.and_then(|budget| budget.caps.seconds).map(|seconds| {
        let millis = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000);
        now.after_millis(millis.saturating_sub(ran_ms))
    });
    let inherited = inherited_deadline(tx, agent)?;
    Ok(own.into_iter().chain(inherited).min())
}

/// Deadline of an enlisted agent. It has no process whose time could be counted, so its time
/// began when it was enlisted.
pub(crate) fn enlisted_deadline(
    tx: &Tx<'_>,
    agent: &Agent,
) -> Result<Option<Timestamp>, ToolError> {
    let own = enlisted_own_deadline(tx, agent)?;
    let inherited = inherited_deadline(tx, agent)?;
    Ok(own.into_iter().chain(inherited).min())
}

fn enlisted_own_deadline(tx: &Tx<'_>, agent: &Agent) -> Result<Option<Timestamp>, ToolError> {
    let seconds = tx.budget_get(agent.id)?.and_then(|budget| budget.caps.seconds);
    Ok(seconds
        .map(|seconds| agent.created_at.after_seconds(i64::try_from(seconds).unwrap_or(i64::MAX))))
}

/// The first deadline of those above an agent.
fn inherited_deadline(tx: &Tx<'_>, agent: &Agent) -> Result<Option<Timestamp>, ToolError> {
    let mut deadlines = Vec::new();
    for above in tx.agent_ancestors(agent)? {
        deadlines.extend(match tx.run_get(above.id)? {
            Some(run) => run.deadline_at,
            None => enlisted_own_deadline(tx, &above)?,
        });
    }
    Ok(deadlines.into_iter().min())
}

/// Claims its task, if that is free. A claimed task stays where it is.
fn claim(tx: &mut Tx<'_>, agent: &Agent, now: Timestamp) -> Result<(), ToolError> {
    let Some(task) = agent.task else { return Ok(()) };
    let Some(mut task) = tx.task_find(&TaskRef::Id(task))? else { return Ok(()) };
    let mine = task.state.claim().is_some_and(|claim| claim.holder == agent.id)
        || task.assigned_agent == Some(agent.id);
    let free = matches!(task.state.name(), TaskStateName::Pending | TaskStateName::Failed);
    let open = matches!(task.state.name(), TaskStateName::Assigned | TaskStateName::InProgress);
    if !(free || (mine && open)) {
        return Ok(());
    }
    let claim = Claim { holder: agent.id, attempt: agent.attempt, number: task.claim_number + 1 };
    let start = TaskMove::Start { claim: Some(claim) };
    task_change::apply(tx, &mut task, start, (Some(agent.id), now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_takes_no_place() {
        let agents: Vec<AgentId> = (0..3).map(AgentId::from_bits).collect();
        assert_eq!(free_places(2, &agents, |_| false), 0);
        assert_eq!(free_places(4, &agents, |_| false), 1);
        assert_eq!(free_places(2, &agents, |agent| agent != agents[2]), 1);
        assert_eq!(free_places(2, &[], |_| false), 2);
    }
}
