//! Names and figures of the server's answers, with sanitised texts.

use serde_json::Value;
use wire::costs::LineageAgent;
use wire::crew::CrewRow;
use wire::mail::{OfferView, PersonView, ThreadMail};

use super::text::wrap;
use crate::terminal::render::plain;

/// True for an agent that has ended.
pub(crate) fn is_over(row: &CrewRow) -> bool {
    row.finished_at.is_some()
}

/// Display name of an agent.
pub(crate) fn agent_name(row: &CrewRow) -> String {
    format!("{} {}", row.role, row.short)
}

/// Spending of an agent and its descendants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spending {
    /// Dollars, if known
    pub(crate) spent: Option<f64>,
    /// Dollars that may be spent
    pub(crate) cap: Option<f64>,
}

impl Spending {
    pub(crate) fn of(row: &CrewRow) -> Self {
        match &row.budget {
            Some(budget) => Self { spent: Some(budget.spent_usd), cap: budget.usd },
            None => Self { spent: row.cost_usd, cap: None },
        }
    }
}

/// Display name of a sender or recipient.
pub(crate) fn person_name(person: &PersonView) -> String {
    match (&person.role, &person.short) {
        _ if person.human => "you".to_owned(),
        (Some(role), Some(short)) => format!("{role} {short}"),
        _ => "adjutant".to_owned(),
    }
}

/// Offered answers, if an answer is awaited.
pub(crate) fn offers(letter: &ThreadMail) -> &[OfferView] {
    if letter.letter.needs_answer { &letter.options } else { &[] }
}

/// Height of a mail in lines: head, text, offers and a gap.
pub(crate) fn mail_height(letter: &ThreadMail, room: usize) -> usize {
    2 + wrap(&letter.body, room).len() + offers(letter).len()
}

/// Number of agents of a lineage.
pub(crate) fn lineage_size(root: &LineageAgent) -> usize {
    1 + root.children.iter().map(lineage_size).sum::<usize>()
}

/// Removes from every text of a document what a terminal would obey. All answers of the server pass through here,
/// so that only harmless text reaches the screen.
pub(crate) fn sanitized(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(plain(&text)),
        Value::Array(items) => items.into_iter().map(sanitized).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (plain(&name), sanitized(value))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_text_keeps_what_a_terminal_would_obey() {
        let message =
            json!({ "a": ["\u{1b}[2Jx\u{202e}"], "b": { "\u{1b}]0;t\u{7}c": "\u{9b}y" }, "n": 1 });
        assert_eq!(sanitized(message), json!({ "a": ["x"], "b": { "c": "y" }, "n": 1 }));
    }
}
