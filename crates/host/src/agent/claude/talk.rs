//! The talk with one Claude Code: what its lines mean, and when it has nothing more to do.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::credentials::Refusals;
use super::super::outcome::Outcome;
use super::super::{Brief, Conversation, Event, PermissionVerdict, Step, notes};
use super::ending;
use super::ledger::{ConversationStart, Ledger};
use super::limits::{self, Limit};
use super::lines::{self, Lines};
use super::permission::{Permission, Ruling};
use super::retry;
use crate::run::{OutputLine, Stream};

/// Everything that is remembered of a talk.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Talk {
    /// The prompt, until it is sent
    prompt: Option<String>,
    lines: Lines,
    phase: Phase,
    /// Number of background tasks
    background: usize,
    permission: Permission,
    /// Open permission requests, by request id
    asked: BTreeMap<String, Request>,
    ledger: Ledger,
    /// Facts already reported at the start of a turn
    told: ReportedFacts,
    #[serde(default)]
    refusals: Refusals,
    outcome: Outcome,
}

/// Where the talk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    /// No turn is under way
    Idle,
    /// A turn is under way
    Turn,
    /// It was asked to stop its turn
    Stopping,
    /// Its input is closed
    Closed,
}

/// A tool that it wants to use.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    tool: String,
    input: Value,
}

/// Facts that would otherwise be reported with each turn.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ReportedFacts {
    conversation: Option<String>,
    model: Option<String>,
    /// MCP servers that are not connected, and how they are
    servers: BTreeMap<String, String>,
    /// True if this turn hit a rate limit
    limited: bool,
}

impl Talk {
    pub(super) fn new(brief: &Brief) -> Self {
        let beginning = if brief.resume.is_some() {
            ConversationStart::Resumed
        } else {
            ConversationStart::New
        };
        Self {
            prompt: Some(brief.prompt.clone()),
            lines: Lines::new(brief),
            phase: Phase::Idle,
            background: 0,
            permission: Permission::new(brief),
            asked: BTreeMap::new(),
            ledger: Ledger::new(beginning),
            told: ReportedFacts::default(),
            refusals: Refusals::default(),
            outcome: Outcome::of(brief),
        }
    }

    fn message(&mut self, message: &Value) -> Vec<Step> {
        match message["type"].as_str().unwrap_or_default() {
            "system" => saw(self.system(message)),
            "stream_event" => saw(self.piece(&message["event"], &message["api_message_id"])),
            "assistant" => saw(self.assistant(message)),
            "user" => saw(tool_results(&message["message"]["content"])),
            "rate_limit_event" => {
                saw(limits::in_info(&message["rate_limit_info"])
                    .and_then(|limit| self.limited(&limit)))
            }
            "control_request" => self.request(message),
            "control_cancel_request" => {
                let request = message["request_id"].as_str().unwrap_or_default();
                self.asked.remove(request);
                Vec::new()
            }
            "command_lifecycle" => self.lifecycle(message),
            "result" => self.result(message),
            _ => Vec::new(),
        }
    }

