//! JSON-RPC: the Agent Client Protocol, and Codex's app server.

use serde_json::Value;

use super::codex::{self, When};
use super::{Said, texts};

/// Renders a message.
pub(super) fn said(value: &Value) -> Option<Vec<Said>> {
    let params = &value["params"];
    let said = match value["method"].as_str() {
        Some("session/update") => update(&params["update"]),
        Some("session/request_permission") => {
            let what = params["toolCall"]["title"].as_str().unwrap_or("a tool");
            Some(Said::Note(format!("asks whether it may use {what}")))
        }
        Some("item/started") => codex::item(&params["item"], When::Began),
        Some("item/completed") => codex::item(&params["item"], When::Over),
        Some("error") => {
            let words = params["error"]["message"].as_str().or(params["message"].as_str());
            Some(Said::Failed(words.unwrap_or("failed").to_owned()))
        }
        // Whatever else is told of sessions, turns and accounts is for programs.
        Some(_) => None,
        None => match value["error"]["message"].as_str() {
            Some(error) => Some(Said::Failed(error.to_owned())),
            None if value.get("result").is_some() && value.get("id").is_some() => None,
            None => return None,
        },
    };
    Some(said.into_iter().collect())
}

/// Text of a prompt sent to the agent.
pub(super) fn told(value: &Value) -> Option<String> {
    match value["method"].as_str()? {
        "session/prompt" => Some(texts(&value["params"]["prompt"])),
        "turn/start" | "turn/steer" => Some(texts(&value["params"]["input"])),
        _ => None,
    }
}

fn update(update: &Value) -> Option<Said> {
    match update["sessionUpdate"].as_str()? {
        "agent_message_chunk" => Some(Said::Piece(texts(&update["content"]))),
        "tool_call" => {
            let named = update["title"].as_str().or(update["kind"].as_str()).unwrap_or("a tool");
            Some(Said::Call { tool: named.to_owned(), input: update["rawInput"].clone() })
        }
        "tool_call_update" => match update["status"].as_str()? {
            "completed" => Some(Said::Answer(texts(&update["content"]))),
            "failed" => Some(Said::Failed(texts(&update["content"]))),
            _ => None,
        },
        _ => None,
    }
}
