//! The transcript of an agent, for people who watch: each line of its output as the entries that it makes. The kinds
//! read their own lines ([`Kind::transcript`](super::Kind::transcript)); what all of them share is here.
//!
//! Nothing is remembered between two lines, so that reading can begin anywhere. What belongs together says so: a
//! call and what came of it have the same id, and pieces of one text are marked as such.

use serde_json::{Map, Value};

use super::notes;
use crate::run::{OutputLine, Stream};

/// One message, action or input of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptEntry {
    /// Kind of the item
    pub kind: EntryKind,
    /// By which a call and what came of it find each other
    pub id: Option<String>,
    /// The tool: its own, or `mcp__<toolset>__<tool>`
    pub tool: Option<String>,
    /// In words
    pub text: String,
    /// Input of the tool
    pub input: Option<Value>,
    /// Success, if known
    pub ok: Option<bool>,
    /// Duration, if reported
    pub duration_ms: Option<u64>,
    /// True if it continues the previous item of the same kind and id
    pub part: bool,
    /// The commit that it tells of having made
    pub commit: Option<String>,
    /// The request for a permission that it is; not each is put to a person
    pub asked: Option<String>,
}

/// Sorts of things that an agent says and does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// Text sent to the agent
    Told,
    /// Text for the agent that asked
    Message,
    /// Words for itself
    Thought,
    /// It uses a tool
    Call,
    /// Output of a call or program
    Output,
    /// Error outside calls
    Error,
    /// Something of note about the run itself
    System,
}

impl EntryKind {
    /// The sort's name, as programs read it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Told => "told",
            Self::Message => "message",
            Self::Thought => "thought",
            Self::Call => "call",
            Self::Output => "output",
            Self::Error => "error",
            Self::System => "system",
        }
    }
}

impl TranscriptEntry {
    pub(super) fn new(kind: EntryKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            id: None,
            tool: None,
            text: text.into(),
            input: None,
            ok: None,
            duration_ms: None,
            part: false,
            commit: None,
            asked: None,
        }
    }

    /// Something that may be empty, and then says nothing.
    pub(super) fn words(kind: EntryKind, text: impl Into<String>) -> Option<Self> {
        Some(Self::new(kind, text)).filter(|message| !message.text.trim().is_empty())
    }

    /// Words that the agent was told.
    pub(super) fn told(text: impl Into<String>) -> Option<Self> {
        Self::words(EntryKind::Told, text)
    }

    pub(super) fn call(id: &str, tool: &str, input: &Value) -> Self {
        let input = Some(input.clone()).filter(|input| !input.is_null());
        let (id, tool) = (Some(id.to_owned()), Some(tool.to_owned()));
        Self { id, tool, input, ..Self::new(EntryKind::Call, "") }
    }

    /// Output of a successful call.
    pub(super) fn came(id: &str, text: impl Into<String>) -> Self {
        Self { id: Some(id.to_owned()), ok: Some(true), ..Self::new(EntryKind::Output, text) }
    }

    /// Output of a failed call.
    pub(super) fn failed(id: &str, text: impl Into<String>) -> Self {
        Self { ok: Some(false), ..Self::came(id, text) }
    }

    /// A line that a program printed, or wrote to its standard error.
    pub(super) fn printed(text: &str) -> Self {
        Self { part: true, ..Self::new(EntryKind::Output, format!("{text}\n")) }
    }

    pub(super) fn after(self, millis: Option<u64>) -> Self {
        Self { duration_ms: millis, ..self }
    }
}

/// Fields of a tool's input that say most of what a call is about, the most telling first.
pub const SUMMARY_FIELDS: [&str; 23] = [
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "pattern",
    "query",
    "url",
    "subject",
    "title",
    "slug",
    "role",
    "agentId",
    "agent_id",
    "agentIds",
    "taskId",
    "task",
    "epicId",
    "mailId",
    "id",
    "summary",
    "description",
    "prompt",
];

/// The field of a tool's input that summarises a call: the first of the telling ones, else the first that is text.
pub fn summary_field(input: &Map<String, Value>) -> Option<&Value> {
    let telling = SUMMARY_FIELDS.iter().find_map(|name| input.get(*name));
    let telling = telling.filter(|value| !value.is_null() && !value.is_object());
    telling.or_else(|| input.values().find(|value| value.is_string()))
}

