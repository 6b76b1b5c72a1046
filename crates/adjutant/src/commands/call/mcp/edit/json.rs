//! JSON, with comments or without.

use jsonc_parser::common::Range;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use jsonc_parser::errors::ParseError;
use jsonc_parser::tokens::Token;
use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, JsonValue, ParseOptions, ast, parse_to_ast,
    parse_to_value,
};
use serde_json::Value;

use super::{EditError, Entry, EntryPlace, Language};

const fn options(language: Language) -> ParseOptions {
    let lenient = matches!(language, Language::JsonWithComments);
    ParseOptions {
        allow_comments: lenient,
        allow_trailing_commas: lenient,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Parses a text.
pub(super) fn read(text: &str, language: Language) -> Result<Value, EditError> {
    let read = parse_to_value(text, &options(language)).map_err(|error| flaw(&error))?;
    Ok(read.map_or(Value::Null, plain))
}

fn flaw(error: &ParseError) -> EditError {
    let message = error.kind().to_string();
    let mut letters = message.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    EditError::at(error.range().start, first.into_iter().chain(letters).collect::<String>())
}

fn plain(value: JsonValue<'_>) -> Value {
    match value {
        JsonValue::Null => Value::Null,
        JsonValue::Boolean(truth) => truth.into(),
        JsonValue::String(text) => text.into_owned().into(),
        // A number that has no place in ours is compared by its letters.
        JsonValue::Number(digits) => serde_json::from_str(digits).unwrap_or(digits.into()),
        JsonValue::Array(items) => items.into_iter().map(plain).collect(),
        JsonValue::Object(fields) => {
            fields.into_iter().map(|(key, value)| (key.into_owned(), plain(value))).collect()
        }
    }
}

/// Texts with the entry in them, the best-looking first, each with the comments that were there.
pub(super) fn put(
    text: &str,
    language: Language,
    at: EntryPlace<'_>,
    entry: &Entry,
) -> Result<Vec<String>, EditError> {
    let root = CstRootNode::parse(text, &options(language)).map_err(|error| flaw(&error))?;
    let made = root.object_value_or_create();
    let holder = made.and_then(|object| {
        at.keys.iter().try_fold(object, |object, key| object.object_value_or_create(key))
    });
    let fields = entry.0.iter().map(|(key, value)| ((*key).to_owned(), input(value)));
    let fields = CstInputValue::Object(fields.collect());
    if let Some(holder) = holder {
        match holder.get(at.name) {
            Some(known) => known.set_value(fields),
            None => drop(holder.append(at.name, fields)),
        }
    }
    let kept = comments(text, language)?;
    let mut ways = vec![root.to_string()];
    ways.extend(insert_on_one_line(text, language, at, entry)?);
    ways.retain(|way| comments(way, language).is_ok_and(|left| left == kept));
    Ok(ways)
}

/// The comments of a text, in their order.
fn comments(text: &str, language: Language) -> Result<Vec<String>, EditError> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let parsed = parse_to_ast(text, &collect, &options(language)).map_err(|error| flaw(&error))?;
    let tokens = parsed.tokens.unwrap_or_default().into_iter();
    Ok(tokens
        .filter_map(|one| match one.token {
            Token::CommentLine(comment) | Token::CommentBlock(comment) => Some(comment.to_owned()),
            _ => None,
        })
        .collect())
}

/// The text with a new entry directly behind the last one, every other byte as it was. The tree's own way to append
/// writes a comment twice where one stands before and one behind a trailing comma.
fn insert_on_one_line(
    text: &str,
    language: Language,
    at: EntryPlace<'_>,
    entry: &Entry,
) -> Result<Option<String>, EditError> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: true };
    let parsed = parse_to_ast(text, &collect, &options(language)).map_err(|error| flaw(&error))?;
    let Some(mut holder) = parsed.value.as_ref().and_then(|root| root.as_object()) else {
        return Ok(None);
    };
    let mut missing = at.keys;
    while let Some((key, rest)) = missing.split_first()
        && let Some(inner) = holder.get(key).and_then(|held| held.value.as_object())
    {
        (holder, missing) = (inner, rest);
    }
    if missing.is_empty() && holder.get(at.name).is_some() {
        return Ok(None);
    }
    let quoted = |key: &str| Value::from(key).to_string();
    let fields: Vec<_> =
        entry.0.iter().map(|(key, value)| format!("{}: {value}", quoted(key))).collect();
    let own = format!("{}: {{{}}}", quoted(at.name), fields.join(", "));
    let added =
        missing.iter().rev().fold(own, |inner, key| format!("{}: {{{inner}}}", quoted(key)));
    let tokens = parsed.tokens.unwrap_or_default();
    let (place, added) = match holder.properties.last() {
        None => (holder.range.start + 1, added),
        Some(last) => {
            let next = tokens.iter().find(|one| one.range.start >= last.range.end);
            match next.filter(|one| one.token == Token::Comma) {
                Some(comma) => (comma.range.end, format!(" {added}")),
                None => (last.range.end, format!(", {added}")),
            }
        }
    };
    let (before, behind) = text.split_at(place);
    Ok(Some(format!("{before}{added}{behind}")))
}

