//! Renders the steps of an agent's transcript as short lines for people.

use std::collections::HashMap;

use serde_json::Value;
use wire::agents::{StepKind, StreamItem};

use crate::terminal::render::{bad, dim, line, name, odd, plain, room, short};

/// Upper bound on the length of a call or an answer, even in a pipe.
const MAX_LINE: usize = 200;

/// How much of each step is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Texts as they are, and what came of each call
    #[default]
    Full,
    /// What the agent says and does, one line each; of what came of calls only failures
    Brief,
}

/// Upper bound on a text that is kept until it is complete; of a brief one only the beginning is shown.
const MAX_OPEN_TEXT: usize = 4_096;

/// Turns steps into lines. Keeps the end of a text that comes in parts until its line is complete.
#[derive(Debug, Default)]
pub(crate) struct TranscriptWriter {
    detail: Detail,
    /// Text whose last line is not complete yet
    open: Option<OpenText>,
    /// Calls without an output so far, by id
    calls: HashMap<String, ShownCall>,
}

/// A text that comes in parts.
#[derive(Debug)]
struct OpenText {
    kind: StepKind,
    id: Option<String>,
    tone: Tone,
    /// Last line, as far as it has come
    line: String,
}

impl OpenText {
    fn continues_with(&self, step: &StreamItem) -> bool {
        (self.kind, &self.id, self.tone) == (step.kind, &step.id, Tone::of(step))
    }
}

/// A call as it was shown.
#[derive(Debug, Clone, PartialEq)]
struct ShownCall {
    tool: String,
    input: Option<Value>,
}

impl TranscriptWriter {
    /// A writer that shows one line of each step.
    pub(crate) fn brief() -> Self {
        Self { detail: Detail::Brief, ..Self::default() }
    }

    /// The lines that a step completes.
    pub(crate) fn write(&mut self, step: &StreamItem) -> Vec<String> {
        let mut lines = if step.part {
            self.append(step)
        } else {
            let before = self.finish();
            before.into_iter().chain(self.whole(step)).collect()
        };
        if step.cut > 0 {
            lines.extend(self.finish());
            lines.push(dim(format!("({} bytes of this line were left out)", step.cut)));
        }
        lines
    }

    /// The line that is still open, if it says anything.
    pub(crate) fn finish(&mut self) -> Option<String> {
        let open = self.open.take()?;
        let has_words = !open.line.trim().is_empty();
        has_words.then(|| self.painted(open.tone, &open.line))
    }

    /// A text in its tone, and as long as it may be.
    fn painted(&self, tone: Tone, text: &str) -> String {
        match self.detail {
            Detail::Full => tone.paint(text),
            Detail::Brief => tone.paint(&short(text, room(0).min(MAX_LINE))),
        }
    }

    /// Adds a part to the open text.
    fn append(&mut self, step: &StreamItem) -> Vec<String> {
        let goes_on = self.open.as_ref().is_some_and(|open| open.continues_with(step));
        let mut lines: Vec<String> =
            if goes_on { Vec::new() } else { self.finish().into_iter().collect() };
        let open = self.open.get_or_insert_with(|| OpenText {
            kind: step.kind,
            id: step.id.clone(),
            tone: Tone::of(step),
            line: String::new(),
        });
        let is_program = step.kind == StepKind::Output;
        if self.detail == Detail::Brief && !is_program {
            // What an agent says is one line, however many it writes.
            let left = MAX_OPEN_TEXT.saturating_sub(open.line.len());
            open.line.extend(plain(&step.text).chars().take(left));
            return lines;
        }
        open.line.push_str(&plain(&step.text));
        if let Some((complete, rest)) = open.line.rsplit_once('\n') {
            let (tone, complete, rest) = (open.tone, complete.to_owned(), rest.to_owned());
            open.line = rest;
            match self.detail {
                Detail::Full => lines.push(tone.paint(&complete)),
                Detail::Brief => {
                    let written = complete.lines().filter(|line| !line.trim().is_empty());
                    lines.extend(written.map(|line| self.painted(tone, line)));
                }
            }
        }
        lines
    }

