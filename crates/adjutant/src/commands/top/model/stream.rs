//! An agent's stream as lines that fit: what came of a call stands with the call, pieces of one text are one
//! text. Lines stay where they are while more come.

use std::collections::HashMap;

use host::agent::summary_field;
use model::Timestamp;
use serde_json::Value;
use wire::agents::{AgentStream, OutputPlace, StepKind, StreamItem};

use super::super::text::wrap;
use crate::terminal::render::line;

/// More steps than this are not kept; the oldest can be read again.
const MAX_STEPS: usize = 4000;
/// Lines of a text shown unless expanded.
const SHORT: usize = 8;
/// A text is not joined beyond this.
const MAX_JOINED_BYTES: usize = 256 * 1024;

/// Tone of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Text for the agent that asked
    Said,
    /// Text sent to the agent
    Told,
    /// A call
    Call,
    /// Output of a call, or thoughts
    Quiet,
    /// Error
    Bad,
}

/// A line of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamLine {
    /// When; only where a step begins
    pub(crate) at: Option<Timestamp>,
    /// Marker
    pub(crate) sign: &'static str,
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

/// A place in an agent's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamPlace {
    /// Attempt whose output it is
    pub(crate) attempt: u32,
    pub(crate) place: OutputPlace,
}

/// Sort of an entry of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    /// The beginning of an attempt
    Attempt,
    Step(StepKind),
}

/// Outcome of a call.
#[derive(Debug, Clone, Default)]
struct CallOutput {
    text: String,
    failed: bool,
}

#[derive(Debug, Clone)]
struct Step {
    at: Timestamp,
    kind: EntryKind,
    id: Option<String>,
    text: String,
    attempt: u32,
    part: bool,
    /// Output of a call, once it has come
    output: Option<CallOutput>,
}

/// Length of long texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Length {
    /// The first lines
    #[default]
    Short,
    /// All
    Whole,
}

/// A stream, laid out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    steps: Vec<Step>,
    /// Where calls are, by attempt and id
    calls: HashMap<(u32, String), usize>,
    lines: Vec<StreamLine>,
    /// Where each step's lines begin
    starts: Vec<usize>,
    width: usize,
    length: Length,
    filter: String,
    /// Where what is shown begins
    first: Option<StreamPlace>,
    /// Where the next part begins
    next: Option<StreamPlace>,
}

impl Stream {
    /// The lines, from above to below.
    pub(crate) fn lines(&self) -> &[StreamLine] {
        &self.lines
    }

    /// From where to go on.
    pub(crate) fn next(&self) -> Option<StreamPlace> {
        self.next
    }

    /// Before which place there is more.
    pub(crate) fn earlier(&self) -> Option<StreamPlace> {
        self.first.filter(|first| first.place.segment > 0 || first.place.offset > 0)
    }

    /// Current length.
    pub(crate) fn length(&self) -> Length {
        self.length
    }

    /// Lays everything out anew for a width, a length and a filter.
    pub(crate) fn lay_out(&mut self, width: usize, length: Length, filter: &str) {
        let filter = filter.to_lowercase();
        if (self.width, self.length, &self.filter) != (width, length, &filter) {
            (self.width, self.length, self.filter) = (width, length, filter);
            self.lay_from(0);
        }
    }

    /// Appends a part. Returns the number of lines dropped at the beginning.
    pub(crate) fn append(&mut self, part: &AgentStream) -> usize {
        let attempt = part.attempt;
        self.first.get_or_insert(StreamPlace { attempt, place: part.from });
        self.next = Some(StreamPlace { attempt, place: part.next });
        let mut changed = self.steps.len();
        for item in &part.items {
            changed = changed.min(self.take(item, part.attempt));
        }
        self.lay_from(changed);
        if self.steps.len() <= MAX_STEPS {
            return 0;
        }
        let gone = self.starts.get(MAX_STEPS / 4).copied().unwrap_or(0);
        self.steps.drain(..MAX_STEPS / 4);
        self.renumber();
        self.lay_from(0);
        gone
    }

    /// Prepends a part. Returns its number of lines.
    pub(crate) fn prepend(&mut self, part: &AgentStream) -> usize {
        let before = self.lines.len();
        // Where nothing was, there is nothing earlier either.
        let start = OutputPlace { segment: 0, offset: 0 };
        let place = if part.items.is_empty() { start } else { part.from };
        self.first = Some(StreamPlace { attempt: part.attempt, place });
        let later = std::mem::take(&mut self.steps);
        self.calls.clear();
        for item in &part.items {
            self.take(item, part.attempt);
        }
        self.steps.extend(later);
        self.renumber();
        self.lay_from(0);
        self.lines.len().saturating_sub(before)
    }

    fn renumber(&mut self) {
        let calls = self.steps.iter().enumerate().filter(|(_, step)| step.is_call());
        let keyed = calls.filter_map(|(at, step)| Some(((step.attempt, step.id.clone()?), at)));
        self.calls = keyed.collect();
    }

