//! Claude Code's `api_retry` lines: why its provider did not answer. It writes them for itself and, asked to, through
//! the Agent Client Protocol.

use serde_json::Value;

use crate::agent::Event;
use crate::agent::credentials::{self, Refusals};

/// Tells what a retry means.
pub(in crate::agent) fn event(retry: &Value, refusals: &mut Refusals) -> Event {
    let is_refused = retry["error"] == "authentication_failed"
        || credentials::is_refusal(&retry["error_status"]);
    if is_refused {
        refusals.tried_again(&cause(retry))
    } else {
        refusals.accepted();
        Event::Warning(words(retry))
    }
}

/// Says for people why it tries again, and how often it has.
pub(in crate::agent) fn words(retry: &Value) -> String {
    let count = |key: &str| retry[key].as_u64().unwrap_or_default();
    format!("{}; retry {} of {}", cause(retry), count("attempt"), count("max_retries"))
}

fn cause(retry: &Value) -> String {
    let error = retry["error"].as_str().unwrap_or("unknown");
    let words = match error {
        "authentication_failed" => "its provider refuses its credentials",
        "billing_error" => "its provider wants to be paid",
        "overloaded" => "its provider is overloaded",
        "rate_limit" => "its provider limits its rate",
        "server_error" => "its provider has an internal error",
        _ => "its provider does not answer",
    };
    match retry["error_status"].as_u64() {
        Some(status) => format!("{words} (HTTP {status})"),
        None if words.ends_with("answer") => format!("{words} ({error})"),
        None => words.to_owned(),
    }
}