/// Texts without it. Comments are nobody's but the file's: only the entry goes, with one comma and the
/// line that is empty then.
pub(super) fn take(
    text: &str,
    language: Language,
    at: EntryPlace<'_>,
) -> Result<Vec<String>, EditError> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: true };
    let parsed = parse_to_ast(text, &collect, &options(language)).map_err(|error| flaw(&error))?;
    let Some(range) = parsed.value.as_ref().and_then(|root| find(root, at)) else {
        return Ok(Vec::new());
    };
    let tokens = parsed.tokens.unwrap_or_default();
    let commas = tokens.iter().enumerate().filter(|(_, one)| one.token == Token::Comma);
    let before = tokens.iter().rposition(|one| one.range.end <= range.start);
    let after = tokens.iter().position(|one| one.range.start >= range.end);
    let comma = |index: Option<usize>| {
        commas.clone().find(|(at, _)| Some(*at) == index).map(|(_, one)| one.range.start)
    };
    let comma = comma(after).or_else(|| comma(before));
    let (from, to) = (range.start, comma.filter(|comma| *comma == range.end));
    let to = to.map_or(range.end, |comma| comma + 1);
    let head = text.get(..from).unwrap_or_default();
    let blank = head.trim_end_matches([' ', '\t']);
    let blank =
        blank.strip_suffix('\n').map_or(blank, |line| line.strip_suffix('\r').unwrap_or(line));
    let mut cuts = vec![(blank.len(), to)];
    cuts.extend(comma.filter(|comma| !(from..to).contains(comma)).map(|comma| (comma, comma + 1)));
    cuts.sort_unstable();
    let whole = cut(text, &cuts);
    // Where the line had a comment before it, its end is needed.
    let (spaces, line) = ((blank.len(), to), (from, to));
    let narrow: Vec<_> = cuts.iter().map(|one| if *one == spaces { line } else { *one }).collect();
    Ok(vec![whole, cut(text, &narrow)])
}

/// A text without some of its parts, which are in order.
fn cut(text: &str, cuts: &[(usize, usize)]) -> String {
    let mut left = String::with_capacity(text.len());
    let mut at = 0;
    for &(from, to) in cuts {
        left.push_str(text.get(at..from).unwrap_or_default());
        at = to.max(at);
    }
    left.push_str(text.get(at..).unwrap_or_default());
    left
}

/// Where the entry stands.
fn find(root: &ast::Value<'_>, at: EntryPlace<'_>) -> Option<Range> {
    let mut here = root.as_object()?;
    for key in at.keys {
        here = here.get(key)?.value.as_object()?;
    }
    Some(here.get(at.name)?.range)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (key.clone(), input(value)));
            CstInputValue::Object(fields.collect())
        }
    }
}
