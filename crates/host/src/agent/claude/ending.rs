//! Reads the end of a turn.

use serde_json::Value;

use super::super::Step;
use super::super::outcome::Outcome;

/// Tells how a turn ended.
pub(super) fn tell(result: &Value, outcome: &mut Outcome) -> Step {
    let is_aborted = result["terminal_reason"].as_str().is_some_and(|it| it.starts_with("aborted"));
    let errors = result["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let text = match result["result"].as_str() {
        Some(text) => text.to_owned(),
        // Nothing but a note for its makers.
        None if is_aborted => String::new(),
        None => errors.collect::<Vec<_>>().join("\n"),
    };
    let subtype = result["subtype"].as_str().unwrap_or_default();
    let reason = if text.is_empty() { subtype } else { &text };
    match subtype {
        _ if is_aborted => outcome.bounded("interrupted", &text),
        "error_max_turns" | "error_max_budget_usd" => outcome.bounded(reason, &text),
        // A failure of the API says `success` too.
        "success" if result["is_error"] != true => {
            match &result["structured_output"] {
                Value::Null => outcome.turn(&text),
                given => outcome.turn(&given.to_string()),
            }
            outcome.well(&text)
        }
        _ => outcome.badly(reason, &text),
    }
}
