//! Parses a typed value, and formats it for the file.

use std::fmt::Write as _;

use serde_json::Value;

use super::tree::{Node, Shape, Tree};
use crate::yaml;

/// A reading of a value and its form on a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Written {
    /// Value
    pub(crate) value: Value,
    /// Text
    pub(super) text: String,
    /// The parts of a list, for lists that have a line for each
    pub(super) items: Vec<String>,
}

impl Written {
    /// A value in our own spelling.
    pub(crate) fn of(value: Value) -> Self {
        let items = value.as_array().into_iter().flatten().map(spelled).collect();
        Self { text: spelled(&value), value, items }
    }
}

/// Readings of a typed value, the likeliest first, given the current one. It is YAML; a bare
/// word may also be a text that YAML takes for something else, and bare words a list.
pub(crate) fn readings(typed: &str, old: Option<&Value>) -> Vec<Written> {
    let typed = typed.trim();
    let text = || Written::of(Value::String(typed.to_owned()));
    let mut all = match parsed(typed) {
        None => vec![text()],
        Some((written, ValueForm::Plainly)) => return vec![written],
        // A text keeps its spelling, as the version `4.50` does.
        Some((written, ValueForm::Barely)) if matches!(old, Some(Value::String(_))) => {
            vec![text(), written]
        }
        Some((written, ValueForm::Barely)) => vec![written, text()],
    };
    let is_word = all.first().is_some_and(|first| !first.value.is_object());
    if is_word && !typed.is_empty() && matches!(old, Some(Value::Array(_))) {
        let words = typed.split(',').map(str::trim).filter(|word| !word.is_empty());
        let list = words.map(|word| Value::String(word.to_owned())).collect();
        all.push(Written::of(Value::Array(list)));
    }
    all
}

/// Explicit type of a typed value: by quotes, brackets, braces, or null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueForm {
    Plainly,
    Barely,
}

/// A typed value as YAML.
fn parsed(typed: &str) -> Option<(Written, ValueForm)> {
    if typed.is_empty() {
        return Some((Written::of(Value::Null), ValueForm::Barely));
    }
    let value: Value = yaml::parse("the value", typed, typed).ok()?;
    let tree = Tree::read(typed)?;
    let root = tree.root.as_ref()?;
    // What follows a `#` was perhaps meant.
    if !tree.comments.is_empty() {
        return Some((Written::of(value), ValueForm::Barely));
    }
    let tame = !typed.contains('\n') && !is_marked(root);
    let verbatim = |items| Written { value: value.clone(), text: typed.to_owned(), items };
    Some(match &root.shape {
        Shape::Scalar { plain: true } if value.is_string() => {
            (Written::of(value), ValueForm::Barely)
        }
        Shape::Scalar { plain: true } if tame && !value.is_null() => {
            (verbatim(Vec::new()), ValueForm::Barely)
        }
        Shape::Scalar { plain: false } | Shape::Map { flow: true, .. } if tame => {
            (verbatim(Vec::new()), ValueForm::Plainly)
        }
        Shape::List { flow: true, items } if tame => {
            let slice = |item: &Node| typed.get(item.start..item.end).map(str::to_owned);
            (verbatim(items.iter().filter_map(slice).collect()), ValueForm::Plainly)
        }
        Shape::Map { flow: false, .. } => (Written::of(value), ValueForm::Barely),
        _ => (Written::of(value), ValueForm::Plainly),
    })
}

/// True if a value has anchors, aliases or tags.
fn is_marked(node: &Node) -> bool {
    node.marked
        || match &node.shape {
            Shape::Alias => true,
            Shape::Map { entries, .. } => {
                entries.iter().any(|entry| is_marked(&entry.key) || is_marked(&entry.value))
            }
            Shape::List { items, .. } => items.iter().any(is_marked),
            Shape::Nothing | Shape::Scalar { .. } | Shape::Lines => false,
        }
}

/// A value on a line, so that it may stand in braces too.
pub(super) fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) => word(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(spelled).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let field =
                |(key, value): (&String, &Value)| format!("{}: {}", word(key), spelled(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A text: bare where nothing in it means anything to YAML, else in quotes.
pub(super) fn word(text: &str) -> String {
    let tame = |c: char| c.is_alphanumeric() || "_-./+%=~ :".contains(c);
    let bare = text.starts_with(|c: char| c.is_alphanumeric() || "/._".contains(c))
        && text.chars().all(tame)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        // What reads as a number, a date or a truth is none of them here.
        && yaml::parse::<Value>("", text, text).is_ok_and(|value| value.as_str() == Some(text));
    if bare { text.to_owned() } else { quoted(text) }
}

/// A text in quotes: JSON's, with what YAML does not print escaped as well.
fn quoted(text: &str) -> String {
    let json = Value::String(text.to_owned()).to_string();
    json.chars().fold(String::with_capacity(json.len()), |mut text, c| {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                // Writing to a String cannot fail.
                _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            other => text.push(other),
        }
        text
    })
}
