//! A text by lines, with insertions and removals.

use std::ops::Range;

/// A text that is being edited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a>(pub(super) &'a str);

impl<'a> Text<'a> {
    /// A part of it.
    pub(super) fn part(self, part: Range<usize>) -> &'a str {
        self.0.get(part).unwrap_or_default()
    }

    /// The text with a part of it replaced.
    pub(super) fn spliced(self, part: Range<usize>, with: &str) -> String {
        let head = self.0.get(..part.start).unwrap_or_default();
        let tail = self.0.get(part.end..).unwrap_or_default();
        format!("{head}{with}{tail}")
    }

    /// The text with lines put in where a line begins, or at its end.
    pub(super) fn inserted(self, at: usize, lines: &str) -> String {
        let head = self.0.get(..at).unwrap_or_default();
        let broken = head.is_empty() || head.ends_with('\n');
        self.spliced(at..at, &format!("{}{lines}", if broken { "" } else { self.newline() }))
    }

    /// The text with lines at its end, apart from the rest.
    pub(super) fn appended(self, lines: &str) -> String {
        let last = self.0.lines().next_back().unwrap_or_default();
        let gap = if last.trim().is_empty() { "" } else { self.newline() };
        self.inserted(self.0.len(), &format!("{gap}{lines}"))
    }

    /// Line ending.
    pub(super) fn newline(self) -> &'static str {
        if self.0.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// Where the line of a place begins.
    pub(super) fn line_start(self, at: usize) -> usize {
        self.0.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1)
    }

    /// Where the line after a place begins.
    pub(super) fn line_end(self, at: usize) -> usize {
        let rest = self.0.get(at..).unwrap_or_default();
        rest.find('\n').map_or(self.0.len(), |found| at + found + 1)
    }

    /// The blanks at the beginning of a place's line.
    pub(super) fn indent(self, at: usize) -> &'a str {
        let line = self.0.get(self.line_start(at)..).unwrap_or_default();
        let width = line.len() - line.trim_start_matches(' ').len();
        line.get(..width).unwrap_or_default()
    }

    /// Column of a position.
    pub(super) fn column(self, at: usize) -> usize {
        at - self.line_start(at)
    }
}
