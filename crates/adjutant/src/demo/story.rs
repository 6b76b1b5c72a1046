//! From the server's events to a story: who is who, who is still at work, and what is worth telling.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::teller::Teller;
use crate::app::query;
use crate::cli_error::Trouble;
use crate::client::Client;
use crate::terminal::render::{field, money};

/// Seconds that a request waits for the next event.
const WAIT_SECONDS: u32 = 30;

/// Events so far.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// The number of the last event
    after: i64,
    /// Names of agents by id, in order of appearance
    names: Vec<(String, String)>,
    /// The number of each task, by its id
    tasks: BTreeMap<String, String>,
    /// Those who are still at work
    open: BTreeSet<String>,
    /// Where the runs of those who have started are, by their names
    folders: BTreeMap<String, PathBuf>,
    /// True if a human was asked something
    asked: bool,
    /// True if the lead failed, so that nobody looks after the others
    lost: bool,
    /// Objects created by calls: mails, tasks and agents
    made: Vec<String>,
}

impl Story {
    /// The next events, as they come.
    pub(super) async fn next(&mut self, client: &Client) -> Result<Vec<Value>, Trouble> {
        let wait = Some(WAIT_SECONDS.to_string());
        let path =
            query("/api/events", [("after", Some(self.after.to_string())), ("waitSeconds", wait)]);
        let mut page = client.get_json(&path).await?;
        let Value::Array(events) = page["events"].take() else { return Ok(Vec::new()) };
        let seen = events.last().and_then(|event| event["number"].as_i64());
        self.after = seen.unwrap_or(self.after);
        Ok(events)
    }

    /// True if every started agent has ended, or the run has failed.
    pub(super) fn is_over(&self) -> bool {
        self.lost || (!self.names.is_empty() && self.open.is_empty())
    }

    /// The run of the one who waits for the server's end, once that may come: the lead waits for a human,
    /// and two more are at work.
    pub(super) fn ready_for_the_worst(&self) -> Option<PathBuf> {
        let ready = self.asked && self.folders.contains_key("clerk");
        self.folders.get("runner").filter(|_| ready).cloned()
    }

    /// Name of an agent.
    pub(super) fn name_of(&self, id: &str) -> Option<&str> {
        self.names.iter().find(|(known, _)| known == id).map(|(_, name)| name.as_str())
    }

    /// Objects created by calls.
    pub(super) fn made(&self) -> &[String] {
        &self.made
    }

    /// Takes an event in, and tells of it.
    pub(super) fn hear(&mut self, event: &Value, teller: &mut Teller<'_>) -> Result<(), Trouble> {
        let (kind, data) = (event["kind"].as_str().unwrap_or_default(), &event["data"]);
        let (agent, task) = (text(event, "agentId"), text(event, "taskId"));
        let told = match kind {
            "task.created" => {
                self.tasks.insert(task.clone(), format!("TAS-{}", data["number"]));
                self.make(&agent, task.clone());
                // That of the lead itself comes with the lead.
                (!agent.is_empty())
                    .then(|| format!("creates {} “{}”", self.task(&task), field(data, "title")))
            }
            "agent.created" => return self.drafted(&agent, &task, data, teller),
            "agent.started" => {
                let folder = PathBuf::from(text(data, "folder"));
                self.folders.insert(self.who(&agent), folder);
                None
            }
            "task.updated" => {
                let task = self.task(&task);
                match data["to"].as_str().unwrap_or_default() {
                    "in_progress" => Some(format!("takes {task}")),
                    "pending" => Some(format!("leaves {task} to the next")),
                    "review" => Some(format!("hands {task} in")),
                    state => Some(format!("has {task} {state}")),
                }
            }
            "task.commented" => Some(format!("remarks on {}", self.task(&task))),
            "mail.sent" => {
                self.make("mail", text(data, "mailId"));
                let for_human = data["isForHuman"] == true;
                self.asked |= for_human;
                let to =
                    if for_human { "you".to_owned() } else { self.who(&text(data, "toAgentId")) };
                let write = if agent.is_empty() { "write" } else { "writes" };
                Some(format!("{write} to {to}: “{}”", field(data, "subject")))
            }
            "decision.logged" => Some(format!("notes a decision: “{}”", field(data, "title"))),
            "review.requested" => Some("asks for a review".to_owned()),
            "review.feedback" => {
                let reviewer = self.who(&text(data, "reviewerId"));
                let what = field(data, "type").replace('_', " ");
                let what = format!(
                    "tells the {}: {what}; it is merged into its worktree",
                    self.who(&agent)
                );
                return teller.say(&reviewer, &what);
            }
            "merge.changed" if data["state"] == "merged" => {
                let what = format!("merges {} into the epic's branch", self.task(&task));
                return teller.say("adjutant", &what);
            }
            "agent.stopping" => {
                let (who, why) = (self.who(&agent), self.named(&field(data, "reason")));
                return teller.say("adjutant", &format!("stops {who}: {why}"));
            }
            "agent.finished" => {
                self.open.remove(&agent);
                self.lost |= self.who(&agent) == "lead" && data["state"] != "succeeded";
                Some(self.finished(data))
            }
            _ => None,
        };
        match told {
            Some(what) => teller.say(&self.who(&agent), &what),
            None => Ok(()),
        }
    }

