//! Recovery: another supervisor takes the place of one that is lost.
//!
//! The request is an event. The old one is ended with its crew, what they were at goes back to everybody, and
//! when it is gone its successor is recorded in the transaction of its end, so that an epic never has two.

use model::agent::Outcome;
use model::event::EventKind;
use model::task::{TaskMove, TaskStateName};
use model::{AgentId, EpicId, Timestamp};
use store::{Agent, Event, EventDraft, Recipient, StopRequest, TaskFilter, Tx};
use wire::event::{EventData, SupervisorRecovered, SupervisorRecovering};

use super::{brief, is_open, supervisor_role};
use crate::call::cx::fresh;
use crate::core::error::ToolError;
use crate::core::settings::Settings;
use crate::crew::run::draft::beside;
use crate::crew::run::stop::stop_tree;
use crate::crew::run::{Draft, Drafted};
use crate::mail::outgoing::{self, OutgoingMail};
use crate::tasks::task_change;

/// Recoveries of an epic in [`WINDOW_SECONDS`] after which no more are started.
pub(crate) const MAX_RECOVERIES: usize = 3;
/// The time in which recoveries are counted.
pub(crate) const WINDOW_SECONDS: i64 = 600;
/// Number of recent recoveries considered.
const MAX_RECOVERIES_READ: u32 = 200;
/// Tasks released at once.
const TASKS: u32 = 500;

/// A requested recovery.
#[derive(Debug, Clone)]
pub(crate) struct Recovery {
    /// Supervisor to replace
    pub(crate) old: Agent,
    /// Its epic
    pub(crate) epic: EpicId,
    /// Requesting agent; `None` for the operator
    pub(crate) by: Option<AgentId>,
    /// Why
    pub(crate) reason: String,
}

/// Begins a recovery: says how many tasks are free again.
pub(crate) fn begin(
    tx: &mut Tx<'_>,
    settings: &Settings,
    request: &Recovery,
    now: Timestamp,
) -> Result<u32, ToolError> {
    let Recovery { old, epic, by, reason } = request;
    supervisor_role(settings)?;
    let asked = SupervisorRecovering { epic_id: *epic, by: *by, reason: reason.clone() };
    tell(tx, old, EventData::SupervisorRecovering(asked), now)?;
    let freed = free_tasks(tx, *epic, *by, now)?;
    let who = by.map_or_else(|| "the operator".to_owned(), |by| by.to_string());
    let title = tx.epic_get(*epic)?.map(|epic| epic.title).unwrap_or_default();
    let subject = format!("Supervisor {} is being replaced", old.id);
    let body = format!(
        "{who} has the supervisor {} of the epic `{epic}` ({title}) replaced: {reason}.\n\nIts crew ends with it, \
         {freed} tasks are free again, and what was in review stays there.",
        old.id,
    );
    outgoing::send(tx, OutgoingMail::about(old, Recipient::Human, subject, body), now)?;
    if old.ended_at().is_some() {
        replace(tx, settings, old, *by, now)?;
        return Ok(freed);
    }
    let reason = format!("replaced by {who}: {reason}");
    // Who has no process ends at once, and then its successor is there already.
    stop_tree(tx, settings, old.id, &StopRequest { outcome: Outcome::Killed, reason }, now)?;
    Ok(freed)
}

/// Continues a requested recovery after an agent's end; false if none was requested.
pub(super) fn follow_up(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    now: Timestamp,
) -> Result<bool, ToolError> {
    let Some(request) = wanted(tx, agent.id)? else { return Ok(false) };
    let by = match request.decode() {
        Some(EventData::SupervisorRecovering(asked)) => asked.by,
        _ => None,
    };
    match replace(tx, settings, agent, by, now) {
        Ok(_) => Ok(true),
        Err(error) if error.is_transient() => Err(error),
        // An end cannot be refused. Who could mend it is told.
        Err(error) => {
            let subject = format!("Supervisor {} could not be replaced", agent.id);
            let body = format!(
                "It has ended, and another one could not be started: {}. {}",
                error.message,
                error.suggestions.join("; ")
            );
            outgoing::send(tx, OutgoingMail::about(agent, Recipient::Human, subject, body), now)?;
            Ok(true)
        }
    }
}

