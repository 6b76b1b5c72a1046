//! The Agent Client Protocol. Words come in pieces, and a call is told of several times.

use serde_json::Value;

use super::claude_code;
use super::tools::{certain_name, likely_name};
use crate::agent::transcript::{EntryKind, JsonReader, TranscriptEntry, texts, used, with_code};

/// Reads the lines of this kind.
pub(super) const READER: JsonReader = JsonReader { told, entries, id_field: "toolCallId" };

/// Items of a message; `None` for an unknown form.
fn entries(value: &Value) -> Option<Vec<TranscriptEntry>> {
    let params = &value["params"];
    match value["method"].as_str() {
        Some("session/update") => Some(update(&params["update"])),
        Some("session/request_permission") => {
            let call = &params["toolCall"];
            let what = call["title"].as_str().unwrap_or("a tool");
            let entry =
                TranscriptEntry::new(EntryKind::System, format!("asks whether it may use {what}"));
            let input = Some(call["rawInput"].clone()).filter(|input| !input.is_null());
            Some(vec![TranscriptEntry { input, asked: Some(value["id"].to_string()), ..entry }])
        }
        // Whatever else is told of sessions is for programs.
        Some(method) => {
            let retry = claude_code::retry_words(method, params);
            Some(
                retry
                    .map(|words| TranscriptEntry::new(EntryKind::System, words))
                    .into_iter()
                    .collect(),
            )
        }
        None => answer(value),
    }
}

/// Text of a prompt sent to the agent.
fn told(value: &Value) -> Option<String> {
    let is_telling = matches!(value["method"].as_str()?, "session/prompt" | "_session/steering");
    is_telling.then(|| texts(&value["params"]["prompt"]))
}

/// An answer to what we asked: a refusal, or the end of a turn.
fn answer(value: &Value) -> Option<Vec<TranscriptEntry>> {
    if let Some(error) = value["error"]["message"].as_str() {
        let data = &value["error"]["data"];
        let detail = data["message"].as_str().or(data["details"].as_str()).unwrap_or(error);
        return Some(vec![TranscriptEntry::new(EntryKind::Error, detail)]);
    }
    let result = value.get("result")?;
    let Some(reason) = result["stopReason"].as_str() else { return Some(Vec::new()) };
    let count = |key: &str| result["usage"][key].as_u64().unwrap_or_default();
    let how = if reason == "end_turn" { "turn over" } else { reason };
    let words = used(count("inputTokens"), count("outputTokens"), None);
    Some(vec![TranscriptEntry::new(EntryKind::System, format!("{how}; {words}"))])
}

fn update(update: &Value) -> Vec<TranscriptEntry> {
    let piece = |kind: EntryKind| {
        let id = update["messageId"].as_str().map(str::to_owned);
        TranscriptEntry { id, part: true, ..TranscriptEntry::new(kind, texts(&update["content"])) }
    };
    match update["sessionUpdate"].as_str().unwrap_or_default() {
        "agent_message_chunk" => vec![piece(EntryKind::Message)],
        "agent_thought_chunk" => vec![piece(EntryKind::Thought)],
        "tool_call" | "tool_call_update" => call(update),
        "plan" => {
            let steps = update["entries"].as_array().into_iter().flatten();
            let steps = steps.filter_map(|step| {
                let is_done = step["status"] == "completed";
                let sign = if is_done { 'x' } else { ' ' };
                Some(format!("- [{sign}] {}", step["content"].as_str()?))
            });
            let plan = steps.collect::<Vec<_>>().join("\n");
            TranscriptEntry::words(EntryKind::Thought, plan).into_iter().collect()
        }
        // Messages from before it was resumed, and messages between programs.
        _ => Vec::new(),
    }
}

/// A piece of news on a call: what it is given, what came of it, or both.
fn call(update: &Value) -> Vec<TranscriptEntry> {
    let id = update["toolCallId"].as_str().unwrap_or_default();
    let is_new = update["sessionUpdate"] == "tool_call";
    let is_mcp = update["_meta"]["is_mcp_tool_call"] == true;
    let raw = &update["rawInput"];
    let given = if is_mcp { &raw["arguments"] } else { raw };
    let mut all = Vec::new();
    if is_new || given.as_object().is_some_and(|given| !given.is_empty()) {
        let name = certain_name(update);
        let name = name.or_else(|| is_new.then(|| likely_name(update, &[])));
        all.push(TranscriptEntry { tool: name, ..TranscriptEntry::call(id, "", given) });
    }
    match update["status"].as_str() {
        Some("completed") => all.push(TranscriptEntry::came(id, outcome(update))),
        Some("failed") => all.push(TranscriptEntry::failed(id, outcome(update))),
        _ => {}
    }
    all
}

/// Output of a call, wherever the agent reports it.
fn outcome(update: &Value) -> String {
    let raw = &update["rawOutput"];
    let told = raw.as_str().or_else(|| raw["error"]["message"].as_str());
    if let Some(told) = told {
        return told.to_owned();
    }
    let text = texts(&raw["result"]["content"]);
    let text = if text.is_empty() { texts(&update["content"]) } else { text };
    let code = update["_meta"]["terminal_exit"]["exit_code"].as_i64().filter(|code| *code != 0);
    match code {
        Some(code) => with_code(&text, code),
        None => text,
    }
}
