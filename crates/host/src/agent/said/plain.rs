//! Programs that print: what they print is shown as it is, but for what they report to Adjutant.

use serde_json::Value;

use super::super::report;
use super::{Said, SaidAs, object, used};
use crate::agent::DoneAs;

/// What a line tells.
pub(super) fn said(kind: &str, text: &str) -> Vec<Said> {
    let Some(value) = object(text) else { return printed(kind, text).into_iter().collect() };
    if value["adjutant"].is_object() {
        return reported(&value["adjutant"]);
    }
    let Some(result) = report::result(value) else { return vec![Said::printed(text)] };
    let summary = result["summary"].as_str().or(result["status"].as_str()).unwrap_or_default();
    let is_well = report::verdict(&result) == DoneAs::Success;
    let said = Said::new(if is_well { SaidAs::Message } else { SaidAs::Error }, summary);
    vec![Said { ok: Some(is_well), ..said }]
}

/// A scripted agent stands for one that speaks: its plain lines are words. What has colours was printed by a
/// program that it ran.
fn printed(kind: &str, text: &str) -> Option<Said> {
    if kind == "script" && !text.contains('\u{1b}') {
        return Said::words(SaidAs::Message, text);
    }
    Some(Said::printed(text))
}

/// What a report tells; one line may tell several things.
fn reported(report: &Value) -> Vec<Said> {
    let mut all = Vec::new();
    let system = |text: String| Said::new(SaidAs::System, text);
    all.extend(report["message"].as_str().and_then(|text| Said::words(SaidAs::Message, text)));
    all.extend(report["thought"].as_str().and_then(|text| Said::words(SaidAs::Thought, text)));
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

fn tool(tool: &Value, all: &mut Vec<Said>) {
    let Some(id) = tool["id"].as_str() else { return };
    let is_done = tool["done"] == true;
    if let Some(name) = tool["name"].as_str()
        && (!is_done || !tool["input"].is_null())
    {
        all.push(Said::call(id, name, &tool["input"]));
    }
    if is_done {
        all.push(match tool["error"].as_str() {
            Some(error) => Said::failed(id, error),
            None => Said::came(id, tool["output"].as_str().unwrap_or_default()),
        });
    }
}
