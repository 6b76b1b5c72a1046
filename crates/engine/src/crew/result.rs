//! Result of an agent: parsed from its output, validated and completed.

mod find;
mod schema;

use host::agent::{EndReport, EndReportStatus};
use model::AgentId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use schema::{load_schema_file, parse_schema};

use crate::core::durable;
use crate::core::error::ToolError;
use crate::crew::context::{CUT, clip, tail};

/// Bytes kept of an agent's last message.
const TEXT: usize = 256 * 1024;
/// Maximum size of a summary.
const SUMMARY: usize = 64 * 1024;
/// Maximum length of a list and of each entry.
const ENTRIES: usize = 200;
const ENTRY: usize = 2 * 1024;
/// Maximum size of a structured result.
const STRUCTURED: usize = 256 * 1024;

/// The fields of a result. `prUrl` is how the record spells the last one.
const FIELDS: [&str; 7] =
    ["status", "summary", "changes", "issues", "questions", "pr_url", "prUrl"];

/// An agent's own status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// It is done
    Success,
    /// Some of it is done
    Partial,
    /// It did not work
    Failed,
    /// Something else must happen first
    Blocked,
}

impl Status {
    /// The status of that name; what agents often write instead is understood.
    fn parse(name: &str) -> Option<Self> {
        Some(match name.trim().to_ascii_lowercase().as_str() {
            "success" | "succeeded" | "completed" | "complete" | "done" | "ok" => Self::Success,
            "partial" => Self::Partial,
            "failed" | "failure" | "error" => Self::Failed,
            "blocked" => Self::Blocked,
            _ => return None,
        })
    }
}

/// Requested form of an agent's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The fields of a result
    Result,
    /// Whatever its schema says
    Schema,
}

/// An agent's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentResult {
    /// Status
    pub(crate) status: Status,
    /// Result
    pub(crate) summary: String,
    /// Changes
    #[serde(default)]
    pub(crate) changes: Vec<String>,
    /// Open issues
    #[serde(default)]
    pub(crate) issues: Vec<String>,
    /// Questions to decide
    #[serde(default)]
    pub(crate) questions: Vec<String>,
    /// The pull request it opened
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pr_url: Option<String>,
    /// Its last words, whole but for a very long beginning
    #[serde(default)]
    pub(crate) text: String,
    /// Its own last messages, if it did not succeed or ended without a summary: not why it failed
    #[serde(default, rename = "said", skip_serializing_if = "String::is_empty")]
    pub(crate) last_messages: String,
    /// The whole value it gave, where that says more than the fields above or a schema asked for it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) structured: Option<Value>,
    /// Schema violations and parse errors
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<String>,
}

impl AgentResult {
    /// Decodes the result that is kept with an agent's run or with its work on a task; `None` if it has none yet.
    pub(crate) fn decode(kept: Option<&str>, agent: AgentId) -> Result<Option<Self>, ToolError> {
        let row = format_args!("agent `{agent}`");
        kept.map(|text| durable::decode(text, row, "result")).transpose()
    }

    /// Reads what is kept of an agent's work on a task, to be shown: an enlisted agent leaves a summary only, and one
    /// damaged row must not hide the rest of a history.
    pub(crate) fn of_work(kept: Option<&str>) -> Option<Self> {
        let value: Value = serde_json::from_str(kept?).unwrap_or_default();
        let texts = |field: &str| {
            let items = value.get(field).and_then(Value::as_array).into_iter().flatten();
            items
                .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                .collect()
        };
        let text = |field: &str| value.get(field).and_then(Value::as_str);
        Some(Self {
            status: text("status").and_then(Status::parse).unwrap_or(Status::Success),
            summary: text("summary").unwrap_or("its result cannot be read").to_owned(),
            changes: texts("changes"),
            issues: texts("issues"),
            questions: texts("questions"),
            pr_url: text("prUrl").map(str::to_owned),
            text: text("text").unwrap_or_default().to_owned(),
            last_messages: text("said").unwrap_or_default().to_owned(),
            structured: value.get("structured").cloned(),
            problems: texts("problems"),
        })
    }

    /// Adds the changes that git has where the agent named none.
    pub(crate) fn complete(&mut self, changes: Vec<String>) {
        if self.changes.is_empty() {
            self.changes = changes;
        }
    }
}

