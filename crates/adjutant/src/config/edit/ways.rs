//! The ways in which a key can be written into a text, or taken out of it.

use std::fmt::Write as _;
use std::ops::Range;

use super::tree::{Entry, Node, Shape};
use super::value::{Written, word};
use super::{Edit, Refusal};

/// Default indentation.
const STEP: usize = 2;

/// Position of a path in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyLocation<'a> {
    /// The map that has the key, or would have it; none where there is nothing but comments
    pub(super) map: Option<&'a Node>,
    /// Entry that owns the map, if any
    pub(super) owner: Option<&'a Entry>,
    /// The key, where it is there
    pub(super) entry: Option<&'a Entry>,
    /// Missing keys of the path
    pub(super) missing: &'a [String],
}

impl Edit<'_> {
    /// Follows the path.
    pub(super) fn find(&self) -> Result<KeyLocation<'_>, Refusal> {
        let mut found = KeyLocation {
            map: self.tree.root.as_ref(),
            owner: None,
            entry: None,
            missing: self.path,
        };
        while let Some((name, rest)) = found.missing.split_first() {
            let entries = match found.map.map(|node| (node, &node.shape)) {
                Some((_, Shape::Map { entries, .. })) => entries,
                // The top of a file that says nothing.
                None | Some((_, Shape::Nothing)) => break,
                // `null` in letters is replaced.
                Some((node, Shape::Scalar { .. })) if self.is_null(node) => break,
                Some((node, Shape::Alias)) => {
                    return Err(self.refusal(node.start, "this is a reference"));
                }
                Some((node, _)) => {
                    return Err(self.refusal(node.start, "this is no section"));
                }
            };
            let named = |entry: &&Entry| entry.name.as_deref() == Some(name.as_str());
            let Some(entry) = entries.iter().find(named) else { break };
            if rest.is_empty() {
                return Ok(KeyLocation { entry: Some(entry), missing: rest, ..found });
            }
            found = KeyLocation {
                map: Some(&entry.value),
                owner: Some(entry),
                entry: None,
                missing: rest,
            };
        }
        Ok(found)
    }

    fn is_null(&self, node: &Node) -> bool {
        let text = self.text.part(node.start..node.end);
        ["null", "Null", "NULL", "~"].contains(&text)
    }

    /// Ways to give the key a value; which of them is sound is seen afterwards.
    pub(super) fn ways_to_set(&self, new: &Written) -> Result<Vec<String>, Refusal> {
        let found = self.find()?;
        match (found.entry, found.map) {
            (Some(entry), _) => self.replace(entry, new),
            (None, Some(Node { shape: Shape::Map { flow, entries }, start, .. })) => {
                if *flow {
                    let (at, joint) = match entries.last() {
                        Some(last) => (last.end(), ", "),
                        None => (start + 1, ""),
                    };
                    let added = format!("{joint}{}", in_braces(found.missing, &new.text));
                    return Ok(vec![self.text.spliced(at..at, &added)]);
                }
                Ok(self.add_lines(entries, found.missing, new))
            }
            (None, _) => Ok(self.add_section(&found, new)),
        }
    }

    /// Ways to write a value in the place of another.
    fn replace(&self, entry: &Entry, new: &Written) -> Result<Vec<String>, Refusal> {
        let Node { start, end, ref shape, .. } = entry.value;
        let after = |at: usize| self.text.spliced(at..at, &format!(" {}", new.text));
        if let Some(at) = self.tree.comment_in(&(start..end)) {
            return Err(self.refusal(at, "the value has a comment in it"));
        }
        Ok(match (shape, entry.after_colon) {
            (Shape::Nothing, Some(colon)) => vec![after(colon)],
            (Shape::Nothing, None) => {
                let at = entry.key.end;
                vec![self.text.spliced(at..at, &format!(": {}", new.text))]
            }
            (
                Shape::Scalar { .. }
                | Shape::Alias
                | Shape::Map { flow: true, .. }
                | Shape::List { flow: true, .. },
                _,
            ) => vec![self.text.spliced(start..end, &new.text)],
            (Shape::Lines, Some(colon)) if self.tree.comment_in(&(colon..end)).is_none() => {
                vec![self.text.spliced(colon..end, &format!(" {}", new.text))]
            }
            (Shape::Map { .. } | Shape::List { .. }, Some(colon)) => {
                let lines = self.text.line_start(start)..self.text.line_end(end);
                let mut ways = Vec::new();
                if matches!(shape, Shape::List { .. }) && !new.items.is_empty() {
                    let indent = self.text.indent(start);
                    let item = |text: &String| format!("{indent}- {text}");
                    let items: Vec<String> = new.items.iter().map(item).collect();
                    ways.push(
                        self.text.spliced(lines.start..end, &items.join(self.text.newline())),
                    );
                }
                let emptied = self.text.spliced(lines, "");
                // The colon stands before the lines that are gone, so its place is the same.
                if let Some((head, tail)) = emptied.split_at_checked(colon) {
                    ways.push(format!("{head} {}{tail}", new.text));
                }
                ways
            }
            (Shape::Lines | Shape::Map { .. } | Shape::List { .. }, _) => Vec::new(),
        })
    }

    /// Ways to add a key to a section that has others: below the line on which it stands commented
    /// out, else below the last one.
    fn add_lines(&self, entries: &[Entry], missing: &[String], new: &Written) -> Vec<String> {
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return Vec::new();
        };
        let indent = self.text.indent(first.key.start);
        let lines = self.lines(indent, missing, &new.text);
        let is_top = indent.is_empty();
        let part = if is_top {
            0..self.text.0.len()
        } else {
            // Comments below the last key belong to the section as long as they stand as far in.
            let below = self.tree.comments.iter().filter(|at| at.start > last.end());
            let end = below
                .take_while(|at| self.text.column(at.start) >= indent.len())
                .last()
                .map_or(last.end(), |at| at.end);
            self.text.line_start(first.key.start)..end.max(last.end())
        };
        let mut ways = Vec::new();
        if let Some(at) = self.commented_out(&part, indent.len(), missing) {
            let at = self.text.line_end(at);
            ways.push(self.text.inserted(at, &lines));
        }
        if is_top {
            ways.push(self.text.appended(&lines));
        }
        ways.push(self.text.inserted(self.text.line_end(last.end()), &lines));
        ways
    }

    /// Where a key stands commented out, as `# key: value`. The comment of a whole section is none:
    /// its keys are comments below it.
    fn commented_out(
        &self,
        part: &Range<usize>,
        column: usize,
        missing: &[String],
    ) -> Option<usize> {
        let [name] = missing else { return None };
        let stands = |at: &&Range<usize>| {
            let text = self.text.part(at.start..at.end);
            let words = text.trim_start_matches('#').trim_start();
            let value = words.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix(':'));
            value.is_some_and(|value| value.starts_with(' ') && !value.trim().is_empty())
                && self.text.column(at.start) == column
                && self.text.indent(at.start).len() == column
        };
        self.tree
            .comments
            .iter()
            .filter(|at| part.contains(&at.start))
            .find(stands)
            .map(|at| at.start)
    }

    /// Ways to add a key to a section that is there and empty, or to a file that says nothing.
    fn add_section(&self, found: &KeyLocation<'_>, new: &Written) -> Vec<String> {
        let Some((owner, value)) = found.owner.zip(found.map) else {
            return vec![self.text.appended(&self.lines("", found.missing, &new.text))];
        };
        let braces = format!("{{{}}}", in_braces(found.missing, &new.text));
        match (&value.shape, owner.after_colon) {
            (Shape::Nothing, Some(colon)) => {
                let indent = self.text.indent(owner.key.start);
                let deeper = format!("{indent}{}", " ".repeat(STEP));
                let part = colon..self.text.0.len();
                let at = self.commented_out(&part, deeper.len(), found.missing).unwrap_or(colon);
                let lines = self.lines(&deeper, found.missing, &new.text);
                vec![
                    self.text.inserted(self.text.line_end(at), &lines),
                    self.text.inserted(self.text.line_end(colon), &lines),
                    self.text.spliced(colon..colon, &format!(" {braces}")),
                ]
            }
            (Shape::Nothing, None) => {
                let at = owner.key.end;
                vec![self.text.spliced(at..at, &format!(": {braces}"))]
            }
            _ => vec![self.text.spliced(value.start..value.end, &braces)],
        }
    }

    /// Ways to take the key away.
    pub(super) fn ways_to_unset(&self) -> Result<Vec<String>, Refusal> {
        let found = self.find()?;
        let Some((entry, map)) = found.entry.zip(found.map) else { return Ok(Vec::new()) };
        let Shape::Map { flow, entries } = &map.shape else { return Ok(Vec::new()) };
        let (start, end) = (entry.key.start, entry.end());
        // A comment behind the key is about the key, and goes with it.
        let inside = if *flow { start } else { self.text.line_end(start) }..end;
        if let Some(at) = self.tree.comment_in(&inside) {
            return Err(self.refusal(at, "the value has a comment in it"));
        }
        if !flow {
            return Ok(vec![
                self.text.spliced(self.text.line_start(start)..self.text.line_end(end), ""),
            ]);
        }
        let index = entries.iter().position(|other| other.key.start == start).unwrap_or(0);
        let part =
            match (index.checked_sub(1).and_then(|at| entries.get(at)), entries.get(index + 1)) {
                (Some(before), _) => before.end()..end,
                (None, Some(after)) => start..after.key.start,
                (None, None) => map.start + 1..map.end.saturating_sub(1),
            };
        match self.tree.comment_in(&part) {
            Some(at) => Err(self.refusal(at, "the section has a comment in it")),
            None => Ok(vec![self.text.spliced(part, "")]),
        }
    }

    /// Lines for a key and the sections around it that are not there.
    fn lines(&self, indent: &str, missing: &[String], text: &str) -> String {
        let mut lines = String::new();
        let mut indent = indent.to_owned();
        for (index, name) in missing.iter().enumerate() {
            let name = word(name);
            let value = if index + 1 == missing.len() { format!(" {text}") } else { String::new() };
            // Writing to a String cannot fail.
            _ = write!(lines, "{indent}{name}:{value}{}", self.text.newline());
            indent.push_str(&" ".repeat(STEP));
        }
        lines
    }
}

/// A key and the sections around it that are not there, for a map in braces.
fn in_braces(missing: &[String], text: &str) -> String {
    let written = missing.iter().rev().fold(None, |inner: Option<String>, name| {
        let value = inner.map_or_else(|| text.to_owned(), |inner| format!("{{{inner}}}"));
        Some(format!("{}: {value}", word(name)))
    });
    written.unwrap_or_default()
}
