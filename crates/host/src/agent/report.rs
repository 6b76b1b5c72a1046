//! Reads results and usage lines from plain output.
//!
//! A *result* is a JSON object with a `status` or a `summary`. A *report* is a line of its own in
//! the output of a program that knows Adjutant. One line may hold several:
//!
//! ~~~json
//! {"adjutant": {"usage": {"input_tokens": 1200, "output_tokens": 80, "cost_usd": 0.004}}}
//! {"adjutant": {"model": "local-7b"}}
//! {"adjutant": {"limited": {"until": "2026-11-15T18:00:00Z"}}}
//! {"adjutant": {"tool": {"id": "7", "name": "grep", "input": {"pattern": "x"}}}}
//! {"adjutant": {"tool": {"id": "7", "error": "no such file", "done": true}}}
//! {"adjutant": {"message": "I **look** at the parser first."}}
//! ~~~
//!
//! Each `usage` adds to those before it; it may also have `cache_read_tokens` and
//! `cache_write_tokens`. A `tool` begins, and ends with `done`; one that has both `input` and
//! `done` tells of a whole call, and with `output` what came of it. A `message` is Markdown for
//! people who watch, a `thought` the same, dimmed. What is not understood is left out.

use model::money::Usd;
use serde_json::Value;

use super::{EndReportStatus, Event, Usage, notes};

/// The value, where it is a result.
pub(super) fn result(value: Value) -> Option<Value> {
    (value["status"].is_string() || value["summary"].is_string()).then_some(value)
}

/// The result at the end of a text: all of it, its last block of code, or what follows the last
/// line that begins with a brace.
pub(super) fn result_in(text: &str) -> Option<Value> {
    let text = text.trim();
    let fenced = text.strip_suffix("```").and_then(|text| {
        let (_, block) = text.rsplit_once("```")?;
        Some(block.strip_prefix("json").unwrap_or(block))
    });
    let last = text.rfind("\n{").and_then(|at| text.get(at..));
    [Some(text), fenced, last]
        .into_iter()
        .flatten()
        .filter(|text| text.trim_start().starts_with('{'))
        .find_map(|text| serde_json::from_str(text).ok().and_then(result))
}

/// Verdict in a result.
pub(super) fn verdict(result: &Value) -> EndReportStatus {
    match result["status"].as_str() {
        Some(status @ ("failed" | "blocked")) => {
            EndReportStatus::Failure(result["summary"].as_str().unwrap_or(status).to_owned())
        }
        _ => EndReportStatus::Success,
    }
}

/// Events of a report; `cost` is the total of earlier reports.
pub(super) fn events(report: &Value, cost: &mut Usd) -> Vec<Event> {
    let mut events = Vec::new();
    if let Some(model) = report["model"].as_str().filter(|model| !model.is_empty()) {
        events.push(Event::Model(model.to_owned()));
    }
    if report["usage"].is_object() {
        usage(&report["usage"], cost, &mut events);
    }
    if report["limited"].is_object() {
        let until = report["limited"]["until"].as_str().and_then(|until| until.parse().ok());
        events.push(Event::Limited { until });
    }
    tool(&report["tool"], &mut events);
    events
}

fn usage(usage: &Value, cost: &mut Usd, events: &mut Vec<Event>) {
    let tokens = |name: &str| notes::count(&usage[name]);
    let used = Usage {
        input: tokens("input_tokens"),
        output: tokens("output_tokens"),
        cache_read: tokens("cache_read_tokens"),
        cache_write: tokens("cache_write_tokens"),
    };
    if used != Usage::default() {
        events.push(Event::Usage(used));
    }
    // Nobody earns money by working.
    if let Some(dollars) = usage["cost_usd"].as_f64().filter(|dollars| *dollars >= 0.0) {
        *cost += Usd::from_dollars(dollars);
        events.push(Event::Cost(*cost));
    }
}

fn tool(tool: &Value, events: &mut Vec<Event>) {
    let Some(id) = tool["id"].as_str() else { return };
    let is_done = tool["done"] == true;
    if let Some(name) = tool["name"].as_str()
        && (!is_done || !tool["input"].is_null())
    {
        let input = notes::input(&tool["input"]);
        events.push(Event::ToolBegan { id: id.to_owned(), name: name.to_owned(), input });
    }
    if is_done {
        let error = tool["error"].as_str().map(notes::error);
        events.push(Event::ToolEnded { id: id.to_owned(), error });
    }
}

#[cfg(test)]
mod tests;
