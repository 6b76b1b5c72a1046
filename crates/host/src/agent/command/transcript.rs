//! Programs that print: what they print is shown as it is, but for what they report to Adjutant.

use serde_json::Value;

use crate::agent::transcript::{EntryKind, TranscriptEntry, object, used};
use crate::agent::{EndReportStatus, report};
use crate::run::{OutputLine, Stream};

/// Reads a line; `plain` reads one that is no JSON.
pub(in crate::agent) fn read(
    line: &OutputLine,
    plain: fn(&str) -> Option<TranscriptEntry>,
) -> Vec<TranscriptEntry> {
    let text = &line.text;
    if line.stream == Stream::In {
        return TranscriptEntry::told(text).into_iter().collect();
    }
    let Some(value) = object(text) else { return plain(text).into_iter().collect() };
    if value["adjutant"].is_object() {
        return reported(&value["adjutant"]);
    }
    let Some(result) = report::result(value) else { return vec![TranscriptEntry::printed(text)] };
    let summary = result["summary"].as_str().or(result["status"].as_str()).unwrap_or_default();
    let is_well = report::verdict(&result) == EndReportStatus::Success;
    let kind = if is_well { EntryKind::Message } else { EntryKind::Error };
    vec![TranscriptEntry { ok: Some(is_well), ..TranscriptEntry::new(kind, summary) }]
}

/// Items of a report; one line may have several.
fn reported(report: &Value) -> Vec<TranscriptEntry> {
    let mut all = Vec::new();
    let system = |text: String| TranscriptEntry::new(EntryKind::System, text);
    all.extend(
        report["message"]
            .as_str()
            .and_then(|text| TranscriptEntry::words(EntryKind::Message, text)),
    );
    all.extend(
        report["thought"]
            .as_str()
            .and_then(|text| TranscriptEntry::words(EntryKind::Thought, text)),
    );
    if let Some(model) = report["model"].as_str() {
        all.push(system(format!("answers as {model}")));
    }
    let usage = &report["usage"];
    if usage.is_object() {
        let count = |key: &str| usage[key].as_u64().unwrap_or_default();
        let cached = count("cache_read_tokens").saturating_add(count("cache_write_tokens"));
        let read = count("input_tokens").saturating_add(cached);
        all.push(system(used(read, count("output_tokens"), usage["cost_usd"].as_f64())));
    }
    if report["limited"].is_object() {
        let until = report["limited"]["until"].as_str();
        let until = until.map_or_else(String::new, |until| format!(" until {until}"));
        all.push(system(format!("its model does not answer{until}")));
    }
    tool(&report["tool"], &mut all);
    all
}

fn tool(tool: &Value, all: &mut Vec<TranscriptEntry>) {
    let Some(id) = tool["id"].as_str() else { return };
    let is_done = tool["done"] == true;
    if let Some(name) = tool["name"].as_str()
        && (!is_done || !tool["input"].is_null())
    {
        all.push(TranscriptEntry::call(id, name, &tool["input"]));
    }
    if is_done {
        all.push(match tool["error"].as_str() {
            Some(error) => TranscriptEntry::failed(id, error),
            None => TranscriptEntry::came(id, tool["output"].as_str().unwrap_or_default()),
        });
    }
}
