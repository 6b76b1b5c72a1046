//! Claude Code's stream of JSON.

use serde_json::Value;

use super::{Said, texts};

/// Renders a line of Claude Code.
pub(super) fn said(kind: &str, value: &Value) -> Option<Vec<Said>> {
    Some(match kind {
        "assistant" => blocks(value).iter().filter_map(block).collect(),
        "user" => blocks(value).iter().filter_map(answer).collect(),
        "system" => system(value).into_iter().collect(),
        "result" => vec![result(value)],
        "control_request" => asks(&value["request"]).into_iter().collect(),
        "control_response"
        | "control_cancel_request"
        | "keep_alive"
        | "rate_limit_event"
        | "stream_event" => Vec::new(),
        _ => return None,
    })
}

/// Text of a prompt sent to the agent.
pub(super) fn told(value: &Value) -> Option<String> {
    (value["type"] == "user").then(|| texts(&value["message"]["content"]))
}

fn blocks(value: &Value) -> &[Value] {
    value["message"]["content"].as_array().map_or(&[], Vec::as_slice)
}

fn block(block: &Value) -> Option<Said> {
    let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
    Some(match block["type"].as_str()? {
        "text" => Said::Text(text("text")),
        "thinking" => Said::Thought(text("thinking")),
        "tool_use" => Said::Call { tool: text("name"), input: block["input"].clone() },
        _ => return None,
    })
}

fn answer(block: &Value) -> Option<Said> {
    if block["type"] != "tool_result" {
        return None;
    }
    let text = texts(&block["content"]);
    Some(if block["is_error"] == true { Said::Failed(text) } else { Said::Answer(text) })
}

fn system(value: &Value) -> Option<Said> {
    match value["subtype"].as_str()? {
        "init" => {
            let failed: Vec<&str> = value["mcp_servers"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|server| {
                    !matches!(server["status"].as_str(), Some("connected" | "pending"))
                })
                .filter_map(|server| server["name"].as_str())
                .collect();
            let model = value["model"].as_str().unwrap_or("a model");
            let mut note = format!("begins with {model}");
            if !failed.is_empty() {
                note = format!("{note}, without the MCP servers {}", failed.join(", "));
            }
            Some(Said::Note(note))
        }
        "api_retry" => {
            let why = value["error"].as_str().or(value["error_status"].as_str());
            let why = why.map_or_else(String::new, |why| format!(" ({why})"));
            Some(Said::Note(format!("its model does not answer{why}; it tries again")))
        }
        _ => None,
    }
}

/// The end of a turn. Its words were said before.
fn result(value: &Value) -> Said {
    let turns = value["num_turns"].as_u64().unwrap_or_default();
    let cost = value["total_cost_usd"].as_f64();
    let cost = cost.map_or_else(String::new, |cost| format!(", ${cost:.4} so far"));
    if value["is_error"] == true {
        let words = value["result"].as_str().or(value["subtype"].as_str()).unwrap_or("failed");
        return Said::Failed(words.to_owned());
    }
    Said::Note(format!("done after {turns} turns{cost}"))
}

fn asks(request: &Value) -> Option<Said> {
    let tool = request["tool_name"].as_str().filter(|_| request["subtype"] == "can_use_tool")?;
    Some(Said::Note(format!("asks whether it may use {tool} {}", request["input"])))
}
