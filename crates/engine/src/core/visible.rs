//! Text by agents for files that people open in a terminal: nothing in it is obeyed and nothing is hidden.

use std::fmt::Write as _;

/// Returns whether a terminal would obey a character, or a reader would see what follows in another order.
fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        c => c.is_control(),
    }
}

/// Markdown with every control character written out, as in `\u{1b}`.
pub(crate) fn visible(text: &str) -> String {
    if !text.contains(is_hidden) {
        return text.to_owned();
    }
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        match c {
            '\r' => {}
            c if is_hidden(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
        shown
    })
}

/// JSON with every control character that its strings may hold as such written as an escape. It means the same.
pub(crate) fn visible_json(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len()), |mut shown, c| {
        if is_hidden(c) {
            // Writing to a String cannot fail. Every one of these is below U+10000.
            _ = write!(shown, "\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
        shown
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WILD: &str = "a\u{1b}[2Jb\u{9b}c\u{7}d\u{202e}e\r\n\tf\u{7f}";

    #[test]
    fn control_characters_are_written_out() {
        let shown = visible(WILD);
        assert_eq!(shown, "a\\u{1b}[2Jb\\u{9b}c\\u{7}d\\u{202e}e\n\tf\\u{7f}");
        assert_eq!(visible("plain\n\ttext ü"), "plain\n\ttext ü");
    }

    #[test]
    fn json_means_the_same() {
        let value = serde_json::json!({ "a": WILD, "b": ["ü"] });
        let shown = visible_json(&format!("{value:#}\n"));
        assert!(!shown.contains(is_hidden), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
