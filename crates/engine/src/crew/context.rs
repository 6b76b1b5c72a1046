//! Composes an agent's prompt as Markdown: project, task, mail, tools and how to end.
//!
//! The project's own files stand as they are. What other agents wrote is quoted: data, not orders.

mod compose;
mod mail;
mod plan;
mod project;
mod task;

use std::borrow::Cow;

pub(crate) use compose::{PromptParts, compose};
pub(crate) use mail::{MailTools, unread_mail};
pub(crate) use project::project_context;
pub(crate) use task::task_context;

/// Stands where something was left out, before the words on how much.
pub(crate) const CUT: &str = "[... truncated ...]";

/// Sets a quotation mark before every line, so that nothing in it can pass for a heading of ours.
pub(crate) fn quote(text: &str) -> String {
    // Readers of Markdown end lines at more than one character.
    let breaks = ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    let plain = text.replace("\r\n", "\n").replace(breaks, "\n");
    plain.lines().fold(String::new(), |mut quoted, line| {
        quoted.push_str(if line.is_empty() { ">" } else { "> " });
        quoted.push_str(line);
        quoted.push('\n');
        quoted
    })
}

/// The beginning of a text, up to so many bytes: whole lines, if even one fits.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let end = (0..=bytes).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let part = text.get(..end).unwrap_or_default();
    match part.rfind('\n') {
        Some(at) => part.get(..=at).unwrap_or(part),
        None => part,
    }
}

/// The end of a text, up to so many bytes.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    let from = text.len().saturating_sub(bytes);
    let from = (from..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    text.get(from..).unwrap_or_default()
}

/// The beginning of a text, and what was left out of it.
pub(crate) fn clip(text: &str, bytes: usize) -> Cow<'_, str> {
    if text.len() <= bytes {
        return Cow::Borrowed(text);
    }
    let part = head(text, bytes);
    let rest = text.len() - part.len();
    Cow::Owned(format!("{}\n{CUT} {rest} more bytes", part.trim_end()))
}

#[cfg(test)]
mod tests;
