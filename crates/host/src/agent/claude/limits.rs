//! Recognises Claude Code's rate limits.
//!
//! A subscription's limit comes as a `rate_limit_event` with the time, then as the error of the
//! turn. Older versions put the time behind a bar in the text. The limit that an organisation sets
//! itself is told in prose. A key's rate, where ten retries were not enough, has no time.

use model::Timestamp;
use serde_json::Value;

/// Its model does not answer it for a while.
#[derive(Debug)]
pub(super) struct Limit {
    /// Until when, where it says so
    pub(super) until: Option<Timestamp>,
}

/// The limit that a `rate_limit_info` tells of. One that others pay for beyond it is none.
pub(super) fn in_info(info: &Value) -> Option<Limit> {
    let is_hit = info["status"] == "rejected" && info["isUsingOverage"] != true;
    is_hit.then(|| Limit { until: info["resetsAt"].as_i64().map(from_seconds) })
}

/// The limit that the `result` of a failed turn tells of.
pub(super) fn in_result(result: &Value) -> Option<Limit> {
    let text = result["result"].as_str().unwrap_or_default();
    // Versions before 2 did not always call it an error.
    if result["is_error"] != true && !text.starts_with("Claude AI usage limit reached|") {
        return None;
    }
    let until = after_bar(text).or_else(|| in_prose(text));
    let is_hit = until.is_some()
        || result["api_error"] == "usage_limit_reached"
        || result["api_error_status"] == 429;
    is_hit.then_some(Limit { until })
}

/// `Claude AI usage limit reached|1763208309`
fn after_bar(text: &str) -> Option<Timestamp> {
    let (_, seconds) = text.split_once("limit reached|")?;
    let end = seconds.find(|next: char| !next.is_ascii_digit()).unwrap_or(seconds.len());
    seconds.get(..end)?.parse().ok().map(from_seconds)
}

/// `You will regain access on 2026-12-01 at 00:00 UTC.`
fn in_prose(text: &str) -> Option<Timestamp> {
    let (_, rest) = text.split_once("regain access on ")?;
    let (date, rest) = rest.split_once(" at ")?;
    let (time, _) = rest.split_once(" UTC")?;
    format!("{date}T{time}:00Z").parse().ok()
}

fn from_seconds(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds.saturating_mul(1000))
}