    /// A step that is complete in itself.
    fn whole(&mut self, step: &StreamItem) -> Option<String> {
        let most = room(2).min(MAX_LINE);
        let text = match step.kind {
            StepKind::Told => format!("{} {}", name("»"), short(&step.text, most)),
            StepKind::Message | StepKind::Thought => {
                self.painted(Tone::of(step), &plain(step.text.trim_end()))
            }
            StepKind::Call => self.call(step, most)?,
            StepKind::Output => {
                if let Some(id) = &step.id {
                    self.calls.remove(id);
                }
                match (step.ok, self.detail) {
                    (Some(false), _) => failure(&step.text, most),
                    (_, Detail::Brief) => return None,
                    (_, Detail::Full) => format!("{} {}", dim("←"), dim(short(&step.text, most))),
                }
            }
            StepKind::Error => failure(&step.text, most),
            StepKind::System => {
                let input = step.input.as_ref().map(|input| format!(" {}", input_text(input)));
                let text = format!("{}{}", step.text, input.unwrap_or_default());
                dim(format!("· {}", short(&text, most)))
            }
        };
        Some(text).filter(|text| !text.trim().is_empty())
    }

    /// A call, unless it was shown like this before: some agents report one several times.
    fn call(&mut self, step: &StreamItem, most: usize) -> Option<String> {
        let known = step.id.as_ref().and_then(|id| self.calls.get(id));
        let tool = step.tool.as_ref().or(known.map(|call| &call.tool));
        let tool = tool.map_or_else(|| "a tool".to_owned(), |tool| line(tool));
        let call = ShownCall { tool, input: step.input.clone() };
        if known == Some(&call) {
            return None;
        }
        let left = most.saturating_sub(call.tool.chars().count() + 1).max(10);
        let input = call.input.as_ref().map(|input| short(&input_text(input), left));
        let (sign, tool) = (name("→"), name(&call.tool));
        let text = format!("{sign} {tool} {}", dim(input.unwrap_or_default()));
        if let Some(id) = &step.id {
            self.calls.insert(id.clone(), call);
        }
        Some(text)
    }
}

/// Emphasis of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tone {
    /// Answers and output
    Plain,
    /// Thoughts and standard error
    Dim,
}

impl Tone {
    fn of(step: &StreamItem) -> Self {
        let is_dim = step.err || step.kind == StepKind::Thought;
        if is_dim { Self::Dim } else { Self::Plain }
    }

    fn paint(self, text: &str) -> String {
        match self {
            Self::Dim if !text.is_empty() => dim(text),
            Self::Dim | Self::Plain => text.to_owned(),
        }
    }
}

fn failure(text: &str, most: usize) -> String {
    format!("{} {}", bad("←"), odd(short(text, most)))
}

