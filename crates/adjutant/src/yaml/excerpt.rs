//! The lines around a place in a text, with a mark under the place.

use std::fmt::Write as _;
use std::ops::Range;

/// Characters of a long line shown before the position.
const LEAD: usize = 24;

/// The line of a place and the one before it, no wider than asked for.
pub(super) fn excerpt(text: &str, span: &Range<usize>, width: usize) -> String {
    let before = text.get(..span.start).unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let margin = number.to_string().len().max(2);
    let room = width.saturating_sub(margin + 3).max(LEAD + 8);
    let lines: Vec<&str> = text.lines().collect();
    let line = lines.get(number - 1).copied().unwrap_or_default();
    let start = before.rsplit('\n').next().unwrap_or_default().chars().count();
    let long = text.get(span.clone()).unwrap_or_default().chars().count().max(1);
    // A line that is too long is shown from a little before the place.
    let skipped = if line.chars().count() > room { start.saturating_sub(LEAD) } else { 0 };
    let mut shown = String::new();
    // Writing to a String cannot fail.
    if let Some(above) = number.checked_sub(2).and_then(|index| lines.get(index)) {
        _ = writeln!(shown, "{:>margin$} | {}", number - 1, cut(above, 0, room));
    }
    _ = writeln!(shown, "{number:>margin$} | {}", cut(line, skipped, room));
    let ahead = start - skipped;
    let marks = long.min(room.saturating_sub(ahead)).max(1);
    _ = writeln!(shown, "{:>margin$} | {}{}", "", " ".repeat(ahead), "^".repeat(marks));
    shown
}

/// A part of a line, a character a column, with a sign where something is left out.
fn cut(line: &str, from: usize, most: usize) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let all = line.chars().count();
    let mut shown: Vec<char> = line.chars().skip(from).take(most).map(plain).collect();
    if from > 0
        && let Some(first) = shown.first_mut()
    {
        *first = '…';
    }
    if all > from + most
        && let Some(last) = shown.last_mut()
    {
        *last = '…';
    }
    shown.into_iter().collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, at: &str, width: usize) -> String {
        let start = text.find(at).unwrap();
        excerpt(text, &(start..start + at.len()), width)
    }

    #[test]
    fn the_place_is_marked() {
        insta::assert_snapshot!(shown("a:\n  bad: 1\n  c: 2\n", "bad", 80), @r"
         1 | a:
         2 |   bad: 1
           |   ^^^
        ");
        insta::assert_snapshot!(shown("bad: 1", "bad", 80), @r"
         1 | bad: 1
           | ^^^
        ");
        insta::assert_snapshot!(shown("a:\n\tüb: bad\n", "bad", 80), @r"
         1 | a:
         2 |  üb: bad
           |      ^^^
        ");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("a: {} here {}", "x".repeat(100), "y".repeat(100));
        let shown = shown(&text, "here", 50);
        assert!(shown.lines().all(|line| line.chars().count() <= 50), "{shown}");
        insta::assert_snapshot!(shown, @r"
         1 | …xxxxxxxxxxxxxxxxxxxxxx here yyyyyyyyyyyyyyy…
           |                         ^^^^
        ");
        let whole = excerpt(&text, &(0..text.len()), 50);
        assert!(whole.lines().all(|line| line.chars().count() <= 50), "{whole}");
    }
}
