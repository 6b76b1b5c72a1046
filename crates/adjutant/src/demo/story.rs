//! Turns the server's events into a report: agents with their names, live agents, and noteworthy events.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use model::review::MergeState;
use model::{AgentId, AgentStateName, TaskId, TaskStateName};
use serde::Serialize;
use wire::agent_details::AgentDetails;
use wire::event::{AgentCreated, AgentFinished, EventData, EventPage, EventView};

use super::teller::Teller;
use crate::app::query;
use crate::cli_error::CliError;
use crate::client::{Answer, Client};
use crate::terminal::render::{dollars, line};

/// Seconds that a request waits for the next event.
const WAIT_SECONDS: u32 = 30;

/// Events so far.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// The number of the last event
    after: i64,
    /// Agents in order of appearance
    agents: Vec<NamedAgent>,
    /// The number of each task, as `TAS-12`
    tasks: BTreeMap<TaskId, String>,
    /// Agents that are still at work
    open: BTreeSet<AgentId>,
    /// Run folders of started agents, by their names
    folders: BTreeMap<String, PathBuf>,
    /// True if a human was asked something
    asked: bool,
    /// True if the lead failed, so that nobody looks after the others
    lost: bool,
    /// Ids of objects created by calls: mails, tasks and agents
    made: Vec<String>,
}

/// An agent by its name in the story: its role, with a number from the second on.
#[derive(Debug)]
struct NamedAgent {
    id: AgentId,
    name: String,
}

/// An agent at the end of the demonstration.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DemoAgent {
    /// Its id
    pub(super) id: AgentId,
    /// Name in the story
    pub(super) name: String,
    /// Its role
    pub(super) role: String,
    /// Final state
    pub(super) state: AgentStateName,
    /// Slug of its task
    pub(super) task: Option<String>,
    /// Cost in dollars; null if unknown
    pub(super) cost_usd: Option<f64>,
    /// Reason of its end
    pub(super) reason: Option<String>,
}

impl Story {
    /// The next events, as they come.
    pub(super) async fn next(&mut self, client: &Client) -> Result<Vec<EventView>, CliError> {
        let wait = Some(WAIT_SECONDS.to_string());
        let path =
            query("/api/events", [("after", Some(self.after.to_string())), ("waitSeconds", wait)]);
        let page: Answer<EventPage> = client.get(&path).await?;
        let events = page.into_value().events;
        self.after = events.last().map_or(self.after, |event| event.number);
        Ok(events)
    }

    /// True if every started agent has ended, or the run has failed.
    pub(super) fn is_over(&self) -> bool {
        self.lost || (!self.agents.is_empty() && self.open.is_empty())
    }

    /// The run of the agent that waits for the server's end, once that may come: the lead waits for a human,
    /// and two more are at work.
    pub(super) fn ready_for_the_worst(&self) -> Option<PathBuf> {
        let ready = self.asked && self.folders.contains_key("clerk");
        self.folders.get("runner").filter(|_| ready).cloned()
    }

    /// Ids of objects created by calls.
    pub(super) fn made(&self) -> &[String] {
        &self.made
    }

    /// Records an event, and tells of it.
    pub(super) fn hear(
        &mut self,
        event: &EventView,
        teller: &mut Teller<'_>,
    ) -> Result<(), CliError> {
        let (agent, task) = (event.agent_id, event.task_id);
        let data = event.decode().map_err(std::io::Error::other)?;
        let told = match &data {
            EventData::TaskCreated(data) => {
                self.tasks.insert(data.task_id, format!("TAS-{}", data.number));
                // The task of the lead itself comes with the lead.
                agent.map(|_| {
                    self.made.push(data.task_id.to_string());
                    format!("creates {} “{}”", self.task(task), line(&data.title))
                })
            }
            EventData::AgentCreated(data) => return self.drafted(event, data, teller),
            EventData::AgentStarted(data) => {
                let folder = PathBuf::from(data.folder.clone().unwrap_or_default());
                self.folders.insert(self.name(agent), folder);
                None
            }
            EventData::TaskUpdated(data) => {
                let task = self.task(task);
                Some(match data.to {
                    TaskStateName::InProgress => format!("takes {task}"),
                    TaskStateName::Pending => format!("leaves {task} to the next"),
                    TaskStateName::Review => format!("hands {task} in"),
                    state => format!("has {task} {}", state.stored()),
                })
            }
            EventData::TaskCommented(_) => Some(format!("remarks on {}", self.task(task))),
            EventData::MailSent(data) => {
                self.made.push(data.mail_id.to_string());
                self.asked |= data.is_for_human;
                let to = if data.is_for_human { None } else { data.to_agent_id };
                let write = if agent.is_none() { "write" } else { "writes" };
                Some(format!("{write} to {}: “{}”", self.name(to), line(&data.subject)))
            }
            EventData::DecisionLogged(data) => {
                Some(format!("notes a decision: “{}”", line(&data.title)))
            }
            EventData::ReviewRequested(_) => Some("asks for a review".to_owned()),
            EventData::ReviewFeedback(data) => {
                let verdict = data.kind.map_or("-", |kind| kind.name()).replace('_', " ");
                let coder = self.name(agent);
                let what = format!("tells the {coder}: {verdict}; it is merged into its worktree");
                return teller.say(&self.name(Some(data.reviewer_id)), &what);
            }
            EventData::MergeChanged(data) if data.state == MergeState::Merged => {
                let what = format!("merges {} into the epic's branch", self.task(task));
                return teller.say("adjutant", &what);
            }
            EventData::AgentStopping(data) => {
                let (who, why) = (self.name(agent), self.with_names(&line(&data.reason)));
                return teller.say("adjutant", &format!("stops {who}: {why}"));
            }
            EventData::AgentFinished(data) => {
                if let Some(agent) = agent {
                    self.open.remove(&agent);
                }
                let is_lead = self.name(agent) == "lead";
                self.lost |= is_lead && data.state != AgentStateName::Succeeded;
                Some(self.finished(data))
            }
            _ => None,
        };
        match told {
            Some(what) => teller.say(&self.name(agent), &what),
            None => Ok(()),
        }
    }

