//! The only reader of YAML: bounded, and with errors that show the line.

mod excerpt;

use miette::{Diagnostic, NamedSource, SourceSpan};
use model::nearest::nearest;
use serde::de::DeserializeOwned;
use serde_saphyr::{Error, Location};

/// A settings file larger than this is a mistake.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// Problem in a file that people write, with its place and a suggestion.
#[derive(Debug, Clone, thiserror::Error, Diagnostic)]
#[error("{place}: {message}")]
pub(crate) struct Problem {
    /// Issues
    pub(crate) message: String,
    /// Advice
    #[help]
    pub(crate) help: Option<String>,
    /// The file, and the line where one is known: `config.yaml:3`
    pub(crate) place: String,
    /// The line, counted from 1
    pub(crate) line: Option<usize>,
    #[source_code]
    source_text: NamedSource<String>,
    #[label("here")]
    span: Option<SourceSpan>,
}

impl Problem {
    /// A problem with a file as a whole, or with something that stands in no file.
    pub(crate) fn of(place: &str, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            message: message.into(),
            help: None,
            place: place.to_owned(),
            line: None,
            source_text: NamedSource::new(place, String::new()),
            span: None,
        })
    }

    /// A problem at a place in a text.
    pub(crate) fn at(
        name: &str,
        text: &str,
        location: Location,
        message: impl Into<String>,
    ) -> Box<Self> {
        let mut line = usize::try_from(location.line()).unwrap_or(0);
        let Some(mut start) = line_start(text, line) else { return Self::of(name, message) };
        let mut width = usize::try_from(location.span().len()).unwrap_or(0);
        let mut before = usize::try_from(location.column()).unwrap_or(1).saturating_sub(1);
        let line_at =
            |start| text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let mut content = line_at(start);
        // What never ends is noticed at the end of the file, where there is nothing to be seen.
        while content.trim().is_empty()
            && let Some(above) = line.checked_sub(1).and_then(|line| line_start(text, line))
        {
            (line, start, content) = (line - 1, above, line_at(above));
            let blank = content.chars().take_while(|c| c.is_whitespace()).count();
            (before, width) = (blank, content.chars().count() - blank);
        }
        // Characters in, bytes out; what lies past the line's end is not shown.
        let bytes = |chars: usize| content.chars().take(chars).map(char::len_utf8).sum::<usize>();
        let (from, to) = (bytes(before), bytes(before.saturating_add(width.max(1))));
        Box::new(Self {
            message: message.into(),
            help: None,
            place: format!("{name}:{line}"),
            line: Some(line),
            source_text: NamedSource::new(name, text.to_owned()).with_language("YAML"),
            span: Some((start + from, to - from).into()),
        })
    }

    /// A problem at a byte of a text in another language.
    pub(crate) fn at_byte(
        name: &str,
        text: &str,
        byte: usize,
        message: impl Into<String>,
    ) -> Box<Self> {
        let before = text.get(..byte).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let mut problem = Self::of(name, message);
        problem.place = format!("{name}:{line}");
        problem.line = Some(line);
        problem.source_text = NamedSource::new(name, text.to_owned());
        problem.span = Some((before.len(), 0).into());
        problem
    }

    /// The problem, on the line that begins with this key.
    pub(crate) fn at_key(name: &str, text: &str, key: &str, message: String) -> Box<Self> {
        let found = text.lines().position(|line| {
            line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
        });
        let mut problem = Self::of(name, message);
        if let Some(index) = found
            && let Some(start) = line_start(text, index + 1)
        {
            problem.place = format!("{name}:{}", index + 1);
            problem.line = Some(index + 1);
            problem.source_text = NamedSource::new(name, text.to_owned()).with_language("YAML");
            problem.span = Some((start, key.len()).into());
        }
        problem
    }

    /// The lines around the place with a mark under it, where one is known.
    pub(crate) fn excerpt(&self, width: usize) -> Option<String> {
        let span = self.span?;
        let place = span.offset()..span.offset() + span.len();
        Some(excerpt::excerpt(self.source_text.inner(), &place, width))
    }

    /// The text at the place.
    fn marked(&self) -> &str {
        let place = self.span.map(|span| span.offset()..span.offset() + span.len());
        place.and_then(|place| self.source_text.inner().get(place)).unwrap_or_default()
    }

    /// Name of the file.
    pub(crate) fn file(&self) -> &str {
        self.source_text.name()
    }

    /// The problem with advice.
    #[must_use]
    pub(crate) fn with_help(mut self: Box<Self>, help: Option<String>) -> Box<Self> {
        self.help = help;
        self
    }
}

/// Where a line begins, counted from 1.
fn line_start(text: &str, line: usize) -> Option<usize> {
    match line {
        0 => None,
        1 => Some(0),
        _ => text.match_indices('\n').nth(line - 2).map(|(at, _)| at + 1),
    }
}

/// Reads a value. `name` is what the file is called in messages; `shown` is what is shown of it,
/// line for line the same as `text`.
pub(crate) fn parse<T: DeserializeOwned>(
    name: &str,
    text: &str,
    shown: &str,
) -> Result<T, Box<Problem>> {
    if text.len() > MAX_BYTES {
        return Err(Problem::of(name, format!("is larger than {MAX_BYTES} bytes")));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 32,
            max_nodes: 50_000,
            max_aliases: 100,
            max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 10_000,
            max_replay_stack_depth: 16,
        },
        emit_comments: false,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options.clone()).map_err(|error| {
        // What is no YAML at all is often first noticed as a value that does not fit.
        let whole = serde_saphyr::from_str_with_options::<serde_json::Value>(text, options);
        match whole {
            Err(first) if !matches!(first.without_snippet(), Error::NonFiniteFloat { .. }) => {
                explain(name, shown, &first)
            }
            _ => explain(name, shown, &error),
        }
    })
}

