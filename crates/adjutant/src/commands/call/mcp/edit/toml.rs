//! TOML. The text is edited by lines: the library that reads it would write every line end anew.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use toml_edit::{Document, Item, TableLike};

use super::{EditError, Entry, EntryPlace};

/// Parses a text.
pub(super) fn read(text: &str) -> Result<Value, EditError> {
    let document = Document::parse(text).map_err(|error| {
        let byte = error.span().map_or(0, |span| span.start);
        EditError::at(byte, error.message().to_owned())
    })?;
    Ok(table(document.as_table()))
}

fn table(table: &dyn TableLike) -> Value {
    let fields: Map<String, Value> =
        table.iter().map(|(key, item)| (key.to_owned(), plain(item))).collect();
    Value::Object(fields)
}

fn plain(item: &Item) -> Value {
    if let Some(fields) = item.as_table_like() {
        return table(fields);
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().map(|one| table(one)).collect();
    }
    item.as_value().map_or(Value::Null, value)
}

fn value(value: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    match value {
        Toml::String(text) => text.value().as_str().into(),
        Toml::Integer(number) => (*number.value()).into(),
        Toml::Float(number) => {
            let digits = number.value();
            // Not every number of theirs is one of ours.
            serde_json::Number::from_f64(*digits).map_or(digits.to_string().into(), Value::Number)
        }
        Toml::Boolean(truth) => (*truth.value()).into(),
        Toml::Datetime(time) => time.value().to_string().into(),
        Toml::Array(items) => items.iter().map(self::value).collect(),
        Toml::InlineTable(fields) => table(fields),
    }
}

/// Texts with the entry in them: as a table at the end, else beside its like where these are written
/// otherwise.
pub(super) fn put(text: &str, at: EntryPlace<'_>, entry: &Entry) -> Vec<String> {
    // The place of one that is there already is the place of the new one.
    let mut bases: Vec<(String, usize)> = cuts(text, at)
        .into_iter()
        .map(|(from, to)| (format!("{}{}", head(text, from), tail(text, to)), from))
        .collect();
    bases.push((text.to_owned(), text.len()));
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let path = path(at);
    let mut ways = Vec::new();
    for (base, from) in bases {
        let (before, after) = (head(&base, from), tail(&base, from));
        let mut table = String::new();
        if !before.is_empty() && !before.ends_with('\n') {
            table.push_str(end);
        }
        if !before.is_empty() && !before.ends_with("\n\n") && !before.ends_with("\r\n\r\n") {
            table.push_str(end);
        }
        // Writing to a String cannot fail.
        _ = write!(table, "[{path}]{end}");
        for (key, value) in &entry.0 {
            _ = write!(table, "{} = {}{end}", bare(key), literal(value));
        }
        ways.push(format!("{before}{table}{after}"));
        let line = format!("{path} = {}{end}", one_line(entry));
        let first = at.keys.first().map_or_else(String::new, |key| format!("{key}."));
        if let Some(start) =
            starts(&base).find(|&s| tail(&base, s).trim_start().starts_with(&first))
        {
            ways.push(format!("{}{line}{}", head(&base, start), tail(&base, start)));
        }
        ways.extend(inline(&base, at, entry));
    }
    ways
}

/// The text with the entry in a table that is written on one line.
fn inline(text: &str, at: EntryPlace<'_>, entry: &Entry) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let first = document.as_table().get(at.keys.first()?)?;
    let table = first.as_inline_table()?;
    let close = table.span()?.end.checked_sub(1)?;
    let before = head(text, close).trim_end();
    let comma = if table.is_empty() { " " } else { ", " };
    let entry = format!("{comma}{} = {} ", bare(at.name), one_line(entry));
    Some(format!("{before}{entry}{}", tail(text, close)))
}