    /// Gives a drafted agent its name.
    fn drafted(
        &mut self,
        event: &EventView,
        data: &AgentCreated,
        teller: &mut Teller<'_>,
    ) -> Result<(), CliError> {
        let Some(id) = event.agent_id else { return Ok(()) };
        let role = &data.role;
        let is_same = |agent: &&NamedAgent| agent.name.split(' ').next() == Some(role.as_str());
        let same = self.agents.iter().filter(is_same).count();
        let name = if same == 0 { role.clone() } else { format!("{role} {}", same + 1) };
        self.agents.push(NamedAgent { id, name: name.clone() });
        self.open.insert(id);
        let task = self.task(event.task_id);
        let Some(parent) = data.draft.as_ref().and_then(|draft| draft.parent_id) else {
            return teller.say("you", &format!("start the {name}, for {task}"));
        };
        self.made.push(id.to_string());
        let again = if same == 0 { "" } else { " again" };
        if role == "reviewer" {
            let what = format!("starts a {role}{again}, in a fork of the branch");
            return teller.say("adjutant", &what);
        }
        teller.say(&self.name(Some(parent)), &format!("drafts the {role}{again}, for {task}"))
    }

    /// Describes an agent's end.
    fn finished(&self, data: &AgentFinished) -> String {
        let totals = data.totals.as_ref();
        let cost = totals.and_then(|totals| totals.cost_usd);
        let cost = cost.map_or_else(String::new, |cost| format!(" ({})", dollars(cost)));
        match data.state {
            AgentStateName::Succeeded => {
                let summary = totals.map_or_else(String::new, |totals| line(&totals.summary));
                format!("is done{cost}: {summary}")
            }
            AgentStateName::Failed => {
                format!("fails{cost}: {}", self.with_names(&line(&data.reason)))
            }
            state => format!("is gone, {state}{cost}"),
        }
    }

    /// Name of an agent; the human is `you`.
    fn name(&self, id: Option<AgentId>) -> String {
        let Some(id) = id else { return "you".to_owned() };
        let known = self.agents.iter().find(|agent| agent.id == id);
        known.map_or_else(|| id.to_string(), |agent| agent.name.clone())
    }

    fn task(&self, id: Option<TaskId>) -> String {
        let Some(id) = id else { return String::new() };
        self.tasks.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// A text with names instead of ids.
    fn with_names(&self, text: &str) -> String {
        let replaced =
            |text: String, agent: &NamedAgent| text.replace(&agent.id.to_string(), &agent.name);
        self.agents.iter().fold(text.to_owned(), replaced)
    }

    /// All agents, as they ended.
    pub(super) async fn crew(&self, client: &Client) -> Result<Vec<DemoAgent>, CliError> {
        let mut crew = Vec::new();
        for NamedAgent { id, name } in &self.agents {
            let details: Answer<AgentDetails> = client.get(&format!("/api/agents/{id}")).await?;
            let agent = details.into_value().agent;
            crew.push(DemoAgent {
                id: *id,
                name: name.clone(),
                role: agent.role,
                state: agent.state,
                task: agent.task_slug,
                cost_usd: agent.cost_usd,
                reason: agent.reason,
            });
        }
        Ok(crew)
    }
}
