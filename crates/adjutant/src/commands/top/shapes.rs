//! The server's answers, as far as they are shown. Unknown fields are ignored, so that a newer
//! server can say more.

use model::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::text::wrap;
use crate::terminal::render::plain;

/// The frame around every view.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Overview {
    pub(crate) project: String,
    pub(crate) last_event: i64,
    pub(crate) running: Places,
    pub(crate) agents: Counts,
    pub(crate) mail: LettersCount,
    pub(crate) today: Spent,
    pub(crate) limited: Vec<Limited>,
    pub(crate) needs_you: Vec<Need>,
    pub(crate) needs_you_count: usize,
}

/// Running agents and the limit.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Places {
    pub(crate) used: u64,
    pub(crate) max: u64,
    pub(crate) queued: u64,
}

/// Number of agents.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Counts {
    pub(crate) all: u64,
    pub(crate) ended: u64,
}

/// Letters for the human.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LettersCount {
    pub(crate) unread: i64,
}

/// Spending today.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Spent {
    pub(crate) usd: f64,
    pub(crate) limit_usd: Option<f64>,
}

/// A model that does not answer for a while.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Limited {
    pub(crate) who: String,
    pub(crate) until: Timestamp,
}

/// Something that a person is needed for.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Need {
    pub(crate) kind: String,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) agent_id: Option<String>,
    pub(crate) task_number: Option<i64>,
    pub(crate) since: Timestamp,
    pub(crate) holds_up: i64,
    pub(crate) href: String,
}

/// A page of the crew.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Crew {
    pub(crate) rows: Vec<Row>,
    #[serde(default)]
    pub(crate) past: i64,
    pub(crate) next_cursor: Option<i64>,
}

/// An agent among others.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) short: String,
    pub(crate) role: String,
    pub(crate) kind: String,
    pub(crate) model: Option<String>,
    pub(crate) state: String,
    pub(crate) reason: Option<String>,
    pub(crate) limited_until: Option<Timestamp>,
    pub(crate) task: Option<TaskOf>,
    pub(crate) parent_id: Option<String>,
    pub(crate) children: u32,
    pub(crate) live_below: u32,
    pub(crate) doing: Option<Doing>,
    pub(crate) asks: Option<Asks>,
    pub(crate) queue_place: Option<u32>,
    pub(crate) review: Option<ReviewOf>,
    pub(crate) started_at: Timestamp,
    pub(crate) finished_at: Option<Timestamp>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) budget: Option<Budget>,
    pub(crate) deadline_at: Option<Timestamp>,
}

impl Row {
    /// True if it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.finished_at.is_some()
    }

    /// Display name.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.role, self.short)
    }

    /// Spending and cap of it and its descendants.
    pub(crate) fn spent(&self) -> (Option<f64>, Option<f64>) {
        match &self.budget {
            Some(budget) => (Some(budget.spent_usd), budget.usd),
            None => (self.cost_usd, None),
        }
    }
}

/// A task in short.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TaskOf {
    pub(crate) number: i64,
    pub(crate) title: String,
}

/// Last activity of an agent.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Doing {
    pub(crate) text: String,
    pub(crate) tool: Option<String>,
}

/// Question of an agent to a person.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Asks {
    pub(crate) subject: String,
}

/// The review it waits for.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ReviewOf {
    pub(crate) iteration: u32,
    pub(crate) max: u32,
}

/// Budget and spending.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Budget {
    pub(crate) usd: Option<f64>,
    pub(crate) spent_usd: f64,
}

/// An agent, whole.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Whole {
    pub(crate) id: String,
    pub(crate) attempt: u32,
    pub(crate) prompt: Option<String>,
    pub(crate) worktree: Option<Worktree>,
    pub(crate) tokens: Tokens,
}

/// Where it works.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Worktree {
    pub(crate) branch: String,
}

/// Tokens used.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
}

/// A part of an agent's stream.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Part {
    pub(crate) items: Vec<Item>,
    pub(crate) from: Place,
    pub(crate) next: Place,
    pub(crate) attempt: u32,
    pub(crate) complete: bool,
}

/// A place in an agent's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Place {
    pub(crate) segment: u32,
    pub(crate) offset: u64,
}

/// One step of a stream.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Item {
    pub(crate) at: Timestamp,
    pub(crate) kind: String,
    pub(crate) id: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) text: String,
    pub(crate) input: Option<Value>,
    pub(crate) ok: Option<bool>,
    #[serde(default)]
    pub(crate) part: bool,
}

/// Letters, newest first.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Letters {
    pub(crate) letters: Vec<Letter>,
    pub(crate) next_cursor: Option<i64>,
}

