//! Changes one key of a YAML text and leaves every other byte as it stands: comments, order, blank
//! lines, quotes. Whatever comes out is read again; unless every other key has the value that it had
//! and this one the new value, the edit is not made.

mod mask;
mod text;
mod tree;
mod value;
mod ways;

use serde_json::{Map, Value};

pub(crate) use mask::masked;
use text::Text;
use tree::Tree;
pub(crate) use value::{Written, readings};

use crate::yaml;

/// Why a text was not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub(crate) struct Refusal {
    /// The line, counted from 1
    pub(crate) line: usize,
    /// Why, and what to do by hand
    why: String,
}

/// Gives a key a value, and adds it where it is not there.
pub(crate) fn set(text: &str, path: &[String], new: &Written) -> Result<String, Refusal> {
    let (section, name) = section(path);
    let by_hand = format!("write `{name}: {}`{section} by hand", new.text);
    let edit = Edit::new(text, path, by_hand)?;
    let mut wanted = edit.before.clone();
    put(&mut wanted, path, new.value.clone());
    edit.first_sound(edit.ways_to_set(new)?, &wanted)
}

/// Takes a key away, so that its default counts; a key that is not there is no error.
pub(crate) fn unset(text: &str, path: &[String]) -> Result<String, Refusal> {
    let (section, name) = section(path);
    let edit = Edit::new(text, path, format!("take `{name}`{section} away by hand"))?;
    let mut wanted = edit.before.clone();
    if !take(&mut wanted, path) {
        return Ok(text.to_owned());
    }
    edit.first_sound(edit.ways_to_unset()?, &wanted)
}

/// Where a key belongs, in words, and its own name.
fn section(path: &[String]) -> (String, String) {
    match path.split_last() {
        Some((name, [])) => (String::new(), name.clone()),
        Some((name, around)) => (format!(" under `{}`", around.join(".")), name.clone()),
        None => Default::default(),
    }
}

/// A text that is being edited.
#[derive(Debug)]
struct Edit<'a> {
    /// The text, without the mark that may stand before it
    text: Text<'a>,
    /// That mark
    mark: &'a str,
    path: &'a [String],
    /// Advice for a manual change
    by_hand: String,
    tree: Tree,
    /// Parsed value
    before: Value,
}

impl<'a> Edit<'a> {
    fn new(text: &'a str, path: &'a [String], by_hand: String) -> Result<Self, Refusal> {
        let unreadable =
            |line: usize| Refusal { line, why: "cannot be read; mend it by hand first".to_owned() };
        let (mark, text) = text.split_at(if text.starts_with('\u{feff}') { 3 } else { 0 });
        let before = plain(text).map_err(unreadable)?;
        let tree = Tree::read(text).ok_or_else(|| unreadable(1))?;
        Ok(Self { text: Text(text), mark, path, by_hand, tree, before })
    }

    /// The first of several texts that says what it should and nothing else.
    fn first_sound(&self, texts: Vec<String>, wanted: &Value) -> Result<String, Refusal> {
        let sound = |text: &String| plain(text).is_ok_and(|says| same(&says, wanted));
        match texts.into_iter().find(sound) {
            Some(text) => Ok(format!("{}{text}", self.mark)),
            None => Err(self.refusal(self.nearest(), "this cannot be edited safely")),
        }
    }

    fn refusal(&self, at: usize, what: &str) -> Refusal {
        let line = self.text.part(0..at).matches('\n').count() + 1;
        Refusal { line, why: format!("{what}; {}", self.by_hand) }
    }

    /// Where the key stands, or the section around it.
    fn nearest(&self) -> usize {
        let found = self.find().ok();
        let entry = found.and_then(|found| found.entry.or(found.owner).map(|at| at.key.start));
        entry.unwrap_or(0)
    }
}

/// Parses a text, or names the faulty line.
fn plain(text: &str) -> Result<Value, usize> {
    if super::says_nothing(text) {
        return Ok(Value::Null);
    }
    yaml::parse("", text, text).map_err(|problem| problem.line.unwrap_or(1))
}

/// Puts a value at the end of a path; a section that is null becomes one.
pub(super) fn put(into: &mut Value, path: &[String], value: Value) {
    let Some((name, rest)) = path.split_first() else {
        *into = value;
        return;
    };
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    if let Value::Object(fields) = into {
        put(fields.entry(name.clone()).or_insert(Value::Null), rest, value);
    }
}

/// Takes away what is at the end of a path, and says whether there was something.
fn take(from: &mut Value, path: &[String]) -> bool {
    let (Some((name, rest)), Value::Object(fields)) = (path.split_first(), from) else {
        return false;
    };
    if rest.is_empty() {
        return fields.remove(name).is_some();
    }
    fields.get_mut(name).is_some_and(|inner| take(inner, rest))
}

/// True if two documents mean the same. A section without keys counts as absent.
fn same(one: &Value, other: &Value) -> bool {
    let says =
        |value: &Value| !value.is_null() && value.as_object().is_none_or(|map| !map.is_empty());
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|also| same(value, also)))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (one, other) => one == other || (!says(one) && !says(other)),
    }
}

#[cfg(test)]
mod tests;
