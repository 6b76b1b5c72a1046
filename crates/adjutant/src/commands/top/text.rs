//! Text in columns: how wide it is, cut and broken to fit. Wide characters count as two.

use ratatui::text::Span;
use unicode::graphemes;

/// Width of a text in columns.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { Span::raw(text).width() }
}

/// The beginning of a line that fits; what is left out shows as `…`.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let text = text.replace(['\n', '\t'], " ");
    if width(&text) <= most {
        return text;
    }
    let mut kept = String::new();
    let mut used = 0;
    for piece in graphemes(&text) {
        used += width(&piece);
        if used + 1 > most {
            break;
        }
        kept.push_str(&piece);
    }
    if most > 0 {
        kept.push('…');
    }
    kept
}

/// A text that takes exactly so many columns, at the left.
pub(crate) fn left(text: &str, most: usize) -> String {
    let text = cut(text, most);
    let rest = most.saturating_sub(width(&text));
    format!("{text}{}", " ".repeat(rest))
}

/// The same at the right.
pub(crate) fn right(text: &str, most: usize) -> String {
    let text = cut(text, most);
    let rest = most.saturating_sub(width(&text));
    format!("{}{text}", " ".repeat(rest))
}

/// A text in lines that fit, broken between words where that can be.
pub(crate) fn wrap(text: &str, most: usize) -> Vec<String> {
    let most = most.max(1);
    let mut lines = Vec::new();
    for line in text.trim_end_matches('\n').split('\n') {
        let line = line.replace('\t', "    ");
        if width(&line) <= most {
            lines.push(line.trim_end().to_owned());
        } else {
            wrap_line(&line, most, &mut lines);
        }
    }
    lines
}

fn wrap_line(line: &str, most: usize, lines: &mut Vec<String>) {
    let (mut now, mut used) = (String::new(), 0);
    for word in line.split_inclusive(' ') {
        let bare = width(word.trim_end_matches(' '));
        if used > 0 && used + bare > most {
            lines.push(now.trim_end().to_owned());
            (now, used) = (String::new(), 0);
        }
        if bare <= most {
            now.push_str(word);
            used += width(word);
            continue;
        }
        for piece in graphemes(word) {
            let wide = width(&piece);
            if used + wide > most {
                lines.push(std::mem::take(&mut now));
                used = 0;
            }
            now.push_str(&piece);
            used += wide;
        }
    }
    if !now.trim_end().is_empty() {
        lines.push(now.trim_end().to_owned());
    }
}

mod unicode {
    use ratatui::style::Style;
    use ratatui::text::Span;

    /// Splits a text into graphemes.
    pub(super) fn graphemes(text: &str) -> Vec<String> {
        let span = Span::raw(text);
        span.styled_graphemes(Style::new()).map(|one| one.symbol.to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_and_filled_by_its_width() {
        assert_eq!(cut("one two", 7), "one two");
        assert_eq!(cut("one two", 5), "one …");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(left("漢", 4), "漢  ");
        assert_eq!(right("7", 3), "  7");
        assert_eq!(cut("x", 0), "");
    }

    #[test]
    fn a_text_is_broken_between_words_and_a_long_word_inside() {
        assert_eq!(wrap("one two three\nfour", 7), ["one two", "three", "four"]);
        assert_eq!(wrap("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrap("漢字漢", 4), ["漢字", "漢"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
