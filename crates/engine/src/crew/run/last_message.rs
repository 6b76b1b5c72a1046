//! The last messages of an agent, read from its output: for agents without a result, whose messages would be lost.

use std::collections::VecDeque;

use host::agent::{EntryKind, TranscriptEntry, read_transcript};
use host::files::FileError;
use host::run::{OutputLine, RunFolder, Stream};

use crate::core::redact::LineRedactor;

/// Lines at the end of an output that are read.
const LAST_LINES: usize = 400;
/// Bytes read at once.
const READ_CHUNK: usize = 256 * 1024;
/// Upper bound on the words, in bytes: whole messages, but for a last one that is longer.
const MAX_BYTES: usize = 8 * 1024;

/// The last messages of a run, oldest first, without those that are only about how it ended. Empty if it wrote none.
/// Blocks.
pub(crate) fn last_message(
    kind: &str,
    folder: &RunFolder,
    is_about_end: impl Fn(&str) -> bool,
) -> Result<String, FileError> {
    let Some(range) = folder.tail(None, LAST_LINES)? else { return Ok(String::new()) };
    let mut reader = folder.output(range.from);
    let (mut output, mut redactor) = (SpokenMessages::default(), LineRedactor::default());
    loop {
        let mut lines = reader.next(READ_CHUNK)?;
        let is_last = lines.is_empty();
        if is_last {
            lines = reader.finish();
        }
        for line in lines.into_iter().filter(|line| line.stream == Stream::Out) {
            let line = OutputLine { text: redactor.line(line.text.clone()), ..line };
            for entry in read_transcript(kind, &line) {
                output.hear(entry);
            }
        }
        if is_last {
            return Ok(output.words(is_about_end));
        }
    }
}

/// Messages as they are heard.
#[derive(Debug, Default)]
struct SpokenMessages {
    messages: VecDeque<String>,
    /// Lines that a program printed which has no messages of its own
    printed: String,
    /// True if the last message was a piece, which the next one may continue
    is_open: bool,
    /// Its id
    open_id: Option<String>,
}

impl SpokenMessages {
    fn hear(&mut self, entry: TranscriptEntry) {
        let TranscriptEntry { kind, id, text, part, .. } = entry;
        if kind != EntryKind::Message {
            self.is_open = false;
            if kind == EntryKind::Output && id.is_none() {
                self.printed.push_str(&text);
            }
            return;
        }
        let goes_on = part && self.is_open && self.open_id == id;
        match self.messages.back_mut().filter(|_| goes_on) {
            Some(last) => last.push_str(&text),
            None => self.messages.push_back(text),
        }
        (self.is_open, self.open_id) = (part, id);
    }

    fn words(mut self, is_about_end: impl Fn(&str) -> bool) -> String {
        if self.messages.is_empty() {
            self.messages.push_back(self.printed);
        }
        let mut kept = VecDeque::new();
        let mut bytes = 0;
        for message in self.messages.iter().rev().map(|message| message.trim()) {
            if message.is_empty() || is_about_end(message) {
                continue;
            }
            bytes += message.len();
            if bytes > MAX_BYTES && !kept.is_empty() {
                break;
            }
            kept.push_front(end_of(message));
        }
        Vec::from(kept).join("\n\n")
    }
}

/// The end of a message that is too long.
fn end_of(message: &str) -> &str {
    let from = message.len().saturating_sub(MAX_BYTES);
    (from..=message.len()).find_map(|from| message.get(from..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: EntryKind, text: &str, part: Option<&str>) -> TranscriptEntry {
        let line = OutputLine {
            at: model::Timestamp::from_millis(0),
            stream: Stream::Out,
            text: text.to_owned(),
            cut: 0,
        };
        let mut entry = read_transcript("script", &line).remove(0);
        (entry.kind, entry.part) = (kind, part.is_some());
        entry.id = part.map(str::to_owned);
        entry
    }

    fn words(entries: Vec<TranscriptEntry>) -> String {
        let mut output = SpokenMessages::default();
        for entry in entries {
            output.hear(entry);
        }
        output.words(|text| text == "API Error")
    }

    #[test]
    fn pieces_are_joined_and_what_is_about_the_end_is_left_out() {
        let message = |text| entry(EntryKind::Message, text, None);
        let piece = |text, id| entry(EntryKind::Message, text, Some(id));
        let output = words(vec![
            message("I look."),
            entry(EntryKind::Call, "call", None),
            piece("It lo", "1"),
            piece("ses a line.", "1"),
            piece("And", "2"),
            entry(EntryKind::Thought, "hm", None),
            piece("more.", "2"),
            message("API Error"),
        ]);
        assert_eq!(output, "I look.\n\nIt loses a line.\n\nAnd\n\nmore.");
        assert_eq!(words(vec![message("API Error")]), "");
        let printed = |text| entry(EntryKind::Output, text, None);
        assert_eq!(words(vec![printed("one\n"), printed("two\n")]), "one\ntwo");
        assert_eq!(words(vec![printed("one\n"), message("two")]), "two");
    }

    #[test]
    fn the_last_messages_count_most() {
        let long = "x".repeat(MAX_BYTES - 3);
        let message = |text: &str| entry(EntryKind::Message, text, None);
        assert_eq!(words(vec![message("first"), message(&long), message("last")]), "last");
        assert_eq!(
            words(vec![message("first"), message("la"), message(&long)]).len(),
            long.len() + 4
        );
        let longer = format!("ü{long}xx");
        let end = longer.strip_prefix('ü').unwrap();
        assert_eq!(words(vec![message("first"), message(&longer)]), end);
    }
}
