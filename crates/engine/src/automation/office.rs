//! The office: an orchestrator above the supervisors of epics.
//!
//! A supervisor leads one epic and has no task of its own; an epic has one supervisor at a time. How a
//! supervisor is shows in its signs of life. One that is lost is [recovered](recover): its crew ends, what
//! they were at is free again, and another takes its place once it is gone.

pub(crate) mod brief;
pub(crate) mod recover;

use model::agent::{AgentState, Outcome};
use model::{AgentId, EpicId, EpicState, Timestamp};
use store::{Agent, Epic, Recipient, TaskFilter, Tx};
use wire::supervisors::HealthStatus;

use crate::core::error::ToolError;
use crate::core::settings::{Role, Settings};
use crate::crew::run::draft::find_role;
use crate::mail::outgoing::{self, OutgoingMail};
use crate::tasks::epic::advance;

/// The category of those who lead epics.
pub(crate) const SUPERVISOR: &str = "supervisor";
/// Category of the agents that look after supervisors.
const ORCHESTRATOR: &str = "orchestrator";

/// Health of a supervisor, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Health {
    /// Health
    pub(crate) status: HealthStatus,
    /// Minutes since its last activity
    pub(crate) minutes: i64,
    /// Explanation, if needed
    pub(crate) reason: Option<String>,
}

impl Health {
    /// Health of an agent, given its waiting calls and its allowed minutes of silence.
    pub(crate) fn of(agent: &Agent, waiting: Waiting, threshold: u32, now: Timestamp) -> Self {
        let minutes = now.millis_since(agent.last_active_at).max(0) / 60_000;
        let health = |status, reason| Self { status, minutes, reason };
        let waits = match &agent.state {
            AgentState::Ended { reason, .. } => {
                let reason = format!("{}: {reason}", agent.state.name());
                return health(HealthStatus::Ended, Some(reason));
            }
            AgentState::Queued => Some("it waits for a free slot".to_owned()),
            AgentState::Limited { until } => Some(format!("its model answers again at {until}")),
            AgentState::WaitingReview => Some("it waits for a review".to_owned()),
            AgentState::WaitingInput => Some("it waits for a person's answer".to_owned()),
            AgentState::Starting | AgentState::Running => (waiting == Waiting::ForOthers)
                .then(|| "it waits for another agent or for mail".to_owned()),
        };
        let is_late = minutes >= i64::from(threshold);
        match waits {
            Some(reason) => health(HealthStatus::Healthy, Some(reason)),
            None if is_late => {
                let reason = format!("no call and no output for {minutes} minutes");
                health(HealthStatus::Silent, Some(reason))
            }
            None => health(HealthStatus::Healthy, None),
        }
    }
}

/// Presence of a waiting call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// For another agent or for mail
    ForOthers,
    /// For nobody, as far as is known
    No,
}

/// An agent that leads epics, or why it is none.
pub(crate) fn find_supervisor(tx: &Tx<'_>, id: AgentId) -> Result<Agent, ToolError> {
    let agent = crate::call::cx::find_agent(tx, id)?;
    if agent.category == SUPERVISOR {
        return Ok(agent);
    }
    let error = format!("agent `{id}` is not a supervisor: its category is `{}`", agent.category);
    Err(ToolError::invalid(error)
        .detail("field", "agentId")
        .hint("`list_supervisors` lists live supervisors"))
}

/// An epic that can be worked on.
pub(crate) fn open_epic(tx: &Tx<'_>, id: EpicId) -> Result<Epic, ToolError> {
    let epic = crate::tasks::epic::find_epic(tx, id)?;
    if !is_open(&epic) {
        let error = format!("the epic `{id}` is {}: it needs no supervisor", epic.state.name());
        return Err(ToolError::conflict(error).detail("state", epic.state.name()));
    }
    Ok(epic)
}

/// True for an open epic.
pub(crate) const fn is_open(epic: &Epic) -> bool {
    !matches!(epic.state, EpicState::Completed | EpicState::Cancelled)
}