/// Texts without the entry.
pub(super) fn take(text: &str, at: EntryPlace<'_>) -> Vec<String> {
    let cut = |(from, to)| format!("{}{}", head(text, from), tail(text, to));
    cuts(text, at).into_iter().map(cut).collect()
}

/// Where the entry may be: its table with those below it, else its line.
fn cuts(text: &str, at: EntryPlace<'_>) -> Vec<(usize, usize)> {
    let path = path(at);
    let lines: Vec<(usize, &str)> =
        starts(text).map(|start| (start, tail(text, start).lines().next().unwrap_or(""))).collect();
    let is_ours = |line: &str| {
        header(line).is_some_and(|it| {
            it == path || it.strip_prefix(&path).is_some_and(|rest| rest.starts_with('.'))
        })
    };
    let mut cuts = Vec::new();
    if let Some(first) = lines.iter().position(|(_, line)| is_ours(line)) {
        let rest = lines.get(first + 1..).unwrap_or_default();
        let next = rest.iter().position(|(_, line)| header(line).is_some() && !is_ours(line));
        let behind = next.map_or(lines.len(), |next| first + 1 + next);
        // Comments above the next table belong to that one.
        let says = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let body = lines.get(first..behind).unwrap_or_default();
        let last = body.iter().rposition(|(_, line)| says(line)).unwrap_or(0);
        let to = lines.get(first + last + 1).map_or(text.len(), |(start, _)| *start);
        let from = lines.get(first).map_or(0, |(start, _)| *start);
        // The empty line before it came with it.
        let above = first.checked_sub(1).and_then(|above| lines.get(above));
        if let Some((start, _)) = above.filter(|(_, line)| line.trim().is_empty()) {
            cuts.push((*start, to));
        }
        cuts.push((from, to));
    }
    let line = lines.iter().position(|(_, line)| {
        let key = line.split_once('=').map(|(key, _)| key.trim()).unwrap_or_default();
        key == path || key.strip_prefix(&path).is_some_and(|rest| rest.starts_with('.'))
    });
    if let Some((index, (from, _))) = line.and_then(|index| Some((index, lines.get(index)?))) {
        cuts.push((*from, lines.get(index + 1).map_or(text.len(), |(start, _)| *start)));
    }
    cuts
}

/// Table header of a line, with normalised keys.
fn header(line: &str) -> Option<String> {
    let line = line.trim();
    if !line.starts_with('[') {
        return None;
    }
    let document = Document::parse(line).ok()?;
    let mut keys = Vec::new();
    let mut here: &dyn TableLike = document.as_table();
    while let Some((key, item)) = here.iter().next() {
        keys.push(bare(key));
        match item.as_table_like() {
            Some(below) => here = below,
            // The header of one of several: never ours, but the end of what was before.
            None => return Some(format!("[{}]", keys.join("."))),
        }
    }
    Some(keys.join("."))
}

fn starts(text: &str) -> impl Iterator<Item = usize> {
    let behind = text.match_indices('\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(behind).filter(|start| *start < text.len())
}

fn head(text: &str, to: usize) -> &str {
    text.get(..to).unwrap_or_default()
}

fn tail(text: &str, from: usize) -> &str {
    text.get(from..).unwrap_or_default()
}

fn path(at: EntryPlace<'_>) -> String {
    let keys: Vec<String> = at.keys.iter().copied().chain([at.name]).map(bare).collect();
    keys.join(".")
}

fn bare(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !key.is_empty() && key.chars().all(is_bare) {
        key.to_owned()
    } else {
        toml_edit::Value::from(key).to_string()
    }
}

/// An entry as it may stand on one line.
fn one_line(entry: &Entry) -> String {
    let fields: Vec<String> =
        entry.0.iter().map(|(key, value)| format!("{} = {}", bare(key), literal(value))).collect();
    format!("{{ {} }}", fields.join(", "))
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => toml_edit::Value::from(text.as_str()).to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        // No client's entry has anything deeper.
        other => other.to_string(),
    }
}
