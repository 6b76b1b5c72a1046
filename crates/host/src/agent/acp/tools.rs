//! The tools an agent uses. It tells of one in several pieces, and of its input not always in the
//! first; the piece may even be a question whether it may.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::notes;
use crate::agent::{Event, Step};

/// Kinds that the protocol knows. Their titles are made of what the tool is given, so they do not name
/// it, and must not be believed: a command could be called like one of our tools.
const KINDS: [&str; 8] = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch"];

/// The tools used in answer to a prompt.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Tools(BTreeMap<String, Tool>);

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) input: String,
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// It was announced; more is to come
    #[default]
    Announced,
    Began,
    Ended,
}

impl Tools {
    /// A piece of news on a tool. `servers` are the toolsets that the agent was given.
    pub(super) fn noticed(&mut self, call: &Value, servers: &[String]) -> Vec<Step> {
        let Some(id) = call["toolCallId"].as_str() else { return Vec::new() };
        let announced = call["sessionUpdate"] == "tool_call";
        let tool = self.0.entry(id.to_owned()).or_default();
        tool.learn(call, servers);
        let mut steps = Vec::new();
        let status = call["status"].as_str();
        // An announcement without input is followed by one with it.
        let is_whole =
            !announced || tool.input != "{}" || !matches!(status, None | Some("pending"));
        if tool.state == State::Announced && is_whole {
            tool.state = State::Began;
            let (name, input) = (tool.name.clone(), tool.input.clone());
            steps.push(Step::Saw(Event::ToolBegan { id: id.to_owned(), name, input }));
        }
        if tool.state == State::Began && matches!(status, Some("completed" | "failed")) {
            tool.state = State::Ended;
            let error = (status == Some("failed")).then(|| notes::error(&complaint(call)));
            steps.push(Step::Saw(Event::ToolEnded { id: id.to_owned(), error }));
        }
        steps
    }

    /// News that are too long to be read: what came of it, then.
    pub(super) fn ended_unread(&mut self, head: &str) -> Vec<Step> {
        let id = notes::string_in(head, "toolCallId").unwrap_or_default();
        let Some(tool) = self.0.get_mut(id).filter(|tool| tool.state == State::Began) else {
            return Vec::new();
        };
        tool.state = State::Ended;
        vec![Step::Saw(Event::ToolEnded { id: id.to_owned(), error: None })]
    }

    /// The tool of that call.
    pub(super) fn get(&self, call: &Value) -> Option<&Tool> {
        self.0.get(call["toolCallId"].as_str()?)
    }

    /// The prompt is answered, and whatever was in use is no longer.
    pub(super) fn abandoned(&mut self) -> Vec<Step> {
        let error = || Some("it was broken off".to_owned());
        std::mem::take(&mut self.0)
            .into_iter()
            .filter(|(_, tool)| tool.state == State::Began)
            .map(|(id, _)| Step::Saw(Event::ToolEnded { id, error: error() }))
            .collect()
    }
}

impl Tool {
    fn learn(&mut self, call: &Value, servers: &[String]) {
        let is_mcp = call["_meta"]["is_mcp_tool_call"] == true;
        let raw = &call["rawInput"];
        let given = if is_mcp { &raw["arguments"] } else { raw };
        if !given.is_null() || self.input.is_empty() {
            self.input = notes::input(given);
        }
        if let Some(name) = certain_name(call) {
            self.name = name;
        } else if self.name.is_empty() {
            self.name = likely_name(call, servers);
        }
    }
}

/// The tool's name, where the agent tells it apart from the title.
pub(in crate::agent) fn certain_name(call: &Value) -> Option<String> {
    let raw = &call["rawInput"];
    if call["_meta"]["is_mcp_tool_call"] == true
        && let (Some(server), Some(tool)) = (raw["server"].as_str(), raw["tool"].as_str())
    {
        return Some(format!("mcp__{server}__{tool}"));
    }
    let name = call["_meta"]["claudeCode"]["toolName"].as_str().or_else(|| call["name"].as_str());
    name.filter(|name| !name.is_empty()).map(|name| notes::clip(name, 100))
}

/// Best guess at a tool's name from a title or a kind.
pub(in crate::agent) fn likely_name(call: &Value, servers: &[String]) -> String {
    let title = call["title"].as_str().unwrap_or_default();
    match call["kind"].as_str() {
        Some(kind) if KINDS.contains(&kind) => return kind.to_owned(),
        _ => {}
    }
    let of_server = servers.iter().find_map(|server| {
        // opencode and gemini write them so.
        let tool = title.strip_prefix(server.as_str()).and_then(|rest| rest.strip_prefix('_'));
        let tool = tool.or_else(|| title.strip_suffix(&format!(" ({server} MCP Server)")))?;
        is_word(tool).then(|| format!("mcp__{server}__{tool}"))
    });
    match of_server {
        Some(name) => name,
        None if title.is_empty() => "tool".to_owned(),
        None => notes::clip(title, 100),
    }
}

fn is_word(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !text.is_empty() && text.chars().all(fits)
}

/// Why a tool failed, in whatever place the agent says it.
fn complaint(call: &Value) -> String {
    let output = &call["rawOutput"];
    let told = output.as_str().or_else(|| output["error"]["message"].as_str());
    if let Some(told) = told {
        return told.to_owned();
    }
    let content = call["content"].as_array().map_or(&[][..], Vec::as_slice);
    content.iter().filter_map(|part| part["content"]["text"].as_str()).collect::<Vec<_>>().join(" ")
}