/// Reads a line of an agent of that kind. Many lines make no entry; those of a kind that is not known any more are
/// shown as they are.
pub fn read_transcript(kind: &str, line: &OutputLine) -> Vec<TranscriptEntry> {
    let mut entries = match (line.stream, super::kind(kind)) {
        (Stream::Err, _) | (_, None) => vec![TranscriptEntry::printed(&line.text)],
        (_, Some(kind)) => kind.transcript(line),
    };
    for entry in &mut entries {
        if entry.kind == EntryKind::Output && entry.ok != Some(false) {
            entry.commit = commit(&entry.text);
        }
    }
    entries
}

/// Reads the lines of a kind that speaks JSON both ways.
#[derive(Debug)]
pub(super) struct JsonReader {
    /// Words in a message to the agent, if it has any
    pub(super) told: fn(&Value) -> Option<String>,
    /// Entries that a message from the agent makes; nothing where its form is not known
    pub(super) entries: fn(&Value) -> Option<Vec<TranscriptEntry>>,
    /// Name of the field with the id of a call, for lines that were too long to be kept whole
    pub(super) id_field: &'static str,
}

impl JsonReader {
    pub(super) fn read(&self, line: &OutputLine) -> Vec<TranscriptEntry> {
        let value = object(&line.text);
        if line.stream == Stream::In {
            let words = value.map_or_else(|| Some(line.text.clone()), |value| (self.told)(&value));
            return words.and_then(TranscriptEntry::told).into_iter().collect();
        }
        let Some(value) = value else { return self.unread(line) };
        (self.entries)(&value).unwrap_or_else(|| vec![unknown(&value)])
    }

    /// A line that is no JSON: it is for people, or too long to have been kept whole.
    fn unread(&self, line: &OutputLine) -> Vec<TranscriptEntry> {
        if line.cut == 0 || !line.text.trim_start().starts_with('{') {
            return vec![TranscriptEntry::printed(&line.text)];
        }
        vec![match notes::string_in(&line.text, self.id_field) {
            Some(id) => TranscriptEntry::came(id, line.text.as_str()),
            None => TranscriptEntry::new(EntryKind::Output, line.text.as_str()),
        }]
    }
}

/// A message of a newer version, by its name alone: what is for programs is not shown to people.
fn unknown(value: &Value) -> TranscriptEntry {
    let name = ["type", "method"].iter().find_map(|key| value[*key].as_str());
    let words = match name {
        Some(name) => format!("reports `{}`", notes::clip(name, 60)),
        None => "reports something unknown".to_owned(),
    };
    TranscriptEntry::new(EntryKind::System, words)
}

pub(super) fn object(text: &str) -> Option<Value> {
    let text = text.trim();
    let value = text.starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
    value.filter(Value::is_object)
}

/// The texts in a list of contents, as MCP, Claude and ACP have them, one after the other.
pub(super) fn texts(contents: &Value) -> String {
    match contents {
        Value::String(text) => text.clone(),
        Value::Array(all) => {
            let text = |one: &Value| {
                let inner = one.get("content").unwrap_or(one);
                inner["text"].as_str().map(str::to_owned)
            };
            all.iter().filter_map(text).collect::<Vec<_>>().join("\n")
        }
        other => other["text"].as_str().unwrap_or_default().to_owned(),
    }
}

/// The commit of which git tells: `[branch 1a2b3c4] What it does`.
fn commit(text: &str) -> Option<String> {
    let hash = |line: &str| {
        let (inside, _) = line.strip_prefix('[')?.split_once(']')?;
        let hash = inside.rsplit_once(' ')?.1;
        let is_hash = (7..=64).contains(&hash.len())
            && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_hash.then(|| hash.to_owned())
    };
    text.lines().take(200).find_map(hash)
}

/// Output of a program with its exit code.
pub(super) fn with_code(output: &str, code: i64) -> String {
    format!("{}\nexit {code}", output.trim_end()).trim_start().to_owned()
}

/// Usage as text.
pub(super) fn used(read: u64, written: u64, dollars: Option<f64>) -> String {
    let money = dollars.map_or_else(String::new, |dollars| format!(", ${dollars:.4}"));
    format!("{} tokens read, {} written{money}", grouped(read), grouped(written))
}

/// A number in groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