    fn system(&mut self, message: &Value) -> Vec<Event> {
        match message["subtype"].as_str().unwrap_or_default() {
            "init" => self.init(message),
            "api_retry" => vec![retry::event(message, &mut self.refusals)],
            "permission_denied" => refused(message["tool_name"].as_str().unwrap_or_default()),
            "background_tasks_changed" => {
                self.background = message["tasks"].as_array().map_or(0, Vec::len);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Each turn begins so.
    fn init(&mut self, message: &Value) -> Vec<Event> {
        if self.phase == Phase::Idle {
            self.phase = Phase::Turn;
        }
        let mut events = Vec::new();
        if let Some(id) = changed(&mut self.told.conversation, &message["session_id"]) {
            events.push(Event::Conversation(id));
        }
        if let Some(model) = changed(&mut self.told.model, &message["model"]) {
            events.push(Event::Model(model));
        }
        for server in message["mcp_servers"].as_array().into_iter().flatten() {
            let name = server["name"].as_str().unwrap_or_default().to_owned();
            let status = server["status"].as_str().unwrap_or_default().to_owned();
            if status == "connected" {
                self.told.servers.remove(&name);
            } else if self.told.servers.get(&name) != Some(&status) {
                events.push(Event::Warning(format!(
                    "its MCP server `{name}` is not connected: {status}"
                )));
                self.told.servers.insert(name, status);
            }
        }
        events
    }

    /// A piece of a message of the model; what counts is what it used.
    fn piece(&mut self, event: &Value, id: &Value) -> Option<Event> {
        let message = &event["message"];
        match event["type"].as_str()? {
            "message_start" => self.ledger.message(message["id"].as_str()?, &message["usage"]),
            "message_delta" => self.ledger.message(id.as_str()?, &event["usage"]),
            _ => None,
        }
    }

    fn assistant(&mut self, message: &Value) -> Vec<Event> {
        let output = &message["message"];
        let mut events = Vec::new();
        if let Some(id) = output["id"].as_str() {
            events.extend(self.ledger.message(id, &output["usage"]));
        }
        let info = &message["api_error_params"]["rate_limit_info"];
        events.extend(limits::in_info(info).and_then(|limit| self.limited(&limit)));
        // Not its own words, and repeated by the result.
        if message["is_api_error_message"] == true {
            if message["error"] == "authentication_failed" {
                events.push(Event::Unauthorized(text(&output["content"])));
            }
            return events;
        }
        self.refusals.accepted();
        let is_subagent = message["parent_tool_use_id"].is_string();
        for block in output["content"].as_array().into_iter().flatten() {
            match block["type"].as_str().unwrap_or_default() {
                "text" if !is_subagent => {
                    let text = block["text"].as_str().unwrap_or_default();
                    if !text.trim().is_empty() {
                        events.push(Event::Text(text.to_owned()));
                    }
                }
                "tool_use" => {
                    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                    let (id, name) = (text(&block["id"]), text(&block["name"]));
                    // The tool through which it answers by a schema.
                    if name == "StructuredOutput" && !is_subagent {
                        self.outcome.turn(&block["input"].to_string());
                    }
                    let input = notes::input(&block["input"]);
                    events.push(Event::ToolBegan { id, name, input });
                }
                _ => {}
            }
        }
        events
    }

    fn request(&mut self, message: &Value) -> Vec<Step> {
        let (Some(id), request) = (message["request_id"].as_str(), &message["request"]) else {
            return Vec::new();
        };
        let subtype = request["subtype"].as_str().unwrap_or_default();
        if subtype != "can_use_tool" {
            return vec![lines::refuse(id, &format!("`{subtype}` is not known here"))];
        }
        let tool = request["tool_name"].as_str().unwrap_or_default();
        let input = &request["input"];
        match self.permission.rule(tool) {
            Ruling::Allow => vec![lines::allow(id, input)],
            Ruling::Deny(message) => {
                let mut steps = vec![lines::deny(id, &message)];
                steps.extend(saw(refused(tool)));
                steps
            }
            Ruling::Ask => {
                let request = Request { tool: tool.to_owned(), input: input.clone() };
                self.asked.insert(id.to_owned(), request);
                vec![Step::Saw(Event::Asked {
                    request: id.to_owned(),
                    tool: tool.to_owned(),
                    input: notes::input(input),
                })]
            }
        }
    }

    /// A line said is queued, taken or dealt with. One that is said a second time is dealt with at
    /// once.
    fn lifecycle(&mut self, message: &Value) -> Vec<Step> {
        if !matches!(message["state"].as_str(), None | Some("queued" | "started")) {
            self.lines.settle(message["command_uuid"].as_str().unwrap_or_default());
        }
        self.close_if_done()
    }

    /// The end of a turn.
    fn result(&mut self, result: &Value) -> Vec<Step> {
        self.lines.settle_turn(result);
        let mut events = self.ledger.result(result);
        events.extend(limits::in_result(result).and_then(|limit| self.limited(&limit)));
        self.told.limited = false;
        let mut steps = saw(events);
        steps.push(ending::tell(result, &mut self.outcome));
        steps.extend(self.turn_ended());
        steps
    }

    fn turn_ended(&mut self) -> Vec<Step> {
        match self.phase {
            Phase::Stopping => self.close(),
            Phase::Idle | Phase::Turn => {
                self.phase = Phase::Idle;
                self.close_if_done()
            }
            Phase::Closed => Vec::new(),
        }
    }

    /// Closes its input when there is nothing more to come. A task in the background starts another
    /// turn when it ends, and in it tools are asked for, which could not be answered any more.
    fn close_if_done(&mut self) -> Vec<Step> {
        let is_done =
            self.phase == Phase::Idle && self.prompt.is_none() && self.lines.all_answered();
        if is_done && self.background == 0 { self.close() } else { Vec::new() }
    }

    fn close(&mut self) -> Vec<Step> {
        self.phase = Phase::Closed;
        vec![Step::Close]
    }

    /// A limit is told once a turn, however often it comes up.
    fn limited(&mut self, limit: &Limit) -> Option<Event> {
        let is_new = !std::mem::replace(&mut self.told.limited, true);
        is_new.then_some(Event::Limited { until: limit.until })
    }

    /// Salvages a line that was truncated.
    fn broken(&mut self, text: &str) -> Vec<Step> {
        if text.starts_with(r#"{"type":"user""#) {
            let ids =
                text.split(r#""tool_use_id":""#).skip(1).filter_map(|rest| rest.split('"').next());
            return saw(ids.map(|id| Event::ToolEnded { id: id.to_owned(), error: None }));
        }
        let head = notes::clip(text, 500);
        if head.contains(r#""type":"result""#) || head.contains(r#""total_cost_usd":"#) {
            let warning = Event::Warning("its result is too long to be read whole".to_owned());
            let mut steps = vec![Step::Saw(warning), self.outcome.well("")];
            self.lines.settle_turn(&Value::Null);
            steps.extend(self.turn_ended());
            return steps;
        }
        Vec::new()
    }
}

impl Conversation for Talk {
    fn begin(&mut self) -> Vec<Step> {
        self.prompt.take().map(|prompt| self.lines.say(&prompt)).into_iter().collect()
    }

    fn line(&mut self, line: &OutputLine) -> Vec<Step> {
        if line.cut > 0 && line.stream == Stream::Out {
            return self.broken(&line.text);
        }
        if line.stream == Stream::Err {
            self.outcome.heard(line);
        }
        // What is no JSON is for people.
        let Ok(message) = serde_json::from_str::<Value>(&line.text) else { return Vec::new() };
        match line.stream {
            Stream::Out => return self.message(&message),
            Stream::In => {
                if self.lines.heard(message["uuid"].as_str().unwrap_or_default()) {
                    self.prompt = None;
                }
                let answered = message["response"]["request_id"].as_str().unwrap_or_default();
                self.asked.remove(answered);
            }
            Stream::Err => {}
        }
        Vec::new()
    }

    fn tell(&mut self, text: &str) -> Vec<Step> {
        match self.phase {
            Phase::Idle | Phase::Turn => vec![self.lines.say(text)],
            Phase::Stopping | Phase::Closed => Vec::new(),
        }
    }

    fn answer(&mut self, request: &str, verdict: PermissionVerdict) -> Vec<Step> {
        let Some(Request { tool, input }) = self.asked.remove(request) else { return Vec::new() };
        match verdict {
            PermissionVerdict::Allow => vec![lines::allow(request, &input)],
            PermissionVerdict::Deny(reason) => {
                let mut steps = vec![lines::deny(request, &reason)];
                steps.extend(saw(refused(&tool)));
                steps
            }
        }
    }

    fn interrupt(&mut self) -> Vec<Step> {
        match self.phase {
            Phase::Idle if self.lines.all_answered() => self.close(),
            Phase::Idle | Phase::Turn => {
                self.phase = Phase::Stopping;
                vec![lines::interrupt()]
            }
            Phase::Stopping | Phase::Closed => Vec::new(),
        }
    }

    fn end(&mut self) -> Vec<Step> {
        self.outcome.gone("")
    }

    fn snapshot(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn saw(events: impl IntoIterator<Item = Event>) -> Vec<Step> {
    events.into_iter().map(Step::Saw).collect()
}

fn refused(tool: &str) -> Vec<Event> {
    vec![Event::Refused { tool: tool.to_owned() }]
}

/// The new value, where it is another than the one that was told.
fn changed(told: &mut Option<String>, value: &Value) -> Option<String> {
    let value = value.as_str().filter(|value| told.as_deref() != Some(value))?;
    told.replace(value.to_owned());
    told.clone()
}

fn tool_results(content: &Value) -> Vec<Event> {
    let results = content.as_array().into_iter().flatten();
    let results = results.filter(|block| block["type"] == "tool_result");
    let ended = |block: &Value| {
        let id = block["tool_use_id"].as_str()?.to_owned();
        let error = (block["is_error"] == true).then(|| notes::error(&text(&block["content"])));
        Some(Event::ToolEnded { id, error })
    };
    results.filter_map(ended).collect()
}

/// The text of a tool's result, without the marks around an error.
fn text(content: &Value) -> String {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    };
    text.replace("<tool_use_error>", "").replace("</tool_use_error>", "")
}
