//! Globs over the paths of files: which files a pattern names, and whether two patterns can name the
//! same one.
//!
//! A pattern becomes a small automaton, and two automata are walked side by side. That decides exactly,
//! and the work grows with the product of two lengths and never faster.

mod read;
mod walk;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Serialize, Serializer};

pub use self::walk::{WorkBudget, WorkLimitExceeded};

use self::walk::Automaton;

/// More characters than this has no pattern.
const MAX_PATTERN_CHARS: usize = 500;

/// A pattern such as `src/**/*.rs`, relative to the root of the project.
///
/// `*` and `?` stay within a part of the path, `**` alone between slashes stands for any number of
/// folders, `[a-z]` is one of these characters or a part that reads just so, `{a,b}` either of these,
/// and `\` takes a character for itself. A plain name at the end stands for a file, or for a folder and
/// everything in it.
#[derive(Debug, Clone)]
pub struct PathGlob {
    text: String,
    /// Prefix of every matching path; it separates most pairs of patterns cheaply
    prefix: String,
    automaton: Automaton,
}

/// A pattern that names no files.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPathGlob {
    /// There is nothing in it.
    #[error("must not be empty; `**` stands for every file")]
    Empty,
    /// It is longer than any path should be.
    #[error("is {0} characters long; the limit is {MAX_PATTERN_CHARS}")]
    TooLong(usize),
    /// It holds a character that would harm a terminal.
    #[error("holds the control character U+{:04X}, which is not allowed here", u32::from(*.0))]
    Control(char),
    /// It begins at the root of the file system.
    #[error("`{0}` is absolute; pass it relative to the root of the project, such as `src/lib.rs`")]
    Absolute(String),
    /// One of its parts is nothing, `.` or `..`.
    #[error(
        "`{0}` has an empty part, `.` or `..` in it; write it as git does, such as `src/lib.rs`"
    )]
    Part(String),
    /// A list or a class has no end.
    #[error("`{0}` is not closed; write `\\{0}` for the character itself")]
    Open(char),
    /// A class has nothing in it, a slash, or a range that ends before it begins.
    #[error("`{0}` is not a character class such as `[a-z]`; write `\\[` for the character itself")]
    Class(String),
    /// A backslash stands before what needs none.
    #[error("`\\` may only precede one of `*?[]{{}},\\` for itself; folders are separated by `/`")]
    Escape,
    /// `**` has company.
    #[error("`**` must stand alone between slashes, as in `src/**/*.rs`")]
    Deep,
    /// It fits nothing that a file can be called.
    #[error("`{0}` is not a valid file name")]
    Nothing(String),
}

impl PathGlob {
    /// Reads a pattern.
    pub fn new(pattern: &str) -> Result<Self, BadPathGlob> {
        let text = tidied(pattern)?;
        let (prefix, automaton) = read::read(&text)?;
        if !automaton.fits_something() {
            return Err(BadPathGlob::Nothing(text));
        }
        Ok(Self { text, prefix, automaton })
    }

    /// The pattern that names this one file, whatever characters are in its name.
    pub fn of_file(path: &str) -> Result<Self, BadPathGlob> {
        if path.is_empty() {
            return Err(BadPathGlob::Empty);
        }
        check_parts(path)?;
        Ok(Self {
            text: path.to_owned(),
            prefix: path.to_owned(),
            automaton: Automaton::of_path(path),
        })
    }

    /// True if the pattern matches the file.
    pub fn matches(&self, path: &str) -> bool {
        path.starts_with(&self.prefix)
            && Automaton::of_path(path)
                .meets(&self.automaton, &mut WorkBudget::unbounded())
                .is_ok_and(|meets| meets)
    }

    /// True if some path matches both patterns.
    pub fn overlaps(
        &self,
        other: &Self,
        effort: &mut WorkBudget,
    ) -> Result<bool, WorkLimitExceeded> {
        let (one, two) = (&self.prefix, &other.prefix);
        if !one.starts_with(two.as_str()) && !two.starts_with(one.as_str()) {
            return Ok(false);
        }
        self.automaton.meets(&other.automaton, effort)
    }

    /// The pattern, as it is compared with others.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The pattern as we write it: without `./` in front, and with what a slash at the end means.
fn tidied(pattern: &str) -> Result<String, BadPathGlob> {
    let length = pattern.chars().count();
    if length > MAX_PATTERN_CHARS {
        return Err(BadPathGlob::TooLong(length));
    }
    if let Some(control) = pattern.chars().find(|c| c.is_control()) {
        return Err(BadPathGlob::Control(control));
    }
    let mut rest = pattern;
    while let Some(after) = rest.strip_prefix("./") {
        rest = after;
    }
    if rest.trim().is_empty() {
        return Err(BadPathGlob::Empty);
    }
    let text = match rest.strip_suffix('/') {
        Some(folder) if !folder.is_empty() => format!("{folder}/**"),
        _ => rest.to_owned(),
    };
    check_parts(&text)?;
    Ok(text)
}

fn check_parts(text: &str) -> Result<(), BadPathGlob> {
    if text.starts_with('/') {
        return Err(BadPathGlob::Absolute(text.to_owned()));
    }
    if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(BadPathGlob::Part(text.to_owned()));
    }
    Ok(())
}

impl PartialEq for PathGlob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PathGlob {}

impl fmt::Display for PathGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for PathGlob {
    type Err = BadPathGlob;

    fn from_str(text: &str) -> Result<Self, BadPathGlob> {
        Self::new(text)
    }
}

impl Serialize for PathGlob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for PathGlob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl JsonSchema for PathGlob {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "PathGlob".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX_PATTERN_CHARS })
    }
}

#[cfg(test)]
mod tests;