/// The open request to replace an agent, if there is one.
pub(crate) fn wanted(tx: &Tx<'_>, agent: AgentId) -> Result<Option<Event>, ToolError> {
    let last = |kind| -> Result<Option<Event>, ToolError> {
        let events = tx.event_list_newest(kind, MAX_RECOVERIES_READ)?;
        Ok(events.into_iter().rev().find(|event| event.agent == Some(agent)))
    };
    let done = last(EventKind::SupervisorRecovered)?.map_or(0, |event| event.number);
    Ok(last(EventKind::SupervisorRecovering)?.filter(|request| request.number > done))
}

/// Successor of an agent, if there is one.
pub(crate) fn successor(tx: &Tx<'_>, agent: AgentId) -> Result<Option<AgentId>, ToolError> {
    let events = tx.event_list_newest(EventKind::SupervisorRecovered, MAX_RECOVERIES_READ)?;
    let found = events.into_iter().rev().find(|event| event.agent == Some(agent));
    Ok(found.and_then(|event| match event.decode()? {
        EventData::SupervisorRecovered(done) => Some(done.successor_id),
        _ => None,
    }))
}

/// Number of recent replacements of an epic's supervisor.
pub(crate) fn lately(tx: &Tx<'_>, epic: EpicId, now: Timestamp) -> Result<usize, ToolError> {
    let since = now.after_seconds(-WINDOW_SECONDS);
    let events = tx.event_list_newest(EventKind::SupervisorRecovering, MAX_RECOVERIES_READ)?;
    let of_epic = |event: &&Event| {
        let asked = Some(event).filter(|event| event.at > since).and_then(|event| event.decode());
        matches!(asked, Some(EventData::SupervisorRecovering(asked)) if asked.epic_id == epic)
    };
    Ok(events.iter().filter(of_epic).count())
}

/// Records an agent's successor, if the epic still needs one.
fn replace(
    tx: &mut Tx<'_>,
    settings: &Settings,
    old: &Agent,
    by: Option<AgentId>,
    now: Timestamp,
) -> Result<Option<Drafted>, ToolError> {
    let epic = old.epic.map(|epic| tx.epic_get(epic)).transpose()?.flatten();
    let Some(epic) = epic.filter(is_open) else { return Ok(None) };
    // The last of its crew to end may have held something.
    free_tasks(tx, epic.id, by, now)?;
    let draft = Draft {
        role: Some(supervisor_role(settings)?.name.clone()),
        prompt: brief::prompt(tx, &epic, None, Some(old))?,
        summary: Some(format!("leads {}", epic.title)),
        epic: Some(epic.id),
        ..Draft::default()
    };
    // Under the parent of the old one, so that it stays in the same hands; else under who wants it.
    let parent = match live(tx, old.parent)? {
        Some(parent) => Some(parent),
        None => live(tx, by)?,
    };
    let like = Agent { parent, ..old.clone() };
    let drafted = beside(tx, settings, &like, fresh(AgentId::from_bits)?, &draft, now)?;
    super::set_going(tx, &epic, by, now)?;
    let done = SupervisorRecovered { epic_id: epic.id, successor_id: drafted.id };
    tell(tx, old, EventData::SupervisorRecovered(done), now)?;
    Ok(Some(drafted))
}

/// An agent that is there and is not being ended.
fn live(tx: &Tx<'_>, id: Option<AgentId>) -> Result<Option<AgentId>, ToolError> {
    let Some(id) = id else { return Ok(None) };
    let ending = tx.run_get(id)?.is_some_and(|run| run.stop.is_some());
    Ok((tx.agent_is_live(id)? && !ending).then_some(id))
}

/// Frees the claimed tasks of an epic. Tasks in review stay:
/// that work is done.
fn free_tasks(
    tx: &mut Tx<'_>,
    epic: EpicId,
    by: Option<AgentId>,
    now: Timestamp,
) -> Result<u32, ToolError> {
    use TaskStateName as T;
    let states = vec![T::Assigned, T::InProgress, T::Blocked];
    let filter = TaskFilter { states, epic: Some(epic), session: None };
    let mut freed = 0;
    let mut after = 0;
    loop {
        let page = tx.task_page(&filter, after, TASKS)?;
        for mut task in page.items {
            after = task.number;
            task_change::apply(tx, &mut task, TaskMove::Release, (by, now))?;
            freed += 1;
        }
        if page.next.is_none() {
            return Ok(freed);
        }
    }
}

fn tell(tx: &mut Tx<'_>, agent: &Agent, data: EventData, now: Timestamp) -> Result<(), ToolError> {
    tx.event_append(now, &EventDraft { agent: Some(agent.id), task: None, data })?;
    Ok(())
}