/// Reads an agent's result: from the value that its kind gave, else from JSON in its last words, else the words are
/// the summary. `tail` is the end of its output, for agents that ended without a word of their own.
pub(crate) fn read_result(
    done: Option<&EndReport>,
    tail_of_output: &str,
    schema: Option<&Value>,
) -> AgentResult {
    let said = done.map(|done| done.text.as_str()).filter(|text| !text.trim().is_empty());
    let words = said.unwrap_or(tail_of_output);
    let asked = if schema.is_some() { Asked::Schema } else { Asked::Result };
    let (value, before) = match done.and_then(|done| done.value.clone()) {
        Some(value) => (Some(value), words),
        None => find::last_json(words, asked)
            .map_or((None, words), |found| (Some(found.value), found.before)),
    };
    let mut result = AgentResult {
        status: match done.map(|done| &done.verdict) {
            Some(EndReportStatus::Success) => Status::Success,
            Some(EndReportStatus::Failure(_) | EndReportStatus::Aborted(_)) | None => {
                Status::Failed
            }
        },
        summary: tail(before.trim(), SUMMARY).to_owned(),
        changes: Vec::new(),
        issues: Vec::new(),
        questions: Vec::new(),
        pr_url: None,
        text: last_words(words),
        last_messages: String::new(),
        structured: None,
        problems: Vec::new(),
    };
    match (&value, schema) {
        (Some(value), Some(schema)) => result.problems = schema::check(schema, value),
        (None, Some(_)) => {
            result
                .problems
                .push("a JSON value was requested, but its last message has none".into());
        }
        (_, None) => {}
    }
    if let Some(Value::Object(fields)) = &value {
        result.take(fields, asked);
    }
    if let Some(value) = value {
        result.keep(value, asked);
    }
    if let Some(EndReportStatus::Failure(reason) | EndReportStatus::Aborted(reason)) =
        done.map(|done| &done.verdict)
    {
        result.overrule(reason);
    }
    result
}

impl AgentResult {
    /// Takes the fields that have a meaning. Under a schema a field of the same name may mean something else.
    fn take(&mut self, fields: &Map<String, Value>, asked: Asked) {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        match text("status").map(|name| (name, Status::parse(name))) {
            Some((_, Some(status))) => self.status = status,
            Some((name, None)) if asked == Asked::Result => {
                let name = clip(name, 100);
                self.problems.push(format!(
                    "its status `{name}` is not one of success, partial, failed and blocked"
                ));
            }
            _ => {}
        }
        if let Some(summary) = text("summary").filter(|summary| !summary.trim().is_empty()) {
            self.summary = clip(summary.trim(), SUMMARY).into_owned();
        }
        self.changes = list(fields.get("changes"));
        self.issues = list(fields.get("issues"));
        self.questions = list(fields.get("questions"));
        let is_address = |url: &&str| {
            (url.starts_with("https://") || url.starts_with("http://")) && url.len() <= ENTRY
        };
        self.pr_url = text("pr_url").or(text("prUrl")).filter(is_address).map(str::to_owned);
    }

    /// Keeps the value itself, if it says more than was taken from it.
    fn keep(&mut self, value: Value, asked: Asked) {
        let is_plain = value
            .as_object()
            .is_some_and(|fields| fields.keys().all(|key| FIELDS.contains(&key.as_str())));
        if is_plain && asked == Asked::Result {
            return;
        }
        let json = value.to_string();
        if self.summary.is_empty() {
            self.summary = clip(&json, SUMMARY).into_owned();
        }
        if json.len() > STRUCTURED {
            let problem = format!("its value is {} bytes; the limit is {STRUCTURED}", json.len());
            self.problems.push(problem);
        } else {
            self.structured = Some(value);
        }
    }

    /// The run failed: whatever the agent thinks of it, it is no success.
    fn overrule(&mut self, reason: &str) {
        if self.status == Status::Success {
            self.status = Status::Failed;
        }
        let reason = clip(reason.trim(), ENTRY).into_owned();
        if self.summary.is_empty() {
            self.summary = reason;
        } else if !reason.is_empty() && !self.issues.contains(&reason) {
            self.issues.push(reason);
        }
    }
}

/// The entries of a list. One string is one entry, and what is not text becomes JSON.
fn list(value: Option<&Value>) -> Vec<String> {
    let entry = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => clip(text.trim(), ENTRY).into_owned(),
        other => clip(&other.to_string(), ENTRY).into_owned(),
    };
    let all = match value {
        None => &[][..],
        Some(Value::Array(items)) => items,
        Some(one) => std::slice::from_ref(one),
    };
    let mut entries: Vec<String> = all.iter().map(entry).filter(|one| !one.is_empty()).collect();
    if entries.len() > ENTRIES {
        let more = entries.len() - ENTRIES;
        entries.truncate(ENTRIES);
        entries.push(format!("{CUT} {more} more"));
    }
    entries
}

/// The end of a text, with a note on how much came before it.
fn last_words(words: &str) -> String {
    let kept = tail(words, TEXT);
    match words.len() - kept.len() {
        0 => kept.to_owned(),
        rest => format!("{CUT} {rest} bytes before this\n{kept}"),
    }
}

#[cfg(test)]
mod tests;
