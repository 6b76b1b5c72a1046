//! Puts one server into a client's file and takes it out again. Comments, order and indentation stay.
//! The result is read again: unless it has what it had and the one entry more, or less, the
//! edit is not made.

mod json;
mod toml;

use serde_json::{Map, Value};

/// Language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// As the standard has it
    Json,
    /// With comments and trailing commas
    JsonWithComments,
    /// TOML
    Toml,
}

/// Why a text cannot be read or edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EditError {
    /// Where
    pub(super) byte: usize,
    /// Problem
    pub(super) why: String,
}

impl EditError {
    fn at(byte: usize, why: impl Into<String>) -> Self {
        Self { byte, why: why.into() }
    }
}

/// Entry to insert: fields with values, in their usual order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry(pub(super) Vec<(&'static str, Value)>);

impl Entry {
    /// The same without an order.
    pub(super) fn value(&self) -> Value {
        self.0.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    }
}

/// Where an entry stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryPlace<'a> {
    /// The keys around it
    pub(super) keys: &'a [&'a str],
    /// Its own
    pub(super) name: &'a str,
}

impl Language {
    /// Parses a text; an empty one is null.
    pub(super) fn read(self, text: &str) -> Result<Value, EditError> {
        let (mark, text) = split(text);
        let read = match self {
            Self::Json | Self::JsonWithComments => json::read(text, self),
            Self::Toml => toml::read(text),
        };
        read.map_err(|flaw| EditError { byte: flaw.byte + mark.len(), ..flaw })
    }

    /// The text with the entry in it, in the place of another of that name.
    pub(super) fn put(
        self,
        text: &str,
        at: EntryPlace<'_>,
        entry: &Entry,
    ) -> Result<String, EditError> {
        let mut wanted = self.read(text)?;
        holders(&wanted, at.keys)?;
        let slot = at.keys.iter().fold(&mut wanted, |value, key| slot(value, key));
        *self::slot(slot, at.name) = entry.value();
        let (mark, text) = split(text);
        let ways = match self {
            Self::Json | Self::JsonWithComments => json::put(text, self, at, entry)?,
            Self::Toml => toml::put(text, at, entry),
        };
        self.first_sound(mark, ways, &wanted)
    }

    /// The text without the entry. What is around it stays, though it may be empty.
    pub(super) fn take(self, text: &str, at: EntryPlace<'_>) -> Result<String, EditError> {
        let mut wanted = self.read(text)?;
        let holder = at.keys.iter().try_fold(&mut wanted, |value, key| value.get_mut(*key));
        let gone = holder.and_then(Value::as_object_mut).and_then(|map| map.remove(at.name));
        if gone.is_none() {
            return Ok(text.to_owned());
        }
        let (mark, text) = split(text);
        let ways = match self {
            Self::Json | Self::JsonWithComments => json::take(text, self, at)?,
            Self::Toml => toml::take(text, at),
        };
        self.first_sound(mark, ways, &wanted)
    }

    fn first_sound(
        self,
        mark: &str,
        ways: Vec<String>,
        wanted: &Value,
    ) -> Result<String, EditError> {
        let wanted = pruned(wanted);
        let sound = |text: &String| self.read(text).is_ok_and(|says| pruned(&says) == wanted);
        match ways.into_iter().find(sound) {
            Some(text) => Ok(format!("{mark}{text}")),
            None => Err(EditError::at(0, "this file cannot be edited safely")),
        }
    }
}

/// The mark that may stand before a text, and the text.
fn split(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

/// Value under a key, created if missing.
fn slot<'a>(value: &'a mut Value, key: &str) -> &'a mut Value {
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    // `holders` has seen to it that nothing else stands here.
    &mut value[key]
}

/// Checks that every parent of the entry is a map.
fn holders(says: &Value, keys: &[&str]) -> Result<(), EditError> {
    let mut here = says;
    if !(here.is_null() || here.is_object()) {
        return Err(EditError::at(0, "this file has no settings in it, but one value"));
    }
    for key in keys {
        match here.get(key) {
            None => return Ok(()),
            Some(value @ Value::Object(_)) => here = value,
            Some(_) => {
                return Err(EditError::at(0, format!("`{key}` is not a map of servers here")));
            }
        }
    }
    Ok(())
}

/// The same without maps that have nothing in them: where ours was alone, one may be left.
fn pruned(value: &Value) -> Value {
    let Value::Object(map) = value else { return value.clone() };
    let kept: Map<String, Value> = map
        .iter()
        .map(|(key, value)| (key.clone(), pruned(value)))
        .filter(|(_, value)| {
            !value.is_null() && value.as_object().is_none_or(|map| !map.is_empty())
        })
        .collect();
    if kept.is_empty() { Value::Null } else { Value::Object(kept) }
}

/// True for an empty document.
pub(super) fn says_nothing(says: &Value) -> bool {
    pruned(says).is_null()
}

#[cfg(test)]
mod tests;