/// Describes it in the words of the file.
fn explain(name: &str, text: &str, error: &Error) -> Box<Problem> {
    let error = error.without_snippet();
    let location = error.location().unwrap_or(Location::UNKNOWN);
    let (message, help) = match error {
        Error::SerdeUnknownField { field, expected, .. } => {
            (format!("unknown key `{field}`"), Some(advice(field, expected)))
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            (format!("`{variant}` is not known here"), Some(advice(variant, expected)))
        }
        Error::SerdeMissingField { field, .. } => (format!("`{field}` is missing"), None),
        Error::SerdeInvalidType { unexpected, expected, .. }
        | Error::SerdeInvalidValue { unexpected, expected, .. } => {
            (format!("expected {expected}, found {unexpected}"), None)
        }
        Error::InvalidScalar { ty, .. } => {
            let problem = Problem::at(name, text, location, "");
            (
                outside(ty, problem.marked()).unwrap_or_else(|| format!("expected {}", plain(ty))),
                None,
            )
        }
        Error::Unexpected { expected, .. } => (format!("expected {}", plain(expected)), None),
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or("this key");
            let help = "put both together, or take one of them away".to_owned();
            (format!("`{key}` is here for the second time"), Some(help))
        }
        Error::Message { msg, .. } => (msg.clone(), None),
        other => syntax(&without_place(&other.to_string(), location)),
    };
    Problem::at(name, text, location, message).with_help(help)
}

/// Parser message in plainer words, with advice.
fn syntax(output: &str) -> (String, Option<String>) {
    let known = [
        ("tabs disallowed", "a tab cannot indent", "indent with spaces"),
        (
            "mapping values are not allowed",
            "there cannot be a key here",
            "begin it as far to the right as the keys beside it; quote a text that has `: ` in it",
        ),
        (
            "multiline quoted scalar",
            "the quote that begins here does not end",
            "close the quote on its line",
        ),
        (
            "did not find expected key",
            "this key does not stand under the others",
            "begin it as far to the right as the keys beside it",
        ),
        (
            "illegal placement of ':'",
            "there cannot be a key here",
            "close the bracket or quote before it, or quote a text that has `:` in it",
        ),
        ("unexpected end of", "this does not end", "close its quote or bracket"),
        ("unclosed", "the bracket that begins here does not end", "close the bracket"),
    ];
    let found = known.iter().find(|(mark, ..)| output.contains(mark));
    let (message, help) = match found {
        Some((_, message, help)) => (*message, *help),
        None => (output, "look at the quotes, brackets and spaces here and on the line before"),
    };
    (message.to_owned(), Some(help.to_owned()))
}

/// Message for a number outside its type's range.
fn outside(ty: &str, given: &str) -> Option<String> {
    let most: u64 = match ty {
        "u8" => u8::MAX.into(),
        "u16" => u16::MAX.into(),
        "u32" => u32::MAX.into(),
        _ => return None,
    };
    let given: u128 = given.trim().parse().ok()?;
    Some(format!("{given} is not between 0 and {most}"))
}

/// Suggestion of the nearest name, else all names.
fn advice(given: &str, known: &[&'static str]) -> String {
    match nearest(given, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("known here: {}", known.join(", ")),
    }
}

/// A type's name for people.
fn plain(ty: &str) -> String {
    match ty {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, not negative".to_owned(),
        "i8" | "i16" | "i32" | "i64" => "a whole number".to_owned(),
        "f32" | "f64" | "float" => "a number".to_owned(),
        "bool" | "boolean" => "true or false".to_owned(),
        "mapping start" => "keys with values, as `name: value`".to_owned(),
        "sequence start" => "a list, as `[a, b]`".to_owned(),
        "string scalar" | "scalar" => "a single value".to_owned(),
        other => other.to_owned(),
    }
}

/// The parser's messages end with the place, which we say in our own way.
fn without_place(message: &str, location: Location) -> String {
    let marker = format!("line {}", location.line());
    let cut = message.find(&marker).and_then(|at| message.get(..at)).unwrap_or(message);
    let cut = cut.trim_end().trim_end_matches(" at").trim_end_matches([':', ',', '(']);
    let first = if cut.trim().is_empty() { message } else { cut };
    first.lines().next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn problem(text: &str) -> String {
        parse::<BTreeMap<String, u16>>("f.yaml", text, text).unwrap_err().to_string()
    }

    #[test]
    fn messages_name_the_line() {
        assert_eq!(problem("a: 1\nb: x"), "f.yaml:2: expected a whole number, not negative");
        assert_eq!(problem("a: 1\nb: 70000"), "f.yaml:2: 70000 is not between 0 and 65535");
        assert_eq!(problem("a: 1\nb: -1"), "f.yaml:2: expected a whole number, not negative");
        for text in ["a: 1\na: 2", "a: [1", "a: 'x", "- 1", "a: *nowhere", "a: 1\n\tb: 2"] {
            assert!(problem(text).starts_with("f.yaml:"), "{}", problem(text));
        }
    }

    #[test]
    fn bombs_do_not_go_off() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..12 {
            let inner = format!("*a{},", n - 1).repeat(10);
            text.extend([format!("a{n}: &a{n} [{inner}]\n")]);
        }
        assert!(parse::<serde_json::Value>("f.yaml", &text, &text).is_err());
        let deep = "[".repeat(5000);
        assert!(parse::<serde_json::Value>("f.yaml", &deep, &deep).is_err());
        let long = "a".repeat(MAX_BYTES + 1);
        assert!(parse::<serde_json::Value>("f.yaml", &long, &long).is_err());
    }
}