/// Input of a tool: a lone command or text as it is, anything else as JSON.
fn input_text(input: &Value) -> String {
    let lone = match input {
        Value::Object(fields) if fields.len() == 1 => fields.get("command"),
        _ => None,
    };
    match lone.unwrap_or(input) {
        Value::String(text) => text.clone(),
        _ => input.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use model::Timestamp;
    use serde_json::json;

    use super::*;

    fn step(kind: StepKind, text: &str) -> StreamItem {
        StreamItem {
            at: Timestamp::from_millis(0),
            kind,
            id: None,
            tool: None,
            text: text.to_owned(),
            input: None,
            ok: None,
            duration_ms: None,
            commit: None,
            part: false,
            err: false,
            cut: 0,
        }
    }

    fn part(kind: StepKind, text: &str) -> StreamItem {
        StreamItem { part: true, ..step(kind, text) }
    }

    fn call(id: &str, tool: Option<&str>, input: Value) -> StreamItem {
        let (id, tool) = (Some(id.to_owned()), tool.map(str::to_owned));
        StreamItem { id, tool, input: Some(input), ..step(StepKind::Call, "") }
    }

    fn output(id: &str, text: &str) -> StreamItem {
        StreamItem { id: Some(id.to_owned()), ok: Some(true), ..step(StepKind::Output, text) }
    }

    /// Lines as they are written, without colours.
    fn written(steps: &[StreamItem]) -> Vec<String> {
        let mut writer = TranscriptWriter::default();
        let mut lines: Vec<String> = steps.iter().flat_map(|step| writer.write(step)).collect();
        lines.extend(writer.finish());
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }

    #[test]
    fn a_program_s_lines_are_shown_as_they_are_but_cannot_command_a_terminal() {
        let err =
            StreamItem { err: true, ..part(StepKind::Output, "\u{1b}]0;owned\u{7}a warning\n") };
        let lines = written(&[
            part(StepKind::Output, "\u{1b}[31mred\u{1b}[0m and\ttabs\n\nlast\n"),
            err,
            step(StepKind::Told, "go\non"),
            part(StepKind::Output, "[1, 2]\n"),
        ]);
        assert_eq!(lines, ["red and\ttabs\n\nlast", "a warning", "» go on", "[1, 2]"]);
    }

    #[test]
    fn parts_of_a_text_are_joined_until_another_begins() {
        let lines = written(&[
            part(StepKind::Thought, "Let me "),
            part(StepKind::Thought, "see."),
            part(StepKind::Message, "I lo"),
            part(StepKind::Message, "ok.\nAnd"),
            part(StepKind::Message, " then?"),
            call("1", Some("grep"), json!({})),
            part(StepKind::Message, " \n"),
            part(StepKind::Message, "End"),
        ]);
        assert_eq!(lines, ["Let me see.", "I look.", "And then?", "→ grep {}", " ", "End"]);
    }

    #[test]
    fn calls_and_their_outputs_are_short_and_errors_say_so() {
        let lines = written(&[
            call("1", Some("Bash"), json!({ "command": "ls" })),
            output("1", "a\nb"),
            call("2", Some("mcp__mail__send"), json!({ "to": "x" })),
            StreamItem { ok: Some(false), ..output("2", "no such agent") },
            call("3", Some("Write"), json!({ "content": "x".repeat(1000) })),
            step(StepKind::Error, "Credit is used up"),
            StreamItem {
                input: Some(json!({ "path": "a" })),
                ..step(StepKind::System, "asks whether it may use Write")
            },
        ]);
        assert_eq!(
            lines[..4],
            ["→ Bash ls", "← a b", r#"→ mcp__mail__send {"to":"x"}"#, "← no such agent"]
        );
        assert_eq!((lines[4].chars().count(), lines[4].ends_with('…')), (MAX_LINE + 2, true));
        assert_eq!(lines[5], "← Credit is used up");
        assert_eq!(lines[6], r#"· asks whether it may use Write {"path":"a"}"#);
    }

    #[test]
    fn a_call_that_is_reported_again_is_shown_once_unless_it_says_more() {
        let lines = written(&[
            call("1", Some("apply_patch"), json!([{ "path": "a.rs" }])),
            call("1", Some("apply_patch"), json!([{ "path": "a.rs" }])),
            output("1", ""),
            call("2", Some("Read"), json!({})),
            call("2", None, json!({ "path": "b.rs" })),
        ]);
        assert_eq!(
            lines,
            [r#"→ apply_patch [{"path":"a.rs"}]"#, "← ", "→ Read {}", r#"→ Read {"path":"b.rs"}"#]
        );
    }

    #[test]
    fn in_brief_each_step_is_one_line_and_only_failures_of_calls_are_shown() {
        let steps = [
            step(StepKind::Message, "# Done\n\n- one\n- two"),
            part(StepKind::Message, "I look.\nAnd "),
            part(StepKind::Message, "then?"),
            call("1", Some("Bash"), json!({ "command": "ls" })),
            output("1", "a\nb"),
            call("2", Some("Bash"), json!({ "command": "false" })),
            StreamItem { ok: Some(false), ..output("2", "exit\n1") },
            part(StepKind::Output, "one\n\ntwo\nthr"),
            part(StepKind::Output, "ee\n"),
            step(StepKind::Message, &"x".repeat(1000)),
        ];
        let mut writer = TranscriptWriter::brief();
        let mut lines: Vec<String> = steps.iter().flat_map(|step| writer.write(step)).collect();
        lines.extend(writer.finish());
        let lines: Vec<String> =
            lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
        let wanted =
            ["# Done - one - two", "I look. And then?", "→ Bash ls", "→ Bash false", "← exit 1"];
        assert_eq!(lines[..5], wanted);
        assert_eq!(lines[5..8], ["one", "two", "three"]);
        assert_eq!((lines[8].chars().count(), lines.len()), (MAX_LINE, 9));
    }

    #[test]
    fn what_was_cut_is_said_after_the_text() {
        let lines = written(&[
            StreamItem { cut: 7, ..part(StepKind::Output, "long\n") },
            StreamItem { cut: 2, ..part(StepKind::Message, "open") },
        ]);
        let cut = |bytes: u64| format!("({bytes} bytes of this line were left out)");
        assert_eq!(lines, ["long".to_owned(), cut(7), "open".to_owned(), cut(2)]);
    }
}
