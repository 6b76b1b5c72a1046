//! What happened to a task, in words.

use std::collections::HashMap;

use model::agent::AgentState;
use model::event::EventKind;
use model::{AgentId, TaskRef, TaskStateName};
use store::{Agent, Event, Tx};
use wire::tasks::{HistoryEntry, TaskHistory};

use crate::call::cx::find_task;
use crate::core::engine::Engine;
use crate::core::error::ToolError;
use crate::views::mail::short;

/// So many events before a page are looked at for what was before it: remarks do not say how a task stood.
const EARLIER: u32 = 25;

impl Engine {
    /// What happened to a task, the newest first; nought is from the newest on.
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
    for (at, event) in found.items.iter().take(shown).enumerate() {
        let earlier =
            found.items.iter().skip(at + 1).find_map(|event| event.data["priority"].as_i64());
        history.push(names.entry(event, earlier)?);
    }
    let next_cursor = if more { history.last().map(|entry| entry.number) } else { None };
    Ok(TaskHistory { history, next_cursor })
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

    fn entry(&mut self, event: &Event, earlier: Option<i64>) -> Result<HistoryEntry, ToolError> {
        let who = self.name(event.agent)?;
        let mut comment = None;
        let text = match event.kind {
            EventKind::TaskCreated => format!("created by {who}"),
            EventKind::TaskAssigned => {
                let to = event.data["assignedAgentId"].as_str().and_then(|id| id.parse().ok());
                let to = match to {
                    Some(id) => self.name(Some(id))?,
                    None => "an agent".to_owned(),
                };
                format!("given to {to} by {who}")
            }
            EventKind::TaskCommented => {
                let number = event.data["commentId"].as_i64().unwrap_or_default();
                comment = self.tx.comment_get(number)?.map(|comment| comment.body);
                format!("comment by {who}")
            }
            _ => self.change(event, earlier, &who)?,
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
        earlier: Option<i64>,
        who: &str,
    ) -> Result<String, ToolError> {
        let state = |key: &str| event.data[key].as_str().and_then(TaskStateName::parse);
        let (Some(from), Some(to)) = (state("from"), state("to")) else {
            return Ok(format!("changed by {who}"));
        };
        let priority = event.data["priority"].as_i64();
        let raised = match (earlier, priority) {
            (Some(earlier), Some(now)) if earlier != now => {
                Some(format!("priority changed from {earlier} to {now}"))
            }
            _ => None,
        };
        if from == to {
            let otherwise = match earlier {
                Some(_) => "what it waits for was changed",
                None => "its priority or what it waits for was changed",
            };
            let what = raised.unwrap_or_else(|| otherwise.to_owned());
            return Ok(format!("{what} by {who}"));
        }
        let mut text = match self.ended_then(event, to)? {
            Some(outcome) => format!("{who} ended, {outcome}: free again"),
            None => moved((from, to), event.agent, who),
        };
        if let Some(reason) = event.data["reason"].as_str() {
            text = format!("{text}: {reason}");
        }
        Ok(match raised {
            Some(raised) => format!("{text}; {raised}"),
            None => text,
        })
    }

    /// How the agent ended that gave a task back by ending.
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
fn moved((from, to): (TaskStateName, TaskStateName), by: Option<AgentId>, who: &str) -> String {
    match (to, by) {
        (TaskStateName::InProgress, Some(_)) => match from {
            TaskStateName::Pending | TaskStateName::Assigned => format!("claimed by {who}"),
            TaskStateName::Review => format!("sent back from review by {who}"),
            _ => format!("taken up again by {who}"),
        },
        (TaskStateName::Review, Some(_)) => format!("handed in for review by {who}"),
        (TaskStateName::Completed, _) => format!("completed by {who}"),
        (TaskStateName::Cancelled, _) => format!("cancelled by {who}"),
        (TaskStateName::Failed, _) => format!("declared failed by {who}"),
        (TaskStateName::Blocked, _) => format!("held up by {who}"),
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
