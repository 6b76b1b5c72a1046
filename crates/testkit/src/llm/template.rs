//! `{{last.agentId}}` and its like: how a script uses what the tools answered.

use serde_json::{Deserializer, Value};

use super::conversation::ConversationState;

/// Fills the templates in every string of a value. A string that is one template takes the type of what it stands for.
pub(super) fn fill(value: Value, heard: &ConversationState) -> Value {
    match value {
        Value::String(text) => {
            let whole = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
            match whole.filter(|path| !path.contains("{{")) {
                Some(path) => look_up(path, heard),
                None => fill_text(&text, heard).into(),
            }
        }
        Value::Array(items) => items.into_iter().map(|item| fill(item, heard)).collect(),
        Value::Object(fields) => Value::Object(
            fields.into_iter().map(|(key, value)| (key, fill(value, heard))).collect(),
        ),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// Fills the templates in a text.
pub(super) fn fill_text(text: &str, heard: &ConversationState) -> String {
    let mut parts = text.split("{{");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once("}}") {
            Some((path, rest)) => {
                match look_up(path, heard) {
                    Value::String(found) => filled.push_str(&found),
                    found => filled.push_str(&found.to_string()),
                }
                filled.push_str(rest);
            }
            None => filled.push_str(part),
        }
    }
    filled
}

/// Value at a path. A path to nothing gives a text that says so in the log of a failed test.
fn look_up(path: &str, heard: &ConversationState) -> Value {
    let mut steps = path.trim().split('.');
    let text = match steps.next() {
        Some("user") => heard.user.last(),
        Some("last") => heard.results.last(),
        Some("result") => {
            steps.next().and_then(|number| heard.results.get(number.parse::<usize>().ok()?))
        }
        _ => None,
    };
    let missing = || Value::from(format!("(nothing at {path})"));
    let Some(text) = text else { return missing() };
    let mut steps = steps.peekable();
    if steps.peek().is_none() {
        return text.as_str().into();
    }
    let found = steps.try_fold(first_json(text), |value, step| {
        let value = value?;
        Some(match step.parse::<usize>() {
            Ok(number) => value.get(number).cloned(),
            Err(_) => value.get(step).cloned(),
        })
    });
    found.flatten().unwrap_or_else(missing)
}

/// The first JSON object in a text: command lines put words of their own around what a tool answered.
fn first_json(text: &str) -> Option<Value> {
    let mut starts = text.match_indices('{').filter_map(|(start, _)| text.get(start..));
    starts.find_map(|rest| Deserializer::from_str(rest).into_iter().next()?.ok())
}
