//! Renders an agent's JSON output as short readable lines.
//!
//! Each kind speaks its own JSON; what a line is shows in the line itself, so that reading can begin
//! anywhere. What is not understood is shown as it is, if need be shortened.

mod claude;
mod codex;
mod rpc;

use serde_json::Value;

use crate::terminal::render::{bad, dim, line, name, odd, plain, room, short};

/// Even in a pipe a call or an answer is no longer than this.
const LONGEST: usize = 200;

/// Something that an agent said or did.
#[derive(Debug, Clone, PartialEq)]
enum Said {
    /// Words for whoever asked
    Text(String),
    /// A piece of such words; the next one may follow at once
    Piece(String),
    /// Words for itself
    Thought(String),
    /// It uses a tool
    Call {
        /// Tool
        tool: String,
        /// With what
        input: Value,
    },
    /// Result
    Answer(String),
    /// Error
    Failed(String),
    /// Something of note
    Note(String),
}

/// Tells people what an agent says.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    /// A line whose end has not come yet
    open: String,
}

impl Teller {
    /// A line of output, as the server gives it, in lines for people.
    pub(crate) fn tell(&mut self, given: &Value) -> Vec<String> {
        let text = given["text"].as_str().unwrap_or_default();
        let mut told = match given["stream"].as_str() {
            Some("in") => self.whole(heard(text)),
            Some("err") => self.whole(vec![dim(plain(text))]),
            _ => self.said(text),
        };
        if let Some(cut) = given["cut"].as_u64().filter(|cut| *cut > 0) {
            told.push(dim(format!("({cut} bytes of this line were left out)")));
        }
        told
    }

    /// Remaining lines at the end.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        self.whole(Vec::new())
    }

    fn said(&mut self, text: &str) -> Vec<String> {
        let Some(value) = object(text) else { return self.whole(vec![plain(text)]) };
        let Some(all) = understood(&value) else {
            return self.whole(vec![dim(short(text, room(0).min(LONGEST)))]);
        };
        let mut told = Vec::new();
        for said in all {
            if let Said::Piece(piece) = said {
                told.extend(self.piece(&piece));
            } else {
                told.extend(self.whole(shown(said)));
            }
        }
        told
    }

    /// Lines that begin on a line of their own.
    fn whole(&mut self, lines: Vec<String>) -> Vec<String> {
        let open = Some(std::mem::take(&mut self.open)).filter(|open| !open.trim().is_empty());
        open.into_iter().chain(lines).collect()
    }

    /// The lines that a piece completes.
    fn piece(&mut self, piece: &str) -> Vec<String> {
        self.open.push_str(&plain(piece));
        let Some((done, open)) = self.open.rsplit_once('\n') else { return Vec::new() };
        let (done, open) = (done.to_owned(), open.to_owned());
        self.open = open;
        vec![done]
    }
}

fn object(text: &str) -> Option<Value> {
    let text = text.trim();
    let value = text.starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
    value.filter(Value::is_object)
}

/// Renders a JSON line of a known form.
fn understood(value: &Value) -> Option<Vec<Said>> {
    if let Some(usage) = value["adjutant"].get("usage") {
        return Some(vec![Said::Note(format!("used {}", line(&usage.to_string())))]);
    }
    match value["type"].as_str() {
        Some(kind) => claude::said(kind, value).or_else(|| codex::said(kind, value)),
        None => rpc::said(value),
    }
}

/// Renders input to an agent.
fn heard(text: &str) -> Vec<String> {
    let said = match object(text) {
        None => Some(text.to_owned()),
        Some(value) => claude::told(&value).or_else(|| rpc::told(&value)),
    };
    let said = said.filter(|said| !said.trim().is_empty());
    said.map(|said| format!("{} {}", name("»"), short(&said, room(2).min(LONGEST))))
        .into_iter()
        .collect()
}

/// In lines for people.
fn shown(said: Said) -> Vec<String> {
    let most = room(2).min(LONGEST);
    let text = match said {
        Said::Text(text) | Said::Piece(text) => plain(text.trim_end()),
        Said::Thought(text) => dim(plain(text.trim_end())),
        Said::Call { tool, input } => {
            let tool = line(&tool);
            let left = most.saturating_sub(tool.chars().count() + 1).max(10);
            let input = match &input {
                Value::Null => String::new(),
                Value::String(text) => short(text, left),
                other => short(&other.to_string(), left),
            };
            format!("{} {} {}", name("→"), name(tool), dim(input)).trim_end().to_owned()
        }
        Said::Answer(text) => format!("{} {}", dim("←"), dim(short(&text, most))),
        Said::Failed(text) => format!("{} {}", bad("←"), odd(short(&text, most))),
        Said::Note(text) => dim(format!("· {}", short(&text, most))),
    };
    if text.trim().is_empty() { Vec::new() } else { vec![text] }
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

#[cfg(test)]
mod tests;
