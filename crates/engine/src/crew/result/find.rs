//! Finds JSON at the end of an agent's last message, where agents put their results.

use serde_json::{Map, Value};

use super::{Asked, Status, TEXT};
use crate::crew::context::tail;

/// Number of candidate positions tried, from the end.
const MAX_CANDIDATES: usize = 64;

/// A value in a text.
pub(super) struct FoundValue<'a> {
    /// The value
    pub(super) value: Value,
    /// Text before it
    pub(super) before: &'a str,
}

/// The last result in a text: its last line, else its last block of code, else a value that it ends with or is. Where
/// a schema says what was asked for it need not look like a result.
pub(super) fn last_json(words: &str, asked: Asked) -> Option<FoundValue<'_>> {
    let words = without_reports(tail(words, TEXT));
    let line = words.rfind('\n').map_or(0, |at| at + 1);
    let is_wanted = |value: &Value| match value {
        Value::Object(fields) => asked == Asked::Schema || is_result(fields),
        Value::Array(_) => asked == Asked::Schema,
        _ => false,
    };
    let at = |from: usize, to: usize, before: usize| {
        let value: Value = serde_json::from_str(words.get(from..to)?.trim()).ok()?;
        is_wanted(&value).then_some(FoundValue { value, before: words.get(..before)? })
    };
    at(line, words.len(), line)
        .or_else(|| last_block(words).and_then(|block| at(block.from, block.to, block.begin)))
        .or_else(|| {
            // What is indented lies inside another value.
            let opens = |(from, line): (usize, &str)| line.starts_with(['{', '[']).then_some(from);
            let places: Vec<usize> = lines(words).filter_map(opens).collect();
            places
                .into_iter()
                .rev()
                .take(MAX_CANDIDATES)
                .find_map(|from| at(from, words.len(), from))
        })
}

/// The text up to the lines at its end that report usage: they may come after a result.
fn without_reports(words: &str) -> &str {
    let mut words = words.trim_end();
    loop {
        let line = words.rfind('\n').map_or(0, |at| at + 1);
        let last: Option<Map<String, Value>> =
            words.get(line..).and_then(|line| serde_json::from_str(line.trim()).ok());
        match last {
            Some(fields) if fields.contains_key("adjutant") => {
                words = words.get(..line).unwrap_or_default().trim_end();
            }
            _ => return words,
        }
    }
}

/// True if an object has a field of a result.
fn is_result(fields: &Map<String, Value>) -> bool {
    let is = |name: &str, fits: fn(&Value) -> bool| fields.get(name).is_some_and(fits);
    is("summary", Value::is_string)
        || is("status", |status| status.as_str().and_then(Status::parse).is_some())
        || ["changes", "issues", "questions"].iter().any(|name| is(name, Value::is_array))
}

/// A block of code.
struct Block {
    /// Where its fence begins
    begin: usize,
    /// Where its content is
    from: usize,
    to: usize,
}

/// The last block of code that may be JSON by its name.
fn last_block(words: &str) -> Option<Block> {
    let (mut last, mut open) = (None, None);
    for (at, line) in lines(words) {
        let fence = line.trim();
        let length = fence.bytes().take_while(|byte| *byte == b'`').count();
        match open {
            None if length >= 3 => {
                let name = fence.trim_start_matches('`').trim();
                let may_be = name.is_empty() || name.eq_ignore_ascii_case("json");
                open = Some((length, at, at + line.len(), may_be));
            }
            Some((least, begin, from, may_be)) if length >= least && length == fence.len() => {
                if may_be {
                    last = Some(Block { begin, from, to: at });
                }
                open = None;
            }
            _ => {}
        }
    }
    last
}

/// The lines of a text, and where each begins.
fn lines(words: &str) -> impl Iterator<Item = (usize, &str)> {
    words.split_inclusive('\n').scan(0, |at, line| {
        let from = *at;
        *at += line.len();
        Some((from, line))
    })
}
