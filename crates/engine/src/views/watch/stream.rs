//! What an agent says and does, as steps that people read.

use std::fmt::Write as _;

use host::agent::{Said, said};
use host::run::{OutputLine, Position, RunFolder, Stream};
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::boundary;
use crate::call::cx::find_agent;
use crate::core::engine::Engine;
use crate::core::error::ToolError;
use crate::core::redact::redact;
use crate::crew::run::{OutputWish, folder_of};

/// A text is no longer than this unless it is wanted whole.
const TEXT: usize = 64 * 1024;
/// Nor is a string in what a tool is given.
const STRING: usize = 16 * 1024;

/// Where reading begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// At a place
    At(Position),
    /// So many lines before the end, or before a place
    Tail(usize, Option<Position>),
}

/// Which part of an agent's steps.
#[derive(Debug, Clone, Copy)]
pub struct StreamWish {
    /// Of which attempt; the present one where absent
    pub attempt: Option<u32>,
    /// From where
    pub from: Beginning,
    /// About so many bytes of output
    pub bytes: usize,
    /// Whether nothing is to be cut
    pub whole: bool,
}

/// A part of an agent's steps.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentStreamView {
    /// The steps, oldest first
    pub items: Vec<StreamItem>,
    /// Where this part begins; asked for again from here with `whole`, nothing is cut
    pub from: PlaceView,
    /// Where the next part begins
    pub next: PlaceView,
    /// Of which attempt
    pub attempt: u32,
    /// Whether nothing more will come of this attempt
    pub complete: bool,
    /// Whether there was any output, though perhaps none that tells people something
    #[serde(skip)]
    pub heard: bool,
}

/// A place in an agent's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PlaceView {
    /// Which file
    pub segment: u32,
    /// Where in it
    pub offset: u64,
}

impl From<Position> for PlaceView {
    fn from(place: Position) -> Self {
        Self { segment: place.segment, offset: place.offset }
    }
}

/// One step: something that was said, done or told.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct StreamItem {
    /// When
    pub at: Timestamp,
    /// `told`, `message`, `thought`, `call`, `output`, `error` or `system`
    pub kind: String,
    /// By which a call and its output find each other. A call that is told of twice is one; the later word counts
    pub id: Option<String>,
    /// The tool that is called: the agent's own, or `mcp__<toolset>__<tool>`
    pub tool: Option<String>,
    /// In words: Markdown of a message or a thought, else plain, with terminal colours
    pub text: String,
    /// What the tool is given
    pub input: Option<Value>,
    /// Whether it went well, where that is known
    pub ok: Option<bool>,
    /// How long it took, where the agent says so
    pub duration_ms: Option<u64>,
    /// The commit that it tells of having made
    pub commit: Option<String>,
    /// Whether it goes on from the step before it, if that is such a part of the same kind and id
    pub part: bool,
    /// Whether it was written to the standard error
    pub err: bool,
    /// How many bytes of the text were left out
    pub cut: u64,
}

impl StreamItem {
    fn new(said: Said, line: &OutputLine) -> Self {
        Self {
            at: line.at,
            kind: said.kind.name().to_owned(),
            id: said.id,
            tool: said.tool,
            text: redact(said.text),
            input: said.input.map(clean),
            ok: said.ok,
            duration_ms: said.duration_ms,
            commit: said.commit,
            part: said.part,
            err: line.stream == Stream::Err,
            cut: line.cut,
        }
    }

    /// Whether this goes on from another.
    fn goes_on(&self, last: &Self) -> bool {
        self.part
            && last.part
            && (&self.kind, &self.id, self.err) == (&last.kind, &last.id, last.err)
            && last.text.len() + self.text.len() <= TEXT
    }

    fn shorten(&mut self) {
        if let Some(input) = &mut self.input {
            shorten(input);
        }
        if self.text.len() > TEXT {
            let end = boundary(&self.text, TEXT);
            self.cut = self.cut.saturating_add((self.text.len() - end) as u64);
            self.text.truncate(end);
        }
    }
}

impl Engine {
    /// A part of what an agent says and does, as steps.
    pub async fn agent_stream(
        &self,
        id: AgentId,
        wish: StreamWish,
    ) -> Result<AgentStreamView, ToolError> {
        let agent = self.store.read(|tx| find_agent(tx, id))?;
        let attempt = wish.attempt.unwrap_or(agent.attempt);
        let (from, bytes) = match wish.from {
            Beginning::At(place) => (place, wish.bytes),
            Beginning::Tail(lines, before) => {
                let folder = folder_of(self, &agent).path().with_file_name(attempt.to_string());
                let found = self.outside(move |_| tail(&RunFolder::open(folder), before, lines));
                match found.await? {
                    Some((from, bytes)) => (from, bytes),
                    None if before.is_some() => return Ok(nothing(attempt)),
                    None => (Position::default(), wish.bytes),
                }
            }
        };
        let page = self.output(id, OutputWish { attempt: Some(attempt), from, bytes }).await?;
        let mut items = steps(&agent.kind, &page.lines);
        if !wish.whole {
            items.iter_mut().for_each(StreamItem::shorten);
        }
        Ok(AgentStreamView {
            items,
            from: from.into(),
            next: page.next.into(),
            attempt: page.attempt,
            complete: page.complete,
            heard: !page.lines.is_empty(),
        })
    }
}

/// There is nothing before the beginning.
fn nothing(attempt: u32) -> AgentStreamView {
    let (from, next) = (Position::default().into(), Position::default().into());
    AgentStreamView { items: Vec::new(), from, next, attempt, complete: false, heard: false }
}

fn tail(
    folder: &RunFolder,
    before: Option<Position>,
    lines: usize,
) -> Result<Option<(Position, usize)>, ToolError> {
    if !folder.path().is_dir() {
        return Ok(None);
    }
    let found = folder.tail(before, lines).map_err(ToolError::internal)?;
    Ok(found.map(|stretch| (stretch.from, usize::try_from(stretch.bytes).unwrap_or(usize::MAX))))
}

/// Lines as steps; parts that stand side by side are joined.
fn steps(kind: &str, lines: &[OutputLine]) -> Vec<StreamItem> {
    let mut items: Vec<StreamItem> = Vec::new();
    for line in lines {
        for said in said(kind, line) {
            let item = StreamItem::new(said, line);
            match items.last_mut() {
                Some(last) if item.goes_on(last) => {
                    last.text.push_str(&item.text);
                    last.cut = last.cut.saturating_add(item.cut);
                    last.commit = last.commit.take().or(item.commit);
                }
                _ => items.push(item),
            }
        }
    }
    items
}

/// What a tool is given, without secrets.
fn clean(input: Value) -> Value {
    let text = input.to_string();
    let cleaned = redact(text.clone());
    if cleaned == text { input } else { serde_json::from_str(&cleaned).unwrap_or(input) }
}

/// Cuts the long strings in a value.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > STRING => {
            let end = boundary(text, STRING);
            let more = text.len() - end;
            text.truncate(end);
            // Writing to a String cannot fail.
            _ = write!(text, "… ({more} bytes more)");
        }
        Value::Array(all) => all.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
