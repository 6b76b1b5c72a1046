//! Agents that run elsewhere: enlisting and discharging them.

use model::agent::{AgentEvent, AgentState, Outcome};
use model::task::{Claim, TaskMove, TaskRef};
use model::{AgentId, EpicId, Timestamp};
use serde_json::json;
use store::{Agent, EventDraft, NewAgent, Tx};
use wire::event::{AgentCreated, AgentFinished, AgentStarted, EventData};

use crate::call::cx::{find_agent, find_task, fresh};
use crate::call::identity::hash_token;
use crate::core::error::ToolError;
use crate::core::settings::Budget;
use crate::crew::run::draft::{caps_of, find_role};
use crate::crew::run::finish::{self, Figures};
use crate::crew::run::{Draft, reserve};
use crate::crew::service::Crew;
use crate::crew::transition;
use crate::tasks::task_change;

/// Request to enlist an agent.
#[derive(Debug, Clone)]
pub struct Recruit {
    /// Role
    pub role: String,
    /// For which task
    pub task: Option<TaskRef>,
    /// In which epic
    pub epic: Option<EpicId>,
    /// Working where
    pub cwd: Option<String>,
    /// Under whom; nobody is the operator
    pub parent: Option<AgentId>,
}

/// An enlisted agent, with its token.
#[derive(Debug, Clone)]
pub struct Enlisted {
    /// The agent
    pub agent: AgentId,
    /// Its token; only its hash is kept
    pub token: String,
    /// Its category
    pub category: String,
}

impl Crew {
    /// Makes an enlisted agent.
    pub async fn enlist(&self, recruit: Recruit) -> Result<Enlisted, ToolError> {
        let settings = self.settings();
        let role = find_role(&settings, &recruit.role)?;
        let category = role.category.clone();
        let token = host::random::secret("adjag_").map_err(ToolError::internal)?;
        let id = fresh(AgentId::from_bits)?;
        let token_hash = hash_token(&token);
        let (engine, now) = (self.clone(), self.now());
        let joined = category.clone();
        self.store
            .write(move |tx| join(tx, &engine, &recruit, id, &joined, &token_hash, now))
            .await?;
        Ok(Enlisted { agent: id, token, category })
    }

    /// Ends an enlisted agent, and voids its token.
    pub async fn discharge(&self, id: AgentId, reason: String) -> Result<Agent, ToolError> {
        let (engine, now) = (self.clone(), self.now());
        let agent = self.store.write(move |tx| leave(tx, &engine, id, &reason, now)).await?;
        self.forget_agent(id);
        Ok(agent)
    }
}

