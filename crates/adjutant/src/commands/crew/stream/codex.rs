//! Codex's events and items. `exec` writes `snake_case` and the app server `camelCase`.

use serde_json::Value;

use super::{Said, texts};

/// Phase of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// It begins
    Began,
    /// It is over
    Over,
}

/// Renders a line of `codex exec`.
pub(super) fn said(kind: &str, value: &Value) -> Option<Vec<Said>> {
    let text = |value: &Value| value.as_str().unwrap_or("failed").to_owned();
    Some(match kind {
        "thread.started" | "turn.started" | "item.updated" => Vec::new(),
        "item.started" => item(&value["item"], When::Began).into_iter().collect(),
        "item.completed" => item(&value["item"], When::Over).into_iter().collect(),
        "turn.completed" => {
            let count = |key: &str| value["usage"][key].as_u64().unwrap_or_default();
            let (read, written) = (count("input_tokens"), count("output_tokens"));
            vec![Said::Note(format!("turn over; {read} tokens read, {written} written"))]
        }
        "turn.failed" => vec![Said::Failed(text(&value["error"]["message"]))],
        "error" => vec![Said::Failed(text(&value["message"]))],
        _ => return None,
    })
}

/// Renders an item at its start or end.
pub(super) fn item(item: &Value, when: When) -> Option<Said> {
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    match (text("type"), when) {
        ("agent_message" | "agentMessage", When::Over) => Some(Said::Text(text("text").to_owned())),
        ("reasoning", When::Over) => {
            let words = texts(&item["summary"]);
            let words = if words.is_empty() { text("text").to_owned() } else { words };
            Some(Said::Thought(words))
        }
        ("error", When::Over) => Some(Said::Note(text("message").to_owned())),
        // Of these one event is enough, and some versions send only the last.
        ("file_change" | "fileChange" | "web_search" | "webSearch", when) => {
            tool(item).filter(|_| when == When::Over)
        }
        (_, When::Began) => tool(item),
        (_, When::Over) => tool(item).is_some().then(|| outcome(item)),
    }
}

/// The tool that an item uses.
fn tool(item: &Value) -> Option<Said> {
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    let (tool, input) = match text("type") {
        "command_execution" | "commandExecution" => ("shell".to_owned(), item["command"].clone()),
        "file_change" | "fileChange" => ("apply_patch".to_owned(), paths(&item["changes"])),
        "mcp_tool_call" | "mcpToolCall" => {
            (format!("mcp__{}__{}", text("server"), text("tool")), item["arguments"].clone())
        }
        "dynamicToolCall" => (text("tool").to_owned(), item["arguments"].clone()),
        "web_search" | "webSearch" => ("web_search".to_owned(), item["query"].clone()),
        _ => return None,
    };
    Some(Said::Call { tool, input })
}

fn paths(changes: &Value) -> Value {
    let paths: Vec<&str> = changes
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|change| change["path"].as_str())
        .collect();
    paths.join(", ").into()
}

fn outcome(item: &Value) -> Said {
    let field = |snake: &str, camel: &str| item.get(snake).or_else(|| item.get(camel)).cloned();
    let output = field("aggregated_output", "aggregatedOutput").unwrap_or_default();
    let output = match output.as_str() {
        Some(output) => output.to_owned(),
        None => texts(&item["result"]["content"]),
    };
    let code = field("exit_code", "exitCode").and_then(|code| code.as_i64());
    let refused = matches!(item["status"].as_str(), Some("failed" | "declined"));
    match (code.filter(|code| *code != 0), item["error"]["message"].as_str()) {
        (Some(code), _) => Said::Failed(format!("exit code {code}: {output}")),
        (None, Some(error)) => Said::Failed(error.to_owned()),
        (None, None) if refused => Said::Failed(output),
        (None, None) => Said::Answer(output),
    }
}
