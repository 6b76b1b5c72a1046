//! Claude Code's stream of JSON.

use serde_json::Value;

use super::retry;
use crate::agent::transcript::{EntryKind, JsonReader, TranscriptEntry, texts};

/// Reads the lines of this kind.
pub(super) const READER: JsonReader = JsonReader { told, entries, id_field: "tool_use_id" };

/// Items of a line; `None` for an unknown form.
fn entries(value: &Value) -> Option<Vec<TranscriptEntry>> {
    Some(match value["type"].as_str()? {
        "assistant" => blocks(value).iter().filter_map(|block| spoken(value, block)).collect(),
        "user" => blocks(value).iter().filter_map(|block| came(value, block)).collect(),
        "system" => system(value).into_iter().collect(),
        "result" => vec![result(value)],
        "control_request" => asks(value).into_iter().collect(),
        "rate_limit_event" => limited(&value["rate_limit_info"]).into_iter().collect(),
        // Pieces of messages that come whole afterwards, and messages between programs.
        "control_response"
        | "control_cancel_request"
        | "keep_alive"
        | "stream_event"
        | "tool_progress"
        | "tool_use_summary"
        | "auth_status"
        | "prompt_suggestion"
        | "command_lifecycle" => Vec::new(),
        _ => return None,
    })
}

/// Text of a prompt sent to the agent.
fn told(value: &Value) -> Option<String> {
    (value["type"] == "user").then(|| texts(&value["message"]["content"]))
}

fn blocks(value: &Value) -> &[Value] {
    value["message"]["content"].as_array().map_or(&[], Vec::as_slice)
}

fn spoken(value: &Value, block: &Value) -> Option<TranscriptEntry> {
    let text = |key: &str| block[key].as_str().unwrap_or_default();
    match text("type") {
        "text" if value["is_api_error_message"] == true => {
            TranscriptEntry::words(EntryKind::Error, text("text"))
        }
        // What an agent of its own says is part of the work, and not the answer.
        "text" if value["parent_tool_use_id"].is_string() => {
            TranscriptEntry::words(EntryKind::Thought, text("text"))
        }
        "text" => TranscriptEntry::words(EntryKind::Message, text("text")),
        "thinking" => TranscriptEntry::words(EntryKind::Thought, text("thinking")),
        "tool_use" | "server_tool_use" => {
            Some(TranscriptEntry::call(text("id"), text("name"), &block["input"]))
        }
        _ => None,
    }
}

fn came(value: &Value, block: &Value) -> Option<TranscriptEntry> {
    match block["type"].as_str()? {
        "tool_result" => {
            let whole = &value["tool_use_result"];
            let took = ["durationMs", "totalDurationMs"].iter().find_map(|key| whole[key].as_u64());
            let id = block["tool_use_id"].as_str().unwrap_or_default();
            let text = texts(&block["content"]);
            let is_error = block["is_error"] == true;
            let entry = if is_error {
                TranscriptEntry::failed(id, text)
            } else {
                TranscriptEntry::came(id, text)
            };
            Some(entry.after(took))
        }
        "text" if value["parent_tool_use_id"].is_null() => {
            TranscriptEntry::words(EntryKind::System, block["text"].as_str()?)
        }
        _ => None,
    }
}

fn system(value: &Value) -> Option<TranscriptEntry> {
    let text = |key: &str| value[key].as_str().unwrap_or_default();
    let words = match value["subtype"].as_str()? {
        "init" => {
            let servers = value["mcp_servers"].as_array().into_iter().flatten();
            let failed: Vec<&str> = servers
                .filter(|server| {
                    !matches!(server["status"].as_str(), Some("connected" | "pending"))
                })
                .filter_map(|server| server["name"].as_str())
                .collect();
            let model = value["model"].as_str().unwrap_or("its model");
            match failed[..] {
                [] => format!("begins with {model}"),
                _ => format!("begins with {model}, without the MCP servers {}", failed.join(", ")),
            }
        }
        "api_retry" => retry::words(value),
        "permission_denied" => format!("was refused {}", text("tool_name")),
        "compact_boundary" => "its conversation was shortened".to_owned(),
        "task_notification" => format!("a task of its own is over: {}", text("summary")),
        _ => return None,
    };
    Some(TranscriptEntry::new(EntryKind::System, words))
}

/// The end of a turn. Its words were shown before.
fn result(value: &Value) -> TranscriptEntry {
    if value["is_error"] == true {
        let words = value["result"].as_str().or(value["subtype"].as_str()).unwrap_or("failed");
        return TranscriptEntry::new(EntryKind::Error, words);
    }
    let turns = value["num_turns"].as_u64().unwrap_or_default();
    let cost = value["total_cost_usd"].as_f64();
    let cost = cost.map_or_else(String::new, |cost| format!(", ${cost:.4} so far"));
    let entry = TranscriptEntry::new(EntryKind::System, format!("done after {turns} turns{cost}"));
    entry.after(value["duration_ms"].as_u64())
}

fn asks(value: &Value) -> Option<TranscriptEntry> {
    let request = &value["request"];
    let tool = request["tool_name"].as_str().filter(|_| request["subtype"] == "can_use_tool")?;
    let entry = TranscriptEntry::new(EntryKind::System, format!("asks whether it may use {tool}"));
    Some(TranscriptEntry {
        tool: Some(tool.to_owned()),
        input: Some(request["input"].clone()),
        asked: value["request_id"].as_str().map(str::to_owned),
        ..entry
    })
}

fn limited(info: &Value) -> Option<TranscriptEntry> {
    let is_limited = matches!(info["status"].as_str(), Some("rejected"));
    is_limited.then(|| TranscriptEntry::new(EntryKind::System, "the limit of its model is reached"))
}
