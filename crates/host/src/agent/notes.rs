//! State shared by several kinds of conversations, and truncation of long texts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Asks, Usage};

/// [`Asks`], as it is written down.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Asks", rename_all = "snake_case")]
pub(super) enum AsksNote {
    Allow,
    Deny,
    Person,
}

/// Tokens counted so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tokens {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
}

impl Tokens {
    /// Usage since an earlier total; `None` if there is none.
    pub(super) fn since(self, before: Self) -> Option<Usage> {
        let usage = Usage {
            input: self.input.saturating_sub(before.input),
            output: self.output.saturating_sub(before.output),
            cache_read: self.cache_read.saturating_sub(before.cache_read),
            cache_write: self.cache_write.saturating_sub(before.cache_write),
        };
        (usage != Usage::default()).then_some(usage)
    }

    /// Both together.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
        }
    }

    /// Without the other.
    pub(super) fn minus(self, other: Self) -> Self {
        let Usage { input, output, cache_read, cache_write } =
            self.since(other).unwrap_or_default();
        Self { input, output, cache_read, cache_write }
    }

    /// In each way of counting, the more of both.
    pub(super) fn most(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
        }
    }
}

/// A count as programs write it. One that is too large to be an integer is as large as a count can be, so that an
/// absurd figure is not free; a negative one, or no number at all, is 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast saturates, and NaN becomes 0"
)]
pub(super) fn count(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64)).unwrap_or_default()
}

/// Tool input, truncated for [`super::Event`].
pub(super) fn input(value: &Value) -> String {
    if value.is_null() { "{}".to_owned() } else { clip(&value.to_string(), 2_000) }
}

/// Error text, cut to one short line for [`super::Event`].
pub(super) fn error(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { "it failed".to_owned() } else { clip(&line, 200) }
}

/// At most so many characters; that something was cut shows.
pub(super) fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// The first string of that name in a line that is too long to be read: only its head was kept.
pub(super) fn string_in<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = head.split_once(&format!("\"{name}\":\""))?;
    rest.split('"').next()
}

/// True if a text reports a reached account limit rather than a failure.
pub(super) fn tells_of_a_limit(text: &str) -> bool {
    let text = text.to_lowercase();
    ["usage limit", "out of credits", "spend cap"].iter().any(|words| text.contains(words))
}
