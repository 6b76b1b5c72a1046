//! Codex's events and items. `exec` writes `snake_case`, and the app server JSON-RPC in `camelCase`.

use serde_json::{Value, json};

use super::items;
use crate::agent::transcript::{EntryKind, JsonReader, TranscriptEntry, texts, used, with_code};

/// Phase of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemPhase {
    Began,
    Over,
}

/// Reads the lines of this kind.
pub(super) const READER: JsonReader = JsonReader { told, entries, id_field: "id" };

/// Items of a line; `None` for an unknown form.
fn entries(value: &Value) -> Option<Vec<TranscriptEntry>> {
    match value["type"].as_str() {
        Some(kind) => exec(kind, value),
        None => server(value),
    }
}

/// Text of a prompt sent to the agent.
fn told(value: &Value) -> Option<String> {
    let is_telling = matches!(value["method"].as_str()?, "turn/start" | "turn/steer");
    is_telling.then(|| texts(&value["params"]["input"]))
}

fn exec(kind: &str, value: &Value) -> Option<Vec<TranscriptEntry>> {
    let failed =
        |text: &Value| TranscriptEntry::new(EntryKind::Error, text.as_str().unwrap_or("failed"));
    Some(match kind {
        "thread.started" | "turn.started" | "item.updated" => Vec::new(),
        "item.started" => item(&value["item"], ItemPhase::Began),
        "item.completed" => item(&value["item"], ItemPhase::Over),
        "turn.completed" => {
            let count = |key: &str| value["usage"][key].as_u64().unwrap_or_default();
            let words = used(count("input_tokens"), count("output_tokens"), None);
            vec![TranscriptEntry::new(EntryKind::System, format!("turn over; {words}"))]
        }
        "turn.failed" => vec![failed(&value["error"]["message"])],
        "error" => vec![failed(&value["message"])],
        _ => return None,
    })
}

fn server(value: &Value) -> Option<Vec<TranscriptEntry>> {
    let params = &value["params"];
    let Some(method) = value["method"].as_str() else { return answer(value) };
    let words = |kind: EntryKind, text: &Value| {
        TranscriptEntry::words(kind, text.as_str().unwrap_or_default())
    };
    let one = match method {
        "item/started" => return Some(item(&params["item"], ItemPhase::Began)),
        "item/completed" => return Some(item(&params["item"], ItemPhase::Over)),
        "error" if params["willRetry"] == true => {
            TranscriptEntry::words(EntryKind::System, items::error_words(&params["error"]))
        }
        "error" => words(EntryKind::Error, &params["error"]["message"]),
        "warning" | "guardianWarning" => words(EntryKind::System, &params["message"]),
        "configWarning" => words(EntryKind::System, &params["summary"]),
        "turn/completed" => words(EntryKind::Error, &params["turn"]["error"]["message"]),
        "mcpServer/startupStatus/updated" if params["status"] == "failed" => {
            words(EntryKind::System, &params["error"])
        }
        asked if asked.ends_with("/requestApproval") => {
            let what = params["command"].as_str().or(params["reason"].as_str());
            let what = what.unwrap_or("a change of files");
            let entry =
                TranscriptEntry::new(EntryKind::System, format!("asks whether it may: {what}"));
            Some(TranscriptEntry { asked: Some(value["id"].to_string()), ..entry })
        }
        // Whatever else is told of threads, turns and accounts is for programs.
        _ => None,
    };
    Some(one.into_iter().collect())
}

/// An answer to what we asked; only a refusal is for people.
fn answer(value: &Value) -> Option<Vec<TranscriptEntry>> {
    match value["error"]["message"].as_str() {
        Some(error) => Some(vec![TranscriptEntry::new(EntryKind::Error, error)]),
        None => value.get("result").map(|_| Vec::new()),
    }
}

fn item(item: &Value, when: ItemPhase) -> Vec<TranscriptEntry> {
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    let kind = text("type");
    let one = match (kind, when) {
        ("agent_message" | "agentMessage", ItemPhase::Over) => {
            TranscriptEntry::words(EntryKind::Message, text("text"))
        }
        ("reasoning", ItemPhase::Over) => {
            let words = texts(&item["summary"]);
            let words = if words.is_empty() { text("text").to_owned() } else { words };
            TranscriptEntry::words(EntryKind::Thought, words)
        }
        ("error", ItemPhase::Over) => TranscriptEntry::words(EntryKind::System, text("message")),
        (_, ItemPhase::Began) => call(item),
        (_, ItemPhase::Over) => {
            let Some(call) = call(item) else { return Vec::new() };
            // Of these some versions tell only when they are over; a call that is told twice is one.
            let twice = matches!(kind, "file_change" | "fileChange" | "web_search" | "webSearch");
            return twice.then_some(call).into_iter().chain([came(item)]).collect();
        }
    };
    one.into_iter().collect()
}

/// The tool that an item uses.
fn call(item: &Value) -> Option<TranscriptEntry> {
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    let (tool, input) = match text("type") {
        "command_execution" | "commandExecution" => {
            ("shell".to_owned(), json!({ "command": item["command"] }))
        }
        "file_change" | "fileChange" => ("apply_patch".to_owned(), item["changes"].clone()),
        "mcp_tool_call" | "mcpToolCall" => {
            (format!("mcp__{}__{}", text("server"), text("tool")), item["arguments"].clone())
        }
        "dynamicToolCall" => (text("tool").to_owned(), item["arguments"].clone()),
        "collab_tool_call" | "collabAgentToolCall" => {
            ("collab".to_owned(), json!({ "prompt": item["prompt"] }))
        }
        "web_search" | "webSearch" => ("web_search".to_owned(), json!({ "query": item["query"] })),
        _ => return None,
    };
    Some(TranscriptEntry::call(text("id"), &tool, &input))
}

fn came(item: &Value) -> TranscriptEntry {
    let field = |snake: &str, camel: &str| item.get(snake).or_else(|| item.get(camel)).cloned();
    let output = field("aggregated_output", "aggregatedOutput").unwrap_or_default();
    let output = match (output.as_str(), item["error"]["message"].as_str()) {
        (_, Some(error)) => error.to_owned(),
        (Some(output), None) => output.to_owned(),
        (None, None) => texts(&item["result"]["content"]),
    };
    let code = field("exit_code", "exitCode").and_then(|code| code.as_i64()).unwrap_or(0);
    let refused = matches!(item["status"].as_str(), Some("failed" | "declined"));
    let is_well = code == 0 && !refused && item["error"].is_null();
    let output = if code == 0 { output } else { with_code(&output, code) };
    let took = field("duration_ms", "durationMs").and_then(|took| took.as_u64());
    let id = item["id"].as_str().unwrap_or_default();
    let entry = if is_well {
        TranscriptEntry::came(id, output)
    } else {
        TranscriptEntry::failed(id, output)
    };
    entry.after(took.filter(|took| *took > 0))
}
