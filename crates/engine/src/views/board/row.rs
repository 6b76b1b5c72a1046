//! From a task of the record to its row on the board.

use std::collections::HashMap;

use model::agent::AgentState;
use model::{AgentStateName, Column, EpicId, TaskStateName};
use store::{Agent, BoardCard, Tx};
use wire::tasks::{EpicName, TaskAgent, TaskNeed, TaskQuestion, TaskReview, TaskRow};

use crate::core::error::ToolError;
use crate::core::names::short;
use crate::core::settings::Settings;
use crate::delivery::reviews;

/// Makes rows, and remembers what several of them have in common.
pub(super) struct Rows<'a> {
    tx: &'a Tx<'a>,
    settings: &'a Settings,
    epics: HashMap<EpicId, Option<EpicName>>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(tx: &'a Tx<'a>, settings: &'a Settings) -> Self {
        Self { tx, settings, epics: HashMap::new() }
    }

    /// The rows of these tasks, in their order.
    pub(super) fn all(&mut self, cards: Vec<BoardCard>) -> Result<Vec<TaskRow>, ToolError> {
        cards.into_iter().map(|card| self.row(card)).collect()
    }

    /// One task's row.
    pub(super) fn row(&mut self, card: BoardCard) -> Result<TaskRow, ToolError> {
        let column = card.column();
        let agent = self.agent_of(&card)?;
        let merge = match column {
            Column::InReview => self.tx.merge_of(card.id)?.filter(|merge| merge.ended_at.is_none()),
            _ => None,
        };
        Ok(TaskRow {
            column,
            epic: card.epic.map(|epic| self.epic(epic)).transpose()?.flatten(),
            needs: self.needs(&card)?,
            needed_by: self.tx.task_needed_by_count(card.number)?,
            agent: agent.map(|agent| self.agent(&agent, column)).transpose()?,
            merge: merge.map(|merge| merge.state),
            cost_usd: self.tx.task_cost(card.id)?.0.map(model::money::Usd::dollars),
            id: card.id,
            number: card.number,
            slug: card.slug,
            title: card.title,
            state: card.state.office(),
            stored_state: card.state,
            priority: card.priority,
            session: card.session,
            updated_at: card.updated_at,
        })
    }

    fn needs(&self, card: &BoardCard) -> Result<Vec<TaskNeed>, ToolError> {
        if card.needs == 0 {
            return Ok(Vec::new());
        }
        let mut needs = Vec::new();
        for (number, state) in self.tx.task_need_states(card.number)? {
            needs.push(TaskNeed { number, done: state.meets_dependency() });
        }
        Ok(needs)
    }

    fn epic(&mut self, id: EpicId) -> Result<Option<EpicName>, ToolError> {
        if let Some(known) = self.epics.get(&id) {
            return Ok(known.clone());
        }
        let name = self.tx.epic_get(id)?.map(|epic| EpicName { id, title: epic.title });
        self.epics.insert(id, name.clone());
        Ok(name)
    }

    /// Agent of a task: the live holder, else the newest one assigned. A started task also shows
    /// its ended holder, so that nobody waits for it.
    fn agent_of(&self, card: &BoardCard) -> Result<Option<Agent>, ToolError> {
        let holder = card.holder.map(|id| self.tx.agent_get(id)).transpose()?.flatten();
        if let Some(holder) = &holder
            && holder.ended_at().is_none()
        {
            return Ok(Some(holder.clone()));
        }
        if let Some(live) = self.tx.agent_on_task(card.id)? {
            return Ok(Some(live));
        }
        Ok(match card.state {
            TaskStateName::InProgress | TaskStateName::Review | TaskStateName::Blocked => holder,
            _ => None,
        })
    }

    fn agent(&self, agent: &Agent, column: Column) -> Result<TaskAgent, ToolError> {
        let state = agent.state.name();
        let since = match state {
            AgentStateName::Running => {
                let run = self.tx.agent_details(agent.id)?;
                run.and_then(|run| run.started_at).unwrap_or(agent.created_at)
            }
            _ => agent.ended_at().unwrap_or(agent.updated_at),
        };
        let limited_until = match &agent.state {
            AgentState::Limited { until } => Some(*until),
            _ => None,
        };
        let reviewed = state == AgentStateName::WaitingReview || column == Column::InReview;
        Ok(TaskAgent {
            id: agent.id,
            short: short(agent.id),
            role: agent.role.clone(),
            state,
            since,
            limited_until,
            asks: if state == AgentStateName::WaitingInput { self.asks(agent)? } else { None },
            review: if reviewed { self.review(agent)? } else { None },
        })
    }

    fn asks(&self, agent: &Agent) -> Result<Option<TaskQuestion>, ToolError> {
        let questions = self.tx.questions_of(agent.id)?;
        let Some(open) = questions.into_iter().rev().find(|asked| asked.answer.is_none()) else {
            return Ok(None);
        };
        let mail = self.tx.mail_get(open.mail)?;
        Ok(mail.map(|mail| TaskQuestion {
            mail_id: mail.id,
            subject: mail.subject,
            since: mail.created_at,
        }))
    }

    fn review(&self, agent: &Agent) -> Result<Option<TaskReview>, ToolError> {
        let (iteration, _, limits) = reviews::history(self.tx, self.settings, agent.id)?;
        let max = limits.max_iterations.saturating_add(limits.more);
        Ok((iteration > 0).then_some(TaskReview { iteration, max }))
    }
}