    /// Somebody was drafted, and gets a name.
    fn drafted(
        &mut self,
        agent: &str,
        task: &str,
        data: &Value,
        teller: &mut Teller<'_>,
    ) -> Result<(), Trouble> {
        let role = text(data, "role");
        let numbered = |name: &str| name.split(' ').next() == Some(role.as_str());
        let same = self.names.iter().filter(|(_, name)| numbered(name)).count();
        let name = if same == 0 { role.clone() } else { format!("{role} {}", same + 1) };
        self.names.push((agent.to_owned(), name.clone()));
        self.open.insert(agent.to_owned());
        let parent = text(data, "parentId");
        self.make(&parent, agent.to_owned());
        if parent.is_empty() {
            return teller.say("you", &format!("start the {name}, for {}", self.task(task)));
        }
        let again = if same == 0 { "" } else { " again" };
        if role == "reviewer" {
            let what = format!("starts a {role}{again}, in a fork of the branch");
            return teller.say("adjutant", &what);
        }
        let what = format!("drafts the {role}{again}, for {}", self.task(task));
        teller.say(&self.who(&parent), &what)
    }

    /// Describes an agent's end.
    fn finished(&self, data: &Value) -> String {
        let cost = money(&data["costUsd"]).map_or_else(String::new, |cost| format!(" ({cost})"));
        match data["state"].as_str().unwrap_or_default() {
            "succeeded" => format!("is done{cost}: {}", field(data, "summary")),
            "failed" => format!("fails{cost}: {}", self.named(&field(data, "reason"))),
            state => format!("is gone, {state}{cost}"),
        }
    }

    /// Remembers what came of a call; what was made without one has no maker.
    fn make(&mut self, maker: &str, id: String) {
        if !maker.is_empty() {
            self.made.push(id);
        }
    }

    fn who(&self, id: &str) -> String {
        if id.is_empty() {
            return "you".to_owned();
        }
        self.name_of(id).unwrap_or(id).to_owned()
    }

    fn task(&self, id: &str) -> String {
        self.tasks.get(id).cloned().unwrap_or_else(|| id.to_owned())
    }

    /// A text with names instead of ids.
    fn named(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (id, name)| text.replace(id, name))
    }

    /// Everybody, as they ended.
    pub(super) async fn crew(&self, client: &Client) -> Result<Vec<Value>, Trouble> {
        let mut crew = Vec::new();
        for (id, name) in &self.names {
            let agent = client.get_json(&format!("/api/agents/{id}")).await?;
            crew.push(json!({
                "id": id, "name": name, "role": agent["role"], "state": agent["state"],
                "task": agent["taskSlug"], "costUsd": agent["costUsd"], "reason": agent["reason"],
            }));
        }
        Ok(crew)
    }
}

/// A text of an event; an absent one is empty.
fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}
