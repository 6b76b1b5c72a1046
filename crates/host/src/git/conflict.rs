//! Conflicts: their positions in a file, and their kind.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::command::{os, text};
use super::error::Conflict;
use super::{GitError, Repo};

/// Minimum length of conflict markers.
const MIN_MARKER_CHARS: usize = 7;

/// The lines between the marks of conflicts, with the marks, counted from 1.
pub(super) fn lines(content: &[u8]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let mut begun: Option<(u32, usize)> = None;
    let mut number: u32 = 0;
    for line in content.split(|byte| *byte == b'\n') {
        number = number.saturating_add(1);
        begun = match begun {
            // A second beginning is the one that counts: the first was part of the file.
            _ if mark(line, b'<') > 0 => Some((number, mark(line, b'<'))),
            Some((from, length)) if mark(line, b'>') == length => {
                found.push((from, number));
                None
            }
            begun => begun,
        };
    }
    found
}

/// Length of a line's leading marker; 0 without one.
fn mark(line: &[u8], sign: u8) -> usize {
    let length = line.iter().take_while(|byte| **byte == sign).count();
    let ends = line.get(length).is_none_or(|byte| matches!(byte, b' ' | b'\r'));
    if length >= MIN_MARKER_CHARS && ends { length } else { 0 }
}

/// Conflict report of `git merge-tree -z --messages`.
#[derive(Debug, Default)]
pub(super) struct ConflictReport {
    pub(super) tree: String,
    /// The files in conflict, each with its kind as far as it was told
    pub(super) files: BTreeMap<Vec<u8>, Option<String>>,
}

impl ConflictReport {
    pub(super) fn of(output: &[u8]) -> Self {
        let mut fields = output.split(|byte| *byte == 0);
        let mut answer = Self { tree: text(fields.next().unwrap_or_default()), ..Self::default() };
        // Each stage of a file: mode, hash, number, tab, name. An empty field ends them.
        for entry in fields.by_ref().take_while(|field| !field.is_empty()) {
            if let Some(tab) = entry.iter().position(|byte| *byte == b'\t') {
                answer.files.insert(entry.split_at(tab + 1).1.to_owned(), None);
            }
        }
        // Then messages: how many files, the files, the sort of message, its text.
        while let Some(count) = fields.next().and_then(|count| text(count).parse().ok()) {
            let about: Vec<&[u8]> = fields.by_ref().take(count).collect();
            let (sort, message) = (fields.next(), fields.next());
            let Some(kind) = sort.zip(message).and_then(|(sort, text)| kind(sort, text)) else {
                continue;
            };
            for file in about {
                if let Some(known) = answer.files.get_mut(file) {
                    // That a file is binary says more than that it is in conflict.
                    if known.as_deref() != Some("binary") {
                        *known = Some(kind.clone());
                    }
                }
            }
        }
        answer
    }
}

/// The kind of conflict that a message is about, if it is about one.
fn kind(sort: &[u8], message: &[u8]) -> Option<String> {
    let (sort, message) = (text(sort), text(message));
    let sort = sort.strip_prefix("CONFLICT (")?.strip_suffix(')')?;
    if sort == "binary" {
        return Some(sort.to_owned());
    }
    // The text is more exact than the sort: two added files are a conflict of contents, too.
    let exact = message.strip_prefix("CONFLICT (").and_then(|rest| rest.split(')').next());
    Some(exact.unwrap_or(sort).to_owned())
}

impl Repo {
    /// The conflicts of an answer, with the lines that the tree with their marks has.
    pub(super) fn conflicts(&self, answer: &ConflictReport) -> Result<Vec<Conflict>, GitError> {
        let name = |path: &Vec<u8>| -> OsString {
            let mut name = OsString::from(format!("{}:", answer.tree));
            name.push(os(path));
            name
        };
        let names: Vec<OsString> = answer.files.keys().map(name).collect();
        let contents = self.contents(&names)?;
        let conflicts = answer.files.iter().zip(contents).map(|((path, kind), content)| {
            let kind = kind.clone().unwrap_or_else(|| "content".to_owned());
            let lines = content.map(|content| lines(&content)).unwrap_or_default();
            Conflict { path: text(path), lines, kind }
        });
        Ok(conflicts.collect())
    }
}

#[cfg(test)]
mod tests;