fn join(
    tx: &mut Tx<'_>,
    engine: &Crew,
    recruit: &Recruit,
    id: AgentId,
    category: &str,
    token_hash: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    let settings = engine.settings();
    let parent = match recruit.parent {
        Some(parent) => {
            let parent = find_agent(tx, parent)?;
            if parent.ended_at().is_some() {
                return Err(ToolError::wrong_state(format!("agent `{}` has ended", parent.id)));
            }
            Some(parent)
        }
        None => None,
    };
    let task = recruit.task.as_ref().map(|name| find_task(tx, name)).transpose()?;
    if let Some(epic) = recruit.epic
        && tx.epic_get(epic)?.is_none()
    {
        return Err(ToolError::not_found(format!("there is no epic `{epic}`")));
    }
    let new = NewAgent {
        id,
        role: recruit.role.clone(),
        category: category.to_owned(),
        kind: "enlisted".to_owned(),
        parent: recruit.parent,
        depth: parent.as_ref().map_or(0, |parent| parent.depth + 1),
        task: task.as_ref().map(|task| task.id),
        epic: recruit.epic.or(task.as_ref().and_then(|task| task.epic)),
        session: None,
        iteration: None,
        state: AgentState::Running,
        cwd: recruit.cwd.clone(),
        token_hash: Some(token_hash.to_owned()),
    };
    tx.agent_insert(&new, now)?;
    let role = find_role(&settings, &recruit.role)?;
    let usual = if parent.is_none() { settings.root_budget } else { Budget::default() };
    let caps = caps_of(tx, &Draft::default(), task.as_ref(), Some(role), usual)?;
    let mut above = Vec::new();
    if let Some(parent) = parent {
        above = tx.agent_ancestors(&parent)?;
        above.insert(0, parent);
    }
    reserve::fund(tx, &settings, &new, &caps, &above)?;
    let (role, category, kind) = (new.role.clone(), new.category.clone(), new.kind.clone());
    let created = AgentCreated { role, category, kind, draft: None };
    let (role, category, kind) = (new.role.clone(), new.category.clone(), new.kind.clone());
    let started = AgentStarted { role, category, kind, attempt: None, folder: None };
    for data in [EventData::AgentCreated(created), EventData::AgentStarted(started)] {
        tx.event_append(now, &EventDraft { agent: Some(id), task: new.task, data })?;
    }
    if let Some(mut task) = task {
        tx.dispatch_begin(task.number, id, &new.role, now)?;
        // A free task is taken by any agent that asks for it; one that is held stays where it is.
        let free = task.state.name() == model::TaskStateName::Pending;
        if free {
            let claim = Claim { holder: id, attempt: 1, number: task.claim_number + 1 };
            task_change::apply(
                tx,
                &mut task,
                TaskMove::Start { claim: Some(claim) },
                (Some(id), now),
            )?;
        }
    }
    let input = json!({ "role": recruit.role, "task": recruit.task, "epic": recruit.epic,
        "cwd": recruit.cwd, "parent": recruit.parent });
    let output = json!({ "agentId": id });
    tx.audit_append(&engine.operator_row(
        "operator__enlist",
        Some(id),
        input.to_string(),
        &output,
    ))?;
    Ok(())
}

fn leave(
    tx: &mut Tx<'_>,
    engine: &Crew,
    id: AgentId,
    reason: &str,
    now: Timestamp,
) -> Result<Agent, ToolError> {
    let mut agent = find_agent(tx, id)?;
    if agent.kind != "enlisted" {
        return Err(ToolError::wrong_state(format!("agent `{id}` is run by Adjutant"))
            .hint(format!("`adjutant kill {id}` ends it, with all it started")));
    }
    let end = AgentEvent::Ended { outcome: Outcome::Succeeded, reason: reason.to_owned() };
    if agent.ended_at().is_some() {
        return Err(ToolError::wrong_state(format!("agent `{id}` has already ended")));
    }
    transition::advance_with(tx, &mut agent, end, now, |tx, agent| {
        let summary = json!({ "summary": reason }).to_string();
        tx.dispatch_end(id, "completed", Some(&summary), now)?;
        tx.mcp_session_delete_of(&id.to_string())?;
        release_tasks(tx, agent, now)?;
        let (state, reason) = (agent.state.name(), reason.to_owned());
        Ok(EventData::AgentFinished(AgentFinished { state, reason, totals: None }))
    })?;
    finish::charge_unmetered(tx, &engine.settings(), &agent, Figures::Whole, now)?;
    finish::followed(tx, &engine.settings(), &agent, now)?;
    let output = json!({ "agentId": id, "state": agent.state.name() });
    let input = json!({ "agentId": id, "reason": reason });
    tx.audit_append(&engine.operator_row(
        "operator__discharge",
        Some(id),
        input.to_string(),
        &output,
    ))?;
    Ok(agent)
}

/// Puts back what an agent held but did not finish, so that nothing is held by nobody.
fn release_tasks(tx: &mut Tx<'_>, agent: &Agent, now: Timestamp) -> Result<(), ToolError> {
    for mut task in tx.tasks_claimed_by(agent.id)? {
        // What is in review waits for a person, not for the agent that did it.
        if task.state.name() != model::TaskStateName::Review {
            task_change::apply(tx, &mut task, TaskMove::Release, (Some(agent.id), now))?;
        }
    }
    for mut task in tx.tasks_assigned_to(agent.id)? {
        task_change::apply(tx, &mut task, TaskMove::Release, (Some(agent.id), now))?;
    }
    Ok(())
}
