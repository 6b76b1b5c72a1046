//! Context of a tool call: caller, time, settings and record.

use model::{AgentId, TaskId, Timestamp};
use store::{Agent, EventDraft, Sender, Session, StoreError, Task, Tx};
use wire::event::EventData;

use crate::call::tool::ToolDef;
use crate::core::error::ToolError;
use crate::core::settings::Settings;

pub(crate) use crate::core::record::{find_agent, find_task, fresh, task_of};

/// Tools of a loop's planning iteration, whatever its role allows.
pub(crate) const PLANNING: [&str; 3] =
    ["mcp__session__task-add", "mcp__session__task-list", "mcp__session__iteration-summary"];

/// Caller of a tool, from its credential and the record.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The agent, or the one in whose name the operator acts; nobody is the operator as such
    pub agent: Option<Agent>,
    /// True for the operator
    pub by_operator: bool,
}

impl Caller {
    /// The agent's id.
    pub fn id(&self) -> Option<AgentId> {
        self.agent.as_ref().map(|agent| agent.id)
    }

    /// The calling agent, or an error that says that only agents can do this.
    pub fn agent(&self) -> Result<&Agent, ToolError> {
        self.agent.as_ref().ok_or_else(|| {
            ToolError::wrong_state("the operator is not an agent")
                .hint("name the agent to act as with `--as <agent>`, or `agentId` in the request")
        })
    }

    /// The session it works in: the loop it was started by, else `default`.
    pub fn session(&self) -> &str {
        self.agent.as_ref().and_then(|agent| agent.session.as_deref()).unwrap_or("default")
    }

    /// The loop and the iteration whose own agent it is. Those it drafts work in the iteration too, and are not it.
    pub(crate) fn iteration(&self) -> Option<(&str, u32)> {
        let agent = self.agent.as_ref().filter(|agent| agent.parent.is_none())?;
        Some((agent.session.as_deref()?, agent.iteration?))
    }

    /// The iteration of its session in which it works.
    pub(crate) fn iteration_of(&self, session: &Session) -> u32 {
        self.agent.as_ref().and_then(|agent| agent.iteration).unwrap_or(session.iteration)
    }

    /// The sender of mail that it writes.
    pub(crate) fn sender(&self) -> Sender {
        let agent = self.agent.as_ref();
        agent.map_or(Sender::Human, |agent| Sender::Agent(agent.id, agent.category.clone()))
    }

    /// True if it may use a tool.
    pub fn may(&self, settings: &Settings, tool: &str) -> bool {
        match &self.agent {
            None => self.by_operator,
            Some(_)
                if self.iteration().is_some_and(|(_, number)| number == 0)
                    && !PLANNING.contains(&tool) =>
            {
                false
            }
            Some(agent) => settings.permits(agent, tool),
        }
    }
}

impl Caller {
    /// Checks that it may use a tool, and says it in the words of the office where it may not.
    pub(crate) fn check_may(&self, settings: &Settings, tool: &str) -> Result<(), ToolError> {
        if self.may(settings, tool) {
            return Ok(());
        }
        let kind = self.agent.as_ref().map_or_else(
            || "OPERATOR".to_owned(),
            |agent| model::AgentType::of_category(&agent.category).to_string(),
        );
        Err(ToolError::denied(format!("Tool '{tool}' is not allowed for agent type '{kind}'")))
    }

    /// True if a tool is listed for it: permitted, and not too deep.
    pub fn is_offered(&self, settings: &Settings, tool: &ToolDef) -> bool {
        let too_deep = self.agent.as_ref().is_some_and(|own| own.depth >= settings.limits.depth);
        self.may(settings, tool.name) && !(too_deep && tool.starts_agents)
    }
}

/// Context of a reading tool.
#[derive(Debug)]
pub(crate) struct ReadCx<'a> {
    /// The record
    pub(crate) tx: &'a Tx<'a>,
    /// Caller
    pub(crate) caller: &'a Caller,
    /// Settings in force
    pub(crate) settings: &'a Settings,
    /// Current time
    pub(crate) now: Timestamp,
}

/// Context of a writing tool.
#[derive(Debug)]
pub(crate) struct WriteCx<'a, 't> {
    /// The record
    pub(crate) tx: &'a mut Tx<'t>,
    /// Caller
    pub(crate) caller: &'a Caller,
    /// Settings in force
    pub(crate) settings: &'a Settings,
    /// Current time
    pub(crate) now: Timestamp,
}

impl WriteCx<'_, '_> {
    /// Records an event of the caller, in the same transaction.
    pub(crate) fn tell(&mut self, task: Option<TaskId>, data: EventData) -> Result<(), ToolError> {
        let event = EventDraft { agent: self.caller.id(), task, data };
        self.tx.event_append(self.now, &event)?;
        Ok(())
    }
}

/// The task as its reader may see it: exactly for the agent that it was given to, else without secrets.
pub(crate) fn task_for(tx: &Tx<'_>, caller: &Caller, task: Task) -> Result<Task, StoreError> {
    let Some(agent) = &caller.agent else { return Ok(task) };
    let is_given = agent.task == Some(task.id)
        || task.assigned_agent == Some(agent.id)
        || task.state.claim().is_some_and(|claim| claim.holder == agent.id);
    if is_given { tx.task_exact(task) } else { Ok(task) }
}
