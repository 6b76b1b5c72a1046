//! An agent's transcript as steps for people.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use host::agent::{EntryKind, PLAIN_KIND, TranscriptEntry, read_transcript};
use host::run::{OutputLine, OutputRange, RunFolder, Stream};
use model::AgentId;
use serde_json::Value;
use wire::agents::{AgentStream, OutputPlace, StepKind, StreamItem};

use super::boundary;
use crate::call::cx::find_agent;
use crate::core::error::ToolError;
use crate::core::machine::folder_of;
use crate::core::redact::redact;
use crate::crew::run::ask::{self, REMEMBERED};
use crate::crew::run::{OutputFolders, OutputRequest, output_place, position};
use crate::views::service::Views;

/// A text is no longer than this unless it is wanted whole.
const TEXT: usize = 64 * 1024;
/// Nor is a string in what a tool is given.
const STRING: usize = 16 * 1024;

/// Where reading begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// At a place
    At(OutputPlace),
    /// Lines before the end, or before a position
    Tail(usize, Option<OutputPlace>),
}

/// Query for an agent's steps.
#[derive(Debug, Clone, Copy)]
pub struct StreamRequest {
    /// Of which attempt; the present one where absent
    pub attempt: Option<u32>,
    /// From where
    pub from: Beginning,
    /// About so many bytes of output
    pub bytes: usize,
    /// True to truncate nothing
    pub whole: bool,
}

const fn step_kind(kind: EntryKind) -> StepKind {
    match kind {
        EntryKind::Told => StepKind::Told,
        EntryKind::Message => StepKind::Message,
        EntryKind::Thought => StepKind::Thought,
        EntryKind::Call => StepKind::Call,
        EntryKind::Output => StepKind::Output,
        EntryKind::Error => StepKind::Error,
        EntryKind::System => StepKind::System,
    }
}

fn stream_item(entry: TranscriptEntry, line: &OutputLine) -> StreamItem {
    StreamItem {
        at: line.at,
        kind: step_kind(entry.kind),
        id: entry.id,
        tool: entry.tool,
        text: redact(entry.text),
        input: entry.input.map(clean),
        ok: entry.ok,
        duration_ms: entry.duration_ms,
        commit: entry.commit,
        part: entry.part,
        err: line.stream == Stream::Err,
        cut: line.cut,
    }
}

/// Returns true if a step goes on from the one before it.
fn goes_on(item: &StreamItem, last: &StreamItem) -> bool {
    item.part
        && last.part
        && (&item.kind, &item.id, item.err) == (&last.kind, &last.id, last.err)
        && last.text.len() + item.text.len() <= TEXT
}

/// Cuts the long texts of a step.
fn shorten_item(item: &mut StreamItem) {
    if let Some(input) = &mut item.input {
        shorten(input);
    }
    if item.text.len() > TEXT {
        let end = boundary(&item.text, TEXT);
        item.cut = item.cut.saturating_add((item.text.len() - end) as u64);
        item.text.truncate(end);
    }
}

impl Views {
    /// A part of what an agent says and does, as steps.
    pub async fn agent_stream(
        &self,
        id: AgentId,
        stream_request: StreamRequest,
    ) -> Result<AgentStream, ToolError> {
        let agent = self.store.read(|tx| find_agent(tx, id))?;
        let attempt = stream_request.attempt.unwrap_or(agent.attempt);
        let (from, bytes) = match stream_request.from {
            Beginning::At(place) => (place, stream_request.bytes),
            Beginning::Tail(lines, before) => {
                let folder = folder_of(self, &agent).path().with_file_name(attempt.to_string());
                let before = before.map(position);
                let found = self.outside(move |_| {
                    let folders = OutputFolders::of(RunFolder::open(folder), attempt);
                    folders.tail(before, lines).map_err(ToolError::internal)
                });
                let sized = |range: OutputRange| {
                    (output_place(range.from), usize::try_from(range.bytes).unwrap_or(usize::MAX))
                };
                match found.await?.map(sized) {
                    Some((from, bytes)) => (from, bytes),
                    None if before.is_some() => return Ok(nothing(attempt)),
                    None => (OutputPlace::default(), stream_request.bytes),
                }
            }
        };
        let request = OutputRequest { attempt: Some(attempt), from, bytes };
        let page = self.output_page(id, request).await?;
        // A permission that the rules or an earlier answer gave was not asked of a person.
        let asked = self.store.read(|tx| tx.questions_of(id)).map_err(ToolError::from)?;
        let asked = asked.into_iter().filter(|it| it.answer.as_deref() != Some(REMEMBERED));
        let asked = asked
            .filter_map(|it| ask::request_in(page.attempt, &it.request).map(str::to_owned))
            .collect();
        // What a set-up prints is a program's, whatever the agent speaks.
        let kind = if page.is_setup { PLAIN_KIND } else { agent.kind.as_str() };
        let mut items = steps(kind, &page.lines, &asked);
        if !stream_request.whole {
            items.iter_mut().for_each(shorten_item);
        }
        Ok(AgentStream {
            items,
            from,
            next: output_place(page.next),
            attempt: page.attempt,
            complete: page.complete,
            heard: !page.lines.is_empty(),
        })
    }
}

/// There is nothing before the beginning.
fn nothing(attempt: u32) -> AgentStream {
    let (from, next) = (OutputPlace::default(), OutputPlace::default());
    AgentStream { items: Vec::new(), from, next, attempt, complete: false, heard: false }
}

/// Lines as steps; parts that stand side by side are joined. Of requests for permissions only those are shown that were put
/// to a person (`asked`).
fn steps(kind: &str, lines: &[OutputLine], asked: &BTreeSet<String>) -> Vec<StreamItem> {
    let mut items: Vec<StreamItem> = Vec::new();
    for line in lines {
        for entry in read_transcript(kind, line) {
            if entry.asked.as_ref().is_some_and(|request| !asked.contains(request)) {
                continue;
            }
            let item = stream_item(entry, line);
            match items.last_mut() {
                Some(last) if goes_on(&item, last) => {
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

/// Tool input without secrets.
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