    /// Takes an item, and gives the first step that it changed.
    fn take(&mut self, item: &StreamItem, attempt: u32) -> usize {
        let end = self.steps.len();
        let last = self.steps.last();
        if last.is_some_and(|last| last.attempt < attempt) {
            let text = format!("attempt {attempt}");
            self.steps.push(Step::new(EntryKind::Attempt, text, item, attempt));
        }
        let key = item.id.clone().map(|id| (attempt, id));
        let call = key.as_ref().and_then(|key| self.calls.get(key)).copied();
        if let Some((at, step)) = call.and_then(|at| Some((at, self.steps.get_mut(at)?))) {
            if item.kind == StepKind::Output {
                let output = step.output.get_or_insert_default();
                output.text.push_str(&item.text);
                output.failed = item.ok == Some(false);
                return at;
            }
            if item.kind == StepKind::Call {
                step.text = about(item);
                return at;
            }
        }
        let kind = EntryKind::Step(item.kind);
        if let Some(last) = self.steps.last_mut()
            && item.part
            && last.part
            && (last.kind, &last.id, last.attempt) == (kind, &item.id, attempt)
            && last.text.len() + item.text.len() <= MAX_JOINED_BYTES
        {
            last.text.push_str(&item.text);
            return end.saturating_sub(1);
        }
        let is_call = item.kind == StepKind::Call;
        let text = if is_call { about(item) } else { item.text.clone() };
        let step = Step::new(kind, text, item, attempt);
        if let Some(key) = key.filter(|_| is_call) {
            self.calls.insert(key, self.steps.len());
        }
        self.steps.push(step);
        end
    }

    fn lay_from(&mut self, step: usize) {
        if self.width == 0 {
            return;
        }
        self.lines.truncate(self.starts.get(step).copied().unwrap_or(self.lines.len()));
        self.starts.truncate(step);
        for step in self.steps.get(step..).unwrap_or_default() {
            self.starts.push(self.lines.len());
            if step.has(&self.filter) {
                step.lay(self.width, self.length, &mut self.lines);
            }
        }
    }
}

impl Step {
    fn new(kind: EntryKind, text: String, item: &StreamItem, attempt: u32) -> Self {
        let id = item.id.clone();
        Self { at: item.at, kind, id, text, attempt, part: item.part, output: None }
    }

    fn is_call(&self) -> bool {
        self.kind == EntryKind::Step(StepKind::Call)
    }

    fn has(&self, filter: &str) -> bool {
        let texts = [Some(&self.text), self.output.as_ref().map(|output| &output.text)];
        let mut texts = texts.into_iter().flatten();
        filter.is_empty() || texts.any(|text| text.to_lowercase().contains(filter))
    }

    fn lay(&self, width: usize, length: Length, lines: &mut Vec<StreamLine>) {
        let (sign, tone) = match self.kind {
            EntryKind::Attempt => ("─", Tone::Quiet),
            EntryKind::Step(kind) => match kind {
                StepKind::Told => ("›", Tone::Told),
                StepKind::Call => ("▸", Tone::Call),
                StepKind::Error => ("✗", Tone::Bad),
                StepKind::Thought | StepKind::Output | StepKind::System => ("·", Tone::Quiet),
                StepKind::Message => (" ", Tone::Said),
            },
        };
        let is_message = self.kind == EntryKind::Step(StepKind::Message);
        let words = if is_message { Length::Whole } else { length };
        let text = short(wrap(self.text.trim_matches('\n'), width), words);
        for (at, text) in text.into_iter().enumerate() {
            let (when, sign) = if at == 0 { (Some(self.at), sign) } else { (None, " ") };
            lines.push(StreamLine { at: when, sign, text, tone });
        }
        let Some(output) = &self.output else { return };
        let (sign, tone) = if output.failed { ("✗", Tone::Bad) } else { ("└", Tone::Quiet) };
        let text = if output.text.trim().is_empty() { "done" } else { &output.text };
        let text = wrap(text.trim_matches('\n'), width);
        for (at, text) in short(text, length).into_iter().enumerate() {
            let sign = if at == 0 { sign } else { " " };
            lines.push(StreamLine { at: None, sign, text, tone });
        }
    }
}

/// The first lines, and how many there are more.
fn short(mut lines: Vec<String>, length: Length) -> Vec<String> {
    if length == Length::Short && lines.len() > SHORT + 1 {
        let more = lines.len() - SHORT;
        lines.truncate(SHORT);
        lines.push(format!("… {more} more lines (o shows them)"));
    }
    lines
}

/// A call in a line: which tool, about what.
fn about(item: &StreamItem) -> String {
    let tool = item.tool.as_deref().unwrap_or("a tool");
    let bare = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    let tool = bare.map_or(tool, |(_, name)| name);
    let told = match &item.input {
        Some(Value::Object(fields)) => {
            let telling = summary_field(fields);
            telling.map_or_else(String::new, |value| {
                value.as_str().map_or_else(|| value.to_string(), str::to_owned)
            })
        }
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    };
    line(&format!("{tool} {told}"))
}
