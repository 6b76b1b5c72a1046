//! Codex's items: what it says and does. `exec` and the app server write them differently, in
//! `snake_case` and in `camelCase`, and mean the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::notes::{self, Tokens};
use crate::agent::{Event, Step};

/// The tools in use.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Tools(BTreeMap<String, Tool>);

/// A tool in use.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) input: String,
}

impl Tools {
    /// An item began.
    pub(super) fn began(&mut self, item: &Value) -> Vec<Step> {
        let (Some(id), Some(tool)) = (item["id"].as_str(), tool(item)) else { return Vec::new() };
        if self.0.contains_key(id) {
            return Vec::new();
        }
        let Tool { name, input } = &tool;
        let (name, input) = (name.clone(), input.clone());
        self.0.insert(id.to_owned(), tool);
        vec![Step::Saw(Event::ToolBegan { id: id.to_owned(), name, input })]
    }

    /// An item is over. Some are told of only then.
    pub(super) fn ended(&mut self, item: &Value) -> Vec<Step> {
        let mut steps = self.began(item);
        let id = item["id"].as_str().unwrap_or_default();
        if self.0.remove(id).is_some() {
            let error = failure(item).map(|text| notes::error(&text));
            steps.push(Step::Saw(Event::ToolEnded { id: id.to_owned(), error }));
        }
        steps
    }

    /// An item is over, but what came of it is too long to be read.
    pub(super) fn ended_unread(&mut self, head: &str) -> Vec<Step> {
        let id = notes::string_in(head, "id").unwrap_or_default();
        let ended = |_| Step::Saw(Event::ToolEnded { id: id.to_owned(), error: None });
        self.0.remove(id).map(ended).into_iter().collect()
    }

    /// The turn is over, and with it whatever was in use.
    pub(super) fn abandoned(&mut self) -> Vec<Step> {
        let error = || Some("it was broken off".to_owned());
        std::mem::take(&mut self.0)
            .into_keys()
            .map(|id| Step::Saw(Event::ToolEnded { id, error: error() }))
            .collect()
    }

    /// The tool of that item.
    pub(super) fn get(&self, id: &str) -> Option<&Tool> {
        self.0.get(id)
    }

    /// A tool of that MCP server, which is given that.
    pub(super) fn of_server(&self, server: &str, given: &Value) -> Option<&Tool> {
        let prefix = format!("mcp__{server}__");
        let given = notes::input(given);
        let all = || self.0.values().filter(|tool| tool.name.starts_with(&prefix));
        all().find(|tool| tool.input == given).or_else(|| all().next())
    }
}

/// What an error of a turn says, with the reason for which it is tried again.
pub(super) fn error_words(error: &Value) -> String {
    let text = |key: &str| error[key].as_str().unwrap_or_default();
    match (text("message"), text("additionalDetails")) {
        (message, "") => message.to_owned(),
        (message, details) => format!("{message}: {details}"),
    }
}

/// Text of an item that is a message.
pub(super) fn message(item: &Value) -> Option<&str> {
    let is_message = matches!(item["type"].as_str()?, "agent_message" | "agentMessage");
    item["text"].as_str().filter(|text| is_message && !text.trim().is_empty())
}

fn tool(item: &Value) -> Option<Tool> {
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    let named = |name: &str, input: &Value| {
        Some(Tool { name: name.to_owned(), input: notes::input(input) })
    };
    match text("type") {
        "command_execution" | "commandExecution" => {
            named("shell", &serde_json::json!({ "command": item["command"] }))
        }
        "file_change" | "fileChange" => named("apply_patch", &item["changes"]),
        "mcp_tool_call" | "mcpToolCall" => {
            named(&format!("mcp__{}__{}", text("server"), text("tool")), &item["arguments"])
        }
        "dynamicToolCall" => named(text("tool"), &item["arguments"]),
        "collab_tool_call" | "collabAgentToolCall" => named("collab", &item["prompt"]),
        "web_search" | "webSearch" => {
            named("web_search", &serde_json::json!({ "query": item["query"] }))
        }
        _ => None,
    }
}

fn failure(item: &Value) -> Option<String> {
    let output = || item.get("aggregated_output").or_else(|| item.get("aggregatedOutput"));
    let exit = item.get("exit_code").or_else(|| item.get("exitCode")).and_then(Value::as_i64);
    match (item["status"].as_str(), exit) {
        (Some("declined"), _) => Some("it was not allowed".to_owned()),
        (Some("failed"), Some(code)) => {
            let output = output().and_then(Value::as_str).unwrap_or_default();
            Some(format!("exit code {code}: {output}"))
        }
        (Some("failed"), None) => Some(complaint(item)),
        _ => None,
    }
}

/// Why a call of an MCP tool failed: the protocol's error, or what the tool itself answered.
fn complaint(item: &Value) -> String {
    if let Some(message) = item["error"]["message"].as_str() {
        return message.to_owned();
    }
    let content = item["result"]["content"].as_array().map_or(&[][..], Vec::as_slice);
    content.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join(" ")
}

/// A count of tokens. Those that were read from a cache or written to one are part of the input.
pub(super) fn tokens(count: &Value) -> Tokens {
    let number = |snake: &str, camel: &str| {
        count.get(snake).or_else(|| count.get(camel)).map(notes::count).unwrap_or_default()
    };
    let cache_read = number("cached_input_tokens", "cachedInputTokens");
    let cache_write = number("cache_write_input_tokens", "cacheWriteInputTokens");
    let input = number("input_tokens", "inputTokens");
    Tokens {
        input: input.saturating_sub(cache_read).saturating_sub(cache_write),
        output: number("output_tokens", "outputTokens"),
        cache_read,
        cache_write,
    }
}
