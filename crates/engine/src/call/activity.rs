//! Last activity of each agent and its recent tool calls, for viewers.
//!
//! It is heard where it happens, at the door and by the keepers, and kept in memory alone: nothing
//! depends on it, and after a restart it fills again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use host::agent::summary_field;
use model::AgentId;
use model::redact::{REDACTION_MARK, is_key_line};
use serde_json::Value;

use crate::core::names::short;
use crate::core::redact::redact;

/// Agents remembered; the one silent longest is forgotten first.
const AGENTS: usize = 4096;
/// Calls remembered per agent.
const CALLS: usize = 48;
/// A line is no longer than this.
const LINE: usize = 160;

/// Last activity of all agents.
#[derive(Debug, Default)]
pub(crate) struct ActivityLog(Mutex<HashMap<AgentId, Activity>>);

/// Last activity of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Activity {
    /// Last message, or summary of the call
    pub(crate) text: String,
    /// The tool it called
    pub(crate) tool: Option<String>,
    /// When its calls were, oldest first
    pub(crate) calls: VecDeque<Span>,
    /// Time of its last activity
    at: i64,
}

/// A call, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// From when
    pub(crate) from: i64,
    /// Until when; none where it goes on, or where nobody asks
    pub(crate) to: Option<i64>,
    /// Kind of the span
    pub(crate) kind: SpanKind,
}

/// Kind of a call, for viewers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanKind {
    /// Work
    Work,
    /// Waiting for others
    Wait,
}

impl ActivityLog {
    fn map(&self) -> MutexGuard<'_, HashMap<AgentId, Activity>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is remembered of an agent.
    fn note(&self, agent: AgentId, at: i64, change: impl FnOnce(&mut Activity)) {
        let mut all = self.map();
        if all.len() >= AGENTS && !all.contains_key(&agent) {
            let mut times: Vec<i64> = all.values().map(|doing| doing.at).collect();
            times.sort_unstable();
            let keep = times.get(AGENTS / 4).copied().unwrap_or(i64::MAX);
            all.retain(|_, doing| doing.at > keep);
        }
        let doing = all.entry(agent).or_default();
        doing.at = at;
        change(doing);
    }

    /// Notes a message of an agent.
    pub(crate) fn record_text(&self, agent: AgentId, text: &str, at: i64) {
        let line = one_line(text);
        if !line.is_empty() {
            self.note(agent, at, |doing| (doing.text, doing.tool) = (line, None));
        }
    }

    /// An agent called a tool: the name it is known by, and what it is about.
    pub(crate) fn called(&self, agent: AgentId, tool: &str, about: String, span: Span) {
        self.note(agent, span.from, |doing| {
            (doing.text, doing.tool) = (about, Some(tool.to_owned()));
            if doing.calls.len() >= CALLS {
                doing.calls.pop_front();
            }
            doing.calls.push_back(span);
        });
    }

    /// An agent waits for others no more.
    pub(crate) fn waited(&self, agent: AgentId, at: i64) {
        let mut all = self.map();
        let open = |span: &&mut Span| span.kind == SpanKind::Wait && span.to.is_none();
        let doing = all.get_mut(&agent);
        if let Some(span) = doing.and_then(|doing| doing.calls.iter_mut().rev().find(open)) {
            span.to = Some(at);
        }
    }

    /// Last activity of an agent.
    pub(crate) fn of(&self, agent: AgentId) -> Option<Activity> {
        self.map().get(&agent).cloned()
    }
}

/// Summary of a call: its most telling argument.
pub(crate) fn about(input: &Value) -> String {
    let Value::Object(fields) = input else { return one_line(&plain(input)) };
    summary_field(fields).map(|value| one_line(&plain(value))).unwrap_or_default()
}

/// The same of input that is text; what was cut off in the middle is shown as it is.
pub(crate) fn about_text(input: &str) -> String {
    match serde_json::from_str::<Value>(input) {
        Ok(value) => about(&value),
        Err(_) => one_line(input),
    }
}

/// A value in words. Ids of agents are shown as people know them.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => match text.parse::<AgentId>() {
            Ok(id) => short(id),
            Err(_) => text.clone(),
        },
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// The first line of a text that says something, without secrets and not too long.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if is_key_line(line) {
        return REDACTION_MARK.to_owned();
    }
    // A little more than is shown: a secret that is cut in two would not be known for one.
    let clean = redact(line.chars().take(LINE * 2).collect());
    match clean.char_indices().nth(LINE) {
        None => clean,
        Some(_) => clean.chars().take(LINE - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests;
