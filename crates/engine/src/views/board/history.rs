//! History of a task, as text.

use std::collections::HashMap;

use model::agent::AgentState;
use model::{AgentId, Priority, TaskRef, TaskStateName};
use store::{Agent, Event, Tx};
use wire::event::{EventData, TaskChange};
use wire::tasks::{HistoryEntry, TaskHistory};

use crate::call::cx::find_task;
use crate::core::error::ToolError;
use crate::core::names::short;
use crate::views::service::Views;

/// Earlier events read to find the state before a page.
const EARLIER: u32 = 25;

impl Views {
    /// Lists the history of a task, newest first; 0 starts at the newest.
    pub async fn task_history(
        &self,
        task: TaskRef,
        after: i64,
        limit: u32,
    ) -> Result<TaskHistory, ToolError> {
        let looking = self.store.scan(move |tx| {
            let task = find_task(tx, &task)?;
            let before = if after == 0 { i64::MAX } else { after };
            page(tx, task.id, before, limit)
        });
        looking.await
    }
}

/// A page of a task's history, from before an event's number.
pub(super) fn page(
    tx: &Tx<'_>,
    task: model::TaskId,
    before: i64,
    limit: u32,
) -> Result<TaskHistory, ToolError> {
    // More than is shown: what changed is told by comparing with what was before, which not every event says.
    let found = tx.task_history(task, before, limit.saturating_add(EARLIER))?;
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = found.items.len() > shown;
    let mut names = Names { tx, known: HashMap::new() };
    let mut history = Vec::new();
    let decoded: Vec<Option<EventData>> = found.items.iter().map(Event::decode).collect();
    for (at, (event, data)) in found.items.iter().zip(&decoded).take(shown).enumerate() {
        let earlier = decoded.iter().skip(at + 1).flatten().find_map(priority_after);
        history.push(names.entry(event, data.as_ref(), earlier)?);
    }
    let next_cursor = if more { history.last().map(|entry| entry.number) } else { None };
    Ok(TaskHistory { history, next_cursor })
}

/// The priority of a task after an event, where the event says it.
fn priority_after(data: &EventData) -> Option<Priority> {
    match data {
        EventData::TaskCreated(created) => Some(created.priority),
        EventData::TaskAssigned(change) | EventData::TaskUpdated(change) => Some(change.priority),
        _ => None,
    }
}

/// Agents by id, each looked up once.
struct Names<'a> {
    tx: &'a Tx<'a>,
    known: HashMap<AgentId, Option<Agent>>,
}

impl Names<'_> {
    fn agent(&mut self, id: AgentId) -> Result<Option<&Agent>, ToolError> {
        if !self.known.contains_key(&id) {
            let found = self.tx.agent_get(id)?;
            self.known.insert(id, found);
        }
        Ok(self.known.get(&id).and_then(Option::as_ref))
    }

    fn name(&mut self, id: Option<AgentId>) -> Result<String, ToolError> {
        let Some(id) = id else { return Ok("the operator".to_owned()) };
        Ok(match self.agent(id)? {
            Some(agent) => format!("{} {}", agent.role, short(id)),
            None => format!("agent {}", short(id)),
        })
    }

    fn entry(
        &mut self,
        event: &Event,
        data: Option<&EventData>,
        earlier: Option<Priority>,
    ) -> Result<HistoryEntry, ToolError> {
        let who = self.name(event.agent)?;
        let mut comment = None;
        let text = match data {
            Some(EventData::TaskCreated(_)) => format!("created by {who}"),
            Some(EventData::TaskAssigned(change)) => {
                let to = match change.assigned_agent_id {
                    Some(id) => self.name(Some(id))?,
                    None => "an agent".to_owned(),
                };
                format!("assigned to {to} by {who}")
            }
            Some(EventData::TaskCommented(added)) => {
                comment = self.tx.comment_get(added.comment_id)?.map(|comment| comment.body);
                format!("comment by {who}")
            }
            Some(EventData::TaskUpdated(change)) => self.change(event, change, earlier, &who)?,
            _ => format!("changed by {who}"),
        };
        Ok(HistoryEntry {
            number: event.number,
            at: event.at,
            kind: event.kind,
            text,
            by: event.agent,
            comment,
        })
    }

    fn change(
        &mut self,
        event: &Event,
        change: &TaskChange,
        earlier: Option<Priority>,
        who: &str,
    ) -> Result<String, ToolError> {
        let (from, to, now) = (change.from, change.to, change.priority);
        let raised = earlier.filter(|earlier| *earlier != now).map(|earlier| {
            format!("priority changed from {} to {}", earlier.number(), now.number())
        });
        if from == to {
            let otherwise = match earlier {
                Some(_) => "dependencies changed",
                None => "its priority or dependencies changed",
            };
            let what = raised.unwrap_or_else(|| otherwise.to_owned());
            return Ok(format!("{what} by {who}"));
        }
        let mut text = match self.ended_then(event, to)? {
            Some(outcome) => format!("{who} ended, {outcome}: released"),
            None => moved(from, to, event.agent, who),
        };
        if let Some(reason) = &change.reason {
            text = format!("{text}: {reason}");
        }
        Ok(match raised {
            Some(raised) => format!("{text}; {raised}"),
            None => text,
        })
    }

    /// Outcome of the agent whose end released a task.
    fn ended_then(
        &mut self,
        event: &Event,
        to: TaskStateName,
    ) -> Result<Option<String>, ToolError> {
        let Some(id) = event.agent.filter(|_| to == TaskStateName::Pending) else {
            return Ok(None);
        };
        let at = event.at;
        Ok(self.agent(id)?.and_then(|agent| match &agent.state {
            AgentState::Ended { outcome, at: ended, .. } if *ended == at => {
                Some(outcome.state().to_string().replace('_', " "))
            }
            _ => None,
        }))
    }
}

/// A move in words.
fn moved(from: TaskStateName, to: TaskStateName, by: Option<AgentId>, who: &str) -> String {
    match (to, by) {
        (TaskStateName::InProgress, Some(_)) => match from {
            TaskStateName::Pending | TaskStateName::Assigned => format!("claimed by {who}"),
            TaskStateName::Review => format!("sent back from review by {who}"),
            _ => format!("reopened by {who}"),
        },
        (TaskStateName::Review, Some(_)) => format!("submitted for review by {who}"),
        (TaskStateName::Completed, _) => format!("completed by {who}"),
        (TaskStateName::Cancelled, _) => format!("cancelled by {who}"),
        (TaskStateName::Failed, _) => format!("marked failed by {who}"),
        (TaskStateName::Blocked, _) => format!("blocked by {who}"),
        _ => format!("moved from {} to {} by {who}", words(from), words(to)),
    }
}

/// A state as people read it.
const fn words(state: TaskStateName) -> &'static str {
    match state {
        TaskStateName::Assigned => "assigned",
        TaskStateName::Failed => "failed",
        TaskStateName::Cancelled => "cancelled",
        _ => state.column(0).words(),
    }
}
