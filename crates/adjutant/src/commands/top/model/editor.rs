//! A text that is being typed, in one line or several.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// No mail is longer.
const MAX_MAIL_CHARS: usize = 100_000;

/// A text, and where the next character goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Editor {
    before: String,
    after: String,
}

impl Editor {
    /// A text to go on with.
    pub(crate) fn new(text: &str) -> Self {
        Self { before: text.to_owned(), after: String::new() }
    }

    /// All of it.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    /// True if the input is empty.
    pub(crate) fn is_blank(&self) -> bool {
        self.text().trim().is_empty()
    }

    /// Text before the cursor.
    pub(crate) fn before(&self) -> &str {
        &self.before
    }

    /// Puts a text in, made harmless as everything that is shown.
    pub(crate) fn insert(&mut self, text: &str) {
        let text = crate::terminal::render::plain(&text.replace("\r\n", "\n").replace('\r', "\n"));
        let room = MAX_MAIL_CHARS.saturating_sub(self.before.len() + self.after.len());
        let end = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        self.before.push_str(text.get(..end.unwrap_or(0)).unwrap_or_default());
    }

    /// Takes a key; says whether the text was changed.
    pub(crate) fn key(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('w') if control => self.back_word(),
            KeyCode::Char('u') if control => self.before.clear(),
            KeyCode::Char('k') if control => self.after.clear(),
            KeyCode::Char('a') if control => self.home(),
            KeyCode::Char('e') if control => self.end(),
            KeyCode::Char(c) if !control => self.insert(&c.to_string()),
            KeyCode::Backspace => drop(self.before.pop()),
            KeyCode::Delete => drop(self.take_next()),
            KeyCode::Left => self.step_back(),
            KeyCode::Right => self.step_on(),
            KeyCode::Home => self.home(),
            KeyCode::End => self.end(),
            KeyCode::Up => self.up(),
            KeyCode::Down => self.down(),
            _ => return false,
        }
        true
    }

    fn take_next(&mut self) -> Option<char> {
        let next = self.after.chars().next()?;
        self.after.remove(0);
        Some(next)
    }

    fn step_back(&mut self) {
        if let Some(c) = self.before.pop() {
            self.after.insert(0, c);
        }
    }

    fn step_on(&mut self) {
        if let Some(c) = self.take_next() {
            self.before.push(c);
        }
    }

    fn back_word(&mut self) {
        while self.before.ends_with(char::is_whitespace) {
            self.before.pop();
        }
        while self.before.chars().last().is_some_and(|c| !c.is_whitespace()) {
            self.before.pop();
        }
    }

    fn home(&mut self) {
        while !self.before.is_empty() && !self.before.ends_with('\n') {
            self.step_back();
        }
    }

    fn end(&mut self) {
        while !self.after.is_empty() && !self.after.starts_with('\n') {
            self.step_on();
        }
    }

    fn column(&self) -> usize {
        self.before.chars().rev().take_while(|c| *c != '\n').count()
    }

    fn up(&mut self) {
        let column = self.column();
        self.home();
        if self.before.is_empty() {
            return;
        }
        self.step_back();
        self.home();
        self.go_to_column(column);
    }

    fn down(&mut self) {
        let column = self.column();
        self.end();
        if self.after.is_empty() {
            return;
        }
        self.step_on();
        self.go_to_column(column);
    }

    fn go_to_column(&mut self, column: usize) {
        for _ in 0..column {
            if self.after.is_empty() || self.after.starts_with('\n') {
                break;
            }
            self.step_on();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(editor: &mut Editor, codes: &[KeyCode]) {
        for code in codes {
            editor.key(KeyEvent::new(*code, KeyModifiers::NONE));
        }
    }

    #[test]
    fn a_text_is_typed_and_mended_where_the_cursor_is() {
        let mut editor = Editor::new("one\ntwo");
        typed(&mut editor, &[KeyCode::Up, KeyCode::Backspace, KeyCode::Char('E'), KeyCode::End]);
        assert_eq!(editor.text(), "onE\ntwo");
        typed(&mut editor, &[KeyCode::Down, KeyCode::Home, KeyCode::Delete, KeyCode::Char('T')]);
        assert_eq!((editor.text().as_str(), editor.before()), ("onE\nTwo", "onE\nT"));
        editor.key(KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL));
        assert_eq!(editor.text(), "onE\nwo");
    }

    #[test]
    fn what_is_pasted_is_harmless_and_has_an_end() {
        let mut editor = Editor::default();
        editor.insert("a\r\nb\u{1b}[2J\u{202e}");
        assert_eq!(editor.text(), "a\nb");
        editor.insert(&"ü".repeat(MAX_MAIL_CHARS));
        assert!(editor.text().len() <= MAX_MAIL_CHARS);
        assert!(!editor.is_blank());
    }
}
