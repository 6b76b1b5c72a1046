//! End of a conversation, for interactive kinds.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::notes::clip;
use super::{Brief, EndReport, EndReportStatus, Event, Step, report};
use crate::run::{OutputLine, Stream};

/// The longest reason of a failure.
const MAX_REASON_CHARS: usize = 500;

/// Result and complaints collected on the way to the end of a conversation.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// The last words are to be a value, whatever it may mean
    has_schema: bool,
    value: Option<Value>,
    complaint: String,
    is_told: bool,
}

impl Outcome {
    /// Of an agent that is held to the brief's schema, if there is one.
    pub(super) fn of(brief: &Brief) -> Self {
        Self { has_schema: brief.schema.is_some(), ..Self::default() }
    }

    /// A line that is no part of the talk. The last one on the standard error may be the reason why there
    /// is no talk.
    pub(super) fn heard(&mut self, line: &OutputLine) {
        let text = line.text.trim();
        if line.stream == Stream::Err && !text.is_empty() {
            self.complaint = clip(&plain(text), MAX_REASON_CHARS);
        }
    }

    /// A turn ended well, with these words. A result that an earlier one gave still counts.
    pub(super) fn turn(&mut self, text: &str) {
        let given =
            if self.has_schema { serde_json::from_str(text).ok() } else { report::result_in(text) };
        self.value = given.or_else(|| self.value.take());
    }

    /// It is done, well.
    pub(super) fn well(&mut self, text: &str) -> Step {
        let verdict = match &self.value {
            // The meaning of a status in a foreign schema is not known.
            Some(value) if !self.has_schema => report::verdict(value),
            _ => EndReportStatus::Success,
        };
        let value = self.value.clone();
        self.tell(EndReport { verdict, text: text.to_owned(), value })
    }

    /// It is done, and failed.
    pub(super) fn badly(&mut self, why: &str, text: &str) -> Step {
        let verdict = EndReportStatus::Failure(clip(why, MAX_REASON_CHARS));
        self.tell(EndReport { verdict, text: text.to_owned(), value: None })
    }

    /// It is done, because of a bound of its own.
    pub(super) fn bounded(&mut self, why: &str, text: &str) -> Step {
        let verdict = EndReportStatus::Aborted(clip(why, MAX_REASON_CHARS));
        self.tell(EndReport { verdict, text: text.to_owned(), value: None })
    }

    /// The program has exited. Unless it reported its end before, this is its end.
    pub(super) fn gone(&mut self, text: &str) -> Vec<Step> {
        if self.is_told {
            return Vec::new();
        }
        let why = match std::mem::take(&mut self.complaint) {
            none if none.is_empty() => "it ended without a result".to_owned(),
            complaint => complaint,
        };
        vec![self.badly(&why, text)]
    }

    fn tell(&mut self, done: EndReport) -> Step {
        self.is_told = true;
        Step::Saw(Event::Done(done))
    }
}

/// Without what only a terminal understands.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => {
                chars.by_ref().find(char::is_ascii_alphabetic);
            }
            c if c.is_control() => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}