/// A letter; the body only in a thread.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Letter {
    pub(crate) id: String,
    pub(crate) thread_id: String,
    pub(crate) from: Person,
    pub(crate) to: Person,
    pub(crate) subject: String,
    pub(crate) created_at: Timestamp,
    pub(crate) read_at: Option<Timestamp>,
    pub(crate) kind: String,
    pub(crate) needs_answer: bool,
    #[serde(default)]
    pub(crate) body: String,
    #[serde(default)]
    pub(crate) options: Vec<Offer>,
}

impl Letter {
    /// Offered answers, if an answer is awaited.
    pub(crate) fn offers(&self) -> &[Offer] {
        if self.needs_answer { &self.options } else { &[] }
    }

    /// Height in lines: head, text, offers and a gap.
    pub(crate) fn height(&self, room: usize) -> usize {
        2 + wrap(&self.body, room).len() + self.offers().len()
    }
}

/// Sender or recipient.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Person {
    pub(crate) agent_id: Option<String>,
    pub(crate) role: Option<String>,
    pub(crate) short: Option<String>,
    #[serde(default)]
    pub(crate) human: bool,
}

impl Person {
    /// Display name.
    pub(crate) fn name(&self) -> String {
        match (&self.role, &self.short) {
            _ if self.human => "you".to_owned(),
            (Some(role), Some(short)) => format!("{role} {short}"),
            _ => "adjutant".to_owned(),
        }
    }
}

/// An answer that a letter offers.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Offer {
    pub(crate) text: String,
    pub(crate) reply: String,
}

/// A thread, oldest first.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Thread {
    #[serde(rename = "threadId")]
    pub(crate) id: String,
    pub(crate) subject: String,
    pub(crate) letters: Vec<Letter>,
    pub(crate) with: Option<Person>,
    pub(crate) reply_to: Option<String>,
    pub(crate) wakes: bool,
}

/// Costs view.
#[derive(Debug, Clone)]
pub(crate) struct Costs {
    pub(crate) summary: Summary,
    pub(crate) series: Series,
    pub(crate) lineage: Option<Lineage>,
}

impl Costs {
    /// Maximum height of its tables.
    pub(crate) fn height(&self) -> usize {
        self.series.keys.len() + self.lineage.as_ref().map_or(0, Lineage::many)
    }
}

/// A few figures.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub(crate) spent_usd: f64,
    pub(crate) rate_usd: f64,
    pub(crate) tokens: TokensRead,
    pub(crate) done_task: DoneTask,
    pub(crate) failed: FailedWork,
}

/// Tokens, and how many came from a cache.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TokensRead {
    pub(crate) all: u64,
    pub(crate) cached: u64,
}

/// Cost of completed tasks.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DoneTask {
    pub(crate) median_usd: Option<f64>,
    pub(crate) count: u64,
}

/// Cost of failed work.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FailedWork {
    pub(crate) usd: f64,
}

/// Spending over time.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Series {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    pub(crate) step: i64,
    pub(crate) keys: Vec<SpentOn>,
    pub(crate) points: Vec<Point>,
}

/// Something that money was spent on.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SpentOn {
    pub(crate) label: String,
    pub(crate) usd: f64,
    pub(crate) tokens: u64,
}

/// A step in time.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Point {
    pub(crate) from: Timestamp,
    pub(crate) values: Vec<PointValue>,
}

/// Spending in a step.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PointValue {
    pub(crate) usd: f64,
}

/// An agent with what it and those below it may spend.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Lineage {
    pub(crate) short: String,
    pub(crate) role: String,
    pub(crate) cap_usd: Option<f64>,
    pub(crate) spent_usd: f64,
    pub(crate) children: Vec<Self>,
}

impl Lineage {
    /// Number of agents, with descendants.
    fn many(&self) -> usize {
        1 + self.children.iter().map(Self::many).sum::<usize>()
    }
}

/// An event, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Event {
    pub(crate) number: i64,
    pub(crate) kind: String,
    pub(crate) agent_id: Option<String>,
}

/// A document with every text in it made harmless. What comes from the server comes through here, so that
/// nothing that a terminal would obey can reach the screen.
pub(crate) fn harmless(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(plain(&text)),
        Value::Array(items) => items.into_iter().map(harmless).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (plain(&name), harmless(value))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_text_keeps_what_a_terminal_would_obey() {
        let said =
            json!({ "a": ["\u{1b}[2Jx\u{202e}"], "b": { "\u{1b}]0;t\u{7}c": "\u{9b}y" }, "n": 1 });
        assert_eq!(harmless(said), json!({ "a": ["x"], "b": { "c": "y" }, "n": 1 }));
    }
}