/// The role of those who lead epics.
pub(crate) fn supervisor_role(settings: &Settings) -> Result<&Role, ToolError> {
    let named = "`office.supervisorRole` in the configuration names the role that leads epics";
    let name = &settings.office.supervisor_role;
    let role = find_role(settings, name).map_err(|error| error.hint(named))?;
    if role.category != SUPERVISOR {
        let error =
            format!("the role `{name}` is of category `{}`, not `supervisor`", role.category);
        return Err(ToolError::conflict(error).hint(named));
    }
    Ok(role)
}

/// Notes that an epic is being worked on, if it was only planned.
pub(crate) fn set_going(
    tx: &mut Tx<'_>,
    epic: &Epic,
    by: Option<AgentId>,
    now: Timestamp,
) -> Result<(), ToolError> {
    if epic.state != EpicState::Planning {
        return Ok(());
    }
    advance(tx, epic, EpicState::InProgress, by, now)
}

/// Handles an agent's end: a new supervisor takes its place if requested, otherwise the agent that
/// looks after supervisors hears of it.
pub(crate) fn ended(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    now: Timestamp,
) -> Result<(), ToolError> {
    let (SUPERVISOR, Some(epic)) = (agent.category.as_str(), agent.epic) else { return Ok(()) };
    if recover::follow_up(tx, settings, agent, now)? {
        return Ok(());
    }
    let AgentState::Ended { outcome, reason, .. } = &agent.state else { return Ok(()) };
    let Some(epic) = tx.epic_get(epic)?.filter(is_open) else { return Ok(()) };
    let open = open_tasks(tx, epic.id)?;
    if *outcome == Outcome::Succeeded || open == 0 {
        return Ok(());
    }
    let to = looks_after(tx, agent)?;
    let subject = format!("Supervisor {} has ended: {}", agent.id, agent.state.name());
    let body = format!(
        "The supervisor {} of the epic `{}` ({}) has ended: {reason}.\n\n{open} tasks of the epic are open \
         and nobody leads it. Another one is started with `recover_supervisor` (`agentId` {}), or by a person \
         with `adjutant supervisors recover {}`.",
        agent.id, epic.id, epic.title, agent.id, agent.id,
    );
    outgoing::send(tx, OutgoingMail::about(agent, to, subject, body), now)?;
    Ok(())
}

/// Counts open tasks of an epic.
pub(crate) fn open_tasks(tx: &Tx<'_>, epic: EpicId) -> Result<i64, ToolError> {
    let counts = tx.task_counts(epic)?;
    let open = |(state, _): &&(model::TaskStateName, i64)| {
        use model::TaskStateName as T;
        !matches!(state, T::Completed | T::Failed | T::Cancelled)
    };
    Ok(counts.iter().filter(open).map(|(_, tasks)| tasks).sum())
}

/// Recipient of a supervisor's alarms: the orchestrator above it, else any live one, else the human.
fn looks_after(tx: &Tx<'_>, agent: &Agent) -> Result<Recipient, ToolError> {
    let is_there = |above: &Agent| above.category == ORCHESTRATOR && above.ended_at().is_none();
    let above = tx.agent_ancestors(agent)?.into_iter().find(is_there);
    let found = match above {
        Some(above) => Some(above),
        None => tx.orchestrator_live()?,
    };
    Ok(found.map_or(Recipient::Human, |found| Recipient::Agent(found.id)))
}

/// All tasks of an epic, as many as there are at one moment.
pub(crate) fn tasks_of(
    tx: &Tx<'_>,
    epic: EpicId,
    most: u32,
) -> Result<(Vec<store::Task>, bool), ToolError> {
    let filter = TaskFilter { epic: Some(epic), ..TaskFilter::default() };
    let page = tx.task_page(&filter, 0, most)?;
    Ok((page.items, page.next.is_some()))
}

#[cfg(test)]
mod tests;
