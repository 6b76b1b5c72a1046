//! Prompt of a reviewer, from a template that a home may replace.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::crew::templates::{Piece, pieces};

/// Default template, if the home has no `review.md`.
pub(crate) const REVIEW_TEMPLATE: &str = include_str!("template.md");

/// The names that the template may use.
pub(crate) const REVIEW_VARIABLES: [&str; 11] = [
    "coder",
    "task",
    "branch",
    "commit",
    "target",
    "iteration",
    "max_iterations",
    "message",
    "instructions",
    "changes",
    "feedback",
];

/// The prompt that a template makes. What it names and nobody gives is left empty; what is no name of ours
/// stays as it stands.
pub(crate) fn render(template: &str, values: &Map<String, Value>) -> String {
    let mut text = String::with_capacity(template.len());
    for piece in pieces(template) {
        match piece {
            Piece::Text(plain) => text.push_str(plain),
            Piece::Argument(name) if REVIEW_VARIABLES.contains(&name) => match values.get(name) {
                None | Some(Value::Null) => {}
                Some(Value::String(value)) => text.push_str(value),
                // Writing to a String cannot fail.
                Some(value) => _ = write!(text, "{value}"),
            },
            Piece::Argument(name) => text.extend(["{{", name, "}}"]),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_variable_is_in_the_template_and_every_name_in_it_is_known() {
        let used: Vec<&str> = pieces(REVIEW_TEMPLATE)
            .filter_map(|piece| match piece {
                Piece::Argument(name) => Some(name),
                Piece::Text(_) => None,
            })
            .collect();
        for name in REVIEW_VARIABLES {
            assert!(used.contains(&name), "`{name}`");
        }
        assert!(used.iter().all(|name| REVIEW_VARIABLES.contains(name)), "{used:?}");
    }

    #[test]
    fn what_is_not_given_is_empty_and_what_is_not_ours_stays() {
        let values = json!({ "coder": "sp_1", "iteration": 2 });
        let text =
            render("{{coder}} {{iteration}} {{message}} {{other}}", values.as_object().unwrap());
        assert_eq!(text, "sp_1 2  {{other}}");
    }
}
