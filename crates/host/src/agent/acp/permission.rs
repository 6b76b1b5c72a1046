//! Permission checks: the role's lists, then the policy, then perhaps a person.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::tools::Tools;
use crate::agent::notes::{self, AsksNote};
use crate::agent::user_servers::covers;
use crate::agent::{Asks, Brief, Event, PermissionVerdict, Step, rpc};

/// Permission policy with the open questions.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Permissions {
    #[serde(with = "AsksNote")]
    asks: Asks,
    allowed: Vec<String>,
    refused: Vec<String>,
    open: BTreeMap<String, Question>,
    /// Tools refused since the last prompt
    missed: BTreeSet<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Question {
    id: Value,
    tool: String,
    /// The option to choose for yes
    yes: Option<String>,
    /// The option to choose for no
    no: Option<String>,
}

impl Permissions {
    pub(super) fn new(brief: &Brief) -> Self {
        Self {
            asks: brief.asks,
            allowed: brief.tools.clone().unwrap_or_default(),
            refused: brief.disallowed_tools.clone(),
            open: BTreeMap::new(),
            missed: BTreeSet::new(),
        }
    }

    /// It asks. The question tells of the tool what is known so far, perhaps no more than its id.
    pub(super) fn asked(
        &mut self,
        id: &Value,
        params: &Value,
        tools: &Tools,
        servers: &[String],
    ) -> Vec<Step> {
        let known = tools.get(&params["toolCall"]);
        let tool = known.map_or_else(|| "tool".to_owned(), |tool| tool.name.clone());
        let input = known.map_or_else(|| notes::input(params), |tool| tool.input.clone());
        let option = |kinds: &[&str]| {
            let options = params["options"].as_array().map_or(&[][..], Vec::as_slice);
            kinds.iter().find_map(|kind| {
                let option = options.iter().find(|option| option["kind"] == *kind)?;
                option["optionId"].as_str().map(str::to_owned)
            })
        };
        let question = Question {
            id: id.clone(),
            yes: option(&["allow_once"]),
            no: option(&["reject_once", "reject_always"]),
            tool,
        };
        match self.verdict(&question.tool, servers) {
            Asks::Allow => self.reply(question, &PermissionVerdict::Allow),
            Asks::Deny => self.reply(question, &PermissionVerdict::Deny(String::new())),
            Asks::Person => {
                let (request, tool) = (id.to_string(), question.tool.clone());
                self.open.insert(request.clone(), question);
                vec![Step::Saw(Event::Asked { request, tool, input })]
            }
        }
    }

    fn verdict(&self, tool: &str, servers: &[String]) -> Asks {
        let is_given = || {
            let toolset = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
            toolset.is_some_and(|(server, _)| servers.iter().any(|given| given == server))
        };
        let names = |list: &[String]| list.iter().any(|name| covers(name, tool));
        if names(&self.refused) {
            Asks::Deny
        } else if is_given() || names(&self.allowed) {
            Asks::Allow
        } else {
            self.asks
        }
    }

    pub(super) fn answer(&mut self, request: &str, verdict: &PermissionVerdict) -> Vec<Step> {
        let question = self.open.remove(request);
        question.map_or_else(Vec::new, |question| self.reply(question, verdict))
    }

    /// Allows only where that can be done for this once.
    fn reply(&mut self, question: Question, verdict: &PermissionVerdict) -> Vec<Step> {
        let Question { id, tool, yes, no } = question;
        if let (PermissionVerdict::Allow, Some(yes)) = (verdict, &yes) {
            return vec![Step::Say(choose(&id, Some(yes)))];
        }
        self.missed.insert(tool.clone());
        vec![Step::Say(choose(&id, no.as_deref())), Step::Saw(Event::Refused { tool })]
    }

    /// The prompt is called off: every open question is answered so, as the protocol wants it.
    pub(super) fn called_off(&mut self) -> Vec<Step> {
        let open = std::mem::take(&mut self.open);
        open.into_values().map(|question| Step::Say(choose(&question.id, None))).collect()
    }

    /// The prompt is answered: nobody waits any more. What it was refused meanwhile.
    pub(super) fn settled(&mut self) -> BTreeSet<String> {
        self.open.clear();
        std::mem::take(&mut self.missed)
    }
}

fn choose(id: &Value, option: Option<&str>) -> String {
    let outcome = match option {
        Some(option) => json!({ "outcome": "selected", "optionId": option }),
        None => json!({ "outcome": "cancelled" }),
    };
    rpc::answer(id, json!({ "outcome": outcome }))
}
