//! What an agent says and does, for people who watch: each line of its output as the things that it tells of.
//!
//! Nothing is remembered between two lines, so that reading can begin anywhere. What belongs together says so: a
//! call and what came of it have the same id, and pieces of one text are marked as such.

mod acp;
mod claude;
mod codex;
mod plain;

use serde_json::Value;

use super::notes;
use crate::run::{OutputLine, Stream};

/// One thing that an agent said, did or was told.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// What sort of thing it is
    pub kind: SaidAs,
    /// By which a call and what came of it find each other
    pub id: Option<String>,
    /// The tool: its own, or `mcp__<toolset>__<tool>`
    pub tool: Option<String>,
    /// In words
    pub text: String,
    /// What the tool is given
    pub input: Option<Value>,
    /// Whether it went well, where that is known
    pub ok: Option<bool>,
    /// How long it took, where the agent says so
    pub duration_ms: Option<u64>,
    /// Whether it goes on from the one before it, if that is such a piece of the same sort and id
    pub part: bool,
    /// The commit that it tells of having made
    pub commit: Option<String>,
}

/// Sorts of things that an agent says and does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidAs {
    /// What it was told
    Told,
    /// Words for whoever asked
    Message,
    /// Words for itself
    Thought,
    /// It uses a tool
    Call,
    /// What came of a call, or what a program printed
    Output,
    /// What went wrong, beside calls
    Error,
    /// Something of note about the run itself
    System,
}

impl SaidAs {
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

impl Said {
    fn new(kind: SaidAs, text: impl Into<String>) -> Self {
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
        }
    }

    /// Something that may be empty, and then says nothing.
    fn words(kind: SaidAs, text: impl Into<String>) -> Option<Self> {
        Some(Self::new(kind, text)).filter(|said| !said.text.trim().is_empty())
    }

    fn call(id: &str, tool: &str, input: &Value) -> Self {
        let input = Some(input.clone()).filter(|input| !input.is_null());
        let (id, tool) = (Some(id.to_owned()), Some(tool.to_owned()));
        Self { id, tool, input, ..Self::new(SaidAs::Call, "") }
    }

    /// What came of a call that went well.
    fn came(id: &str, text: impl Into<String>) -> Self {
        Self { id: Some(id.to_owned()), ok: Some(true), ..Self::new(SaidAs::Output, text) }
    }

    /// What came of one that did not.
    fn failed(id: &str, text: impl Into<String>) -> Self {
        Self { ok: Some(false), ..Self::came(id, text) }
    }

    /// A line that a program printed, or wrote to its standard error.
    fn printed(text: &str) -> Self {
        Self { part: true, ..Self::new(SaidAs::Output, format!("{text}\n")) }
    }

    fn after(self, millis: Option<u64>) -> Self {
        Self { duration_ms: millis, ..self }
    }
}

/// What a line of an agent of that kind tells. Much tells people nothing.
pub fn said(kind: &str, line: &OutputLine) -> Vec<Said> {
    let is_plain = matches!(kind, "command" | "script");
    let mut all = match (line.stream, is_plain) {
        (Stream::Err, _) => vec![Said::printed(&line.text)],
        (Stream::In, true) => Said::words(SaidAs::Told, &line.text).into_iter().collect(),
        (Stream::In, false) => heard(kind, &line.text),
        (Stream::Out, true) => plain::said(kind, &line.text),
        (Stream::Out, false) => spoken(kind, line),
    };
    for said in &mut all {
        if said.kind == SaidAs::Output && said.ok != Some(false) {
            said.commit = commit(&said.text);
        }
    }
    all
}

/// What an agent that is talked to was told.
fn heard(kind: &str, text: &str) -> Vec<Said> {
    let words = match object(text) {
        None => Some(text.to_owned()),
        Some(value) if kind == "claude" => claude::told(&value),
        Some(value) if kind == "codex" => codex::told(&value),
        Some(value) => acp::told(&value),
    };
    words.and_then(|words| Said::words(SaidAs::Told, words)).into_iter().collect()
}

/// What an agent that speaks JSON said.
fn spoken(kind: &str, line: &OutputLine) -> Vec<Said> {
    let Some(value) = object(&line.text) else { return unread(kind, line) };
    let all = match kind {
        "claude" => claude::said(&value),
        "codex" => codex::said(&value),
        _ => acp::said(&value),
    };
    // Newer versions say things that we do not know; a glance at them is better than silence.
    all.unwrap_or_else(|| vec![Said::new(SaidAs::System, notes::clip(&line.text, 300))])
}

/// A line that is no JSON: it is for people, or too long to have been kept whole.
fn unread(kind: &str, line: &OutputLine) -> Vec<Said> {
    if line.cut == 0 || !line.text.trim_start().starts_with('{') {
        return vec![Said::printed(&line.text)];
    }
    let name = match kind {
        "claude" => "tool_use_id",
        "codex" => "id",
        _ => "toolCallId",
    };
    match notes::string_in(&line.text, name) {
        Some(id) => vec![Said::came(id, line.text.as_str())],
        None => vec![Said::new(SaidAs::Output, line.text.as_str())],
    }
}

fn object(text: &str) -> Option<Value> {
    let text = text.trim();
    let value = text.starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
    value.filter(Value::is_object)
}

/// The texts in a list of contents, as MCP, Claude and ACP have them, one after the other.
fn texts(contents: &Value) -> String {
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

/// What a program printed, with the code it ended with.
fn with_code(output: &str, code: i64) -> String {
    format!("{}\nexit {code}", output.trim_end()).trim_start().to_owned()
}

/// How much was used, in words.
fn used(read: u64, written: u64, dollars: Option<f64>) -> String {
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
