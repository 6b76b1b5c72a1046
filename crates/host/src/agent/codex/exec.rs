//! `codex exec --json`: one prompt, one turn, no messages in between.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::items::{self, Tools};
use crate::agent::credentials::Refusals;
use crate::agent::notes::{self, Tokens};
use crate::agent::outcome::Outcome;
use crate::agent::{Brief, Event, Step};
use crate::run::{OutputLine, Stream};

/// State of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Exec {
    outcome: Outcome,
    tools: Tools,
    spent: Tokens,
    #[serde(default)]
    refusals: Refusals,
    text: String,
}

impl Exec {
    pub(super) fn new(brief: &Brief) -> Self {
        Self {
            outcome: Outcome::of(brief),
            tools: Tools::default(),
            spent: Tokens::default(),
            refusals: Refusals::default(),
            text: String::new(),
        }
    }

    pub(super) fn line(&mut self, line: &OutputLine) -> Vec<Step> {
        if line.stream != Stream::Out {
            self.outcome.heard(line);
            return Vec::new();
        }
        if line.cut > 0 && line.text.starts_with(r#"{"type":"item.completed""#) {
            return self.tools.ended_unread(&line.text);
        }
        let Ok(event) = serde_json::from_str::<Value>(&line.text) else { return Vec::new() };
        let words = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match event["type"].as_str().unwrap_or_default() {
            "thread.started" => vec![Step::Saw(Event::Conversation(words(&event["thread_id"])))],
            "item.started" => self.tools.began(&event["item"]),
            "item.completed" => self.completed(&event["item"]),
            // It comes before `turn.failed`, or is a passing error.
            "error" => vec![Step::Saw(self.warned(words(&event["message"])))],
            "turn.completed" => self.over(&event["usage"], None),
            "turn.failed" => self.over(&event["usage"], Some(words(&event["error"]["message"]))),
            _ => Vec::new(),
        }
    }

    fn warned(&mut self, text: String) -> Event {
        if is_refusal(&text) { self.refusals.tried_again(&text) } else { Event::Warning(text) }
    }

    fn completed(&mut self, item: &Value) -> Vec<Step> {
        if let Some(text) = items::message(item) {
            self.refusals.accepted();
            text.clone_into(&mut self.text);
            return vec![Step::Saw(Event::Text(text.to_owned()))];
        }
        match (item["type"].as_str(), item["message"].as_str()) {
            (Some("error"), Some(text)) => vec![Step::Saw(Event::Warning(text.to_owned()))],
            _ => self.tools.ended(item),
        }
    }

    fn over(&mut self, usage: &Value, failure: Option<String>) -> Vec<Step> {
        let mut steps = self.tools.abandoned();
        let total = items::tokens(usage);
        steps.extend(total.since(self.spent).map(|usage| Step::Saw(Event::Usage(usage))));
        self.spent = self.spent.most(total);
        match failure {
            None => {
                self.outcome.turn(&self.text);
                steps.push(self.outcome.well(&self.text));
            }
            Some(why) => {
                // The time of the reset is told in the machine's own zone, which it does not name.
                if notes::tells_of_a_limit(&why) {
                    steps.push(Step::Saw(Event::Limited { until: None }));
                }
                if is_refusal(&why) {
                    steps.push(Step::Saw(Event::Unauthorized(why.clone())));
                }
                steps.push(self.outcome.badly(&why, &self.text));
            }
        }
        steps
    }

    pub(super) fn end(&mut self) -> Vec<Step> {
        let mut steps = self.tools.abandoned();
        steps.extend(self.outcome.gone(&self.text));
        steps
    }
}

/// Returns whether an error is the provider's refusal of the credentials; `exec` has it in words alone.
fn is_refusal(text: &str) -> bool {
    text.contains("status 401 ")
}
