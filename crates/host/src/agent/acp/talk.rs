//! The talk with an agent: hello, a session, a prompt, and what it says meanwhile.

use std::collections::BTreeSet;

use model::Timestamp;
use model::money::Usd;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::claude_code;
use super::permission::Permissions;
use super::saying::MessageInProgress;
use super::settings::{self, Setting, SettingState};
use super::tools::Tools;
use super::usage;
use super::user_servers;
use crate::agent::credentials::Refusals;
use crate::agent::notes::{self, Tokens};
use crate::agent::rpc::{self, Fault, Message, OpenRequests};
use crate::agent::settling::{AfterTurn, INTERRUPTED_REASON, SentMessages, Settling, TurnEnd};
use crate::agent::{Brief, Conversation, Event, McpServer, PermissionVerdict, Step, TOKEN};
use crate::run::{OutputLine, Stream};

/// Code of a request that needs a login first.
const AUTH_REQUIRED: i64 = -32000;
/// The version of the protocol.
const PROTOCOL_VERSION: u64 = 1;

/// State of a conversation.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Talk {
    /// Opening parameters, until the session is open
    opening: Option<Opening>,
    asked: OpenRequests<RequestPurpose>,
    session: Option<String>,
    /// Settings to apply before the first prompt
    settings: Vec<Setting>,
    phase: Phase,
    /// It can be told something in the middle of a turn
    steerable: bool,
    #[serde(flatten)]
    settling: Settling,
    /// The toolsets it was given
    servers: Vec<String>,
    /// The project's and the user's servers that it was given
    #[serde(default)]
    users: Vec<String>,
    tools: Tools,
    permissions: Permissions,
    saying: MessageInProgress,
    model: Option<String>,
    /// Tokens reported by chunks of this prompt's messages
    spent: Tokens,
    #[serde(default)]
    refusals: Refusals,
}

#[derive(Debug, Serialize, Deserialize)]
struct Opening {
    directory: String,
    servers: Vec<(String, String)>,
    /// The project's and the user's servers, as the request has them
    #[serde(default)]
    users: Vec<Value>,
    resume: Option<String>,
    model: Option<String>,
    mode: String,
    prompt: String,
}

/// Why we asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RequestPurpose {
    Hello,
    Open,
    Set(Setting),
    Prompt,
    /// With what it is told
    Steer(String),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    /// There is no session yet; what comes is the past of one that is loaded
    Opening,
    /// The session is there, but not as it should be
    Setting,
    /// It works on a prompt
    Working,
    /// It is done, but something it was told may not have reached it
    Settling(TurnEnd),
    /// Nothing more is sent
    Over,
}

impl Talk {
    pub(super) fn new(brief: &Brief) -> Self {
        let server = |server: &McpServer| (server.name.clone(), server.url.clone());
        let mode = brief.own_sandbox.as_deref().unwrap_or("workspace-write");
        Self {
            opening: Some(Opening {
                directory: brief.directory.to_string_lossy().into_owned(),
                servers: brief.servers.iter().map(server).collect(),
                users: user_servers::given(brief).servers,
                resume: brief.resume.clone(),
                model: brief.model.clone(),
                mode: mode.to_owned(),
                prompt: brief.prompt.clone(),
            }),
            asked: OpenRequests::new(),
            session: None,
            settings: Vec::new(),
            phase: Phase::Opening,
            steerable: false,
            // It is not held to a schema, but may give a result in its own words.
            settling: Settling::default(),
            servers: brief.servers.iter().map(|server| server.name.clone()).collect(),
            users: brief.user_servers.iter().map(|server| server.name.clone()).collect(),
            tools: Tools::default(),
            permissions: Permissions::new(brief),
            saying: MessageInProgress::default(),
            model: None,
            spent: Tokens::default(),
            refusals: Refusals::default(),
        }
    }

    fn answered(&mut self, why: RequestPurpose, result: Result<Value, Fault>) -> Vec<Step> {
        match (why, result) {
            (RequestPurpose::Hello, Ok(result)) => self.open(&result),
            (RequestPurpose::Open, Ok(result)) => self.opened(&result),
            (RequestPurpose::Hello | RequestPurpose::Open, Err(fault)) => {
                let refused = refusal(&fault).into_iter();
                refused.chain(self.over(&TurnEnd::Badly(fault.text()))).collect()
            }
            (RequestPurpose::Set(setting), result) => {
                let step = match result {
                    Ok(_) => self.has_model(setting.model.as_deref()),
                    Err(fault) => {
                        let Setting { method, value, .. } = setting;
                        let text = format!("{method} to `{value}` failed: {}", fault.text());
                        Some(Step::Saw(Event::Warning(text)))
                    }
                };
                step.into_iter().chain(self.set_up()).collect()
            }
            (RequestPurpose::Prompt, result) => self.prompted(result),
            (RequestPurpose::Steer(_), Ok(result)) if result["outcome"] == "injected" => {
                self.settle()
            }
            // There was no turn to be told of it any more.
            (RequestPurpose::Steer(text), _) => {
                self.settling.queue(text);
                self.settle()
            }
        }
    }

    fn open(&mut self, hello: &Value) -> Vec<Step> {
        if hello["protocolVersion"] != PROTOCOL_VERSION {
            let version = &hello["protocolVersion"];
            let why =
                format!("it speaks version {version} of the protocol, and not {PROTOCOL_VERSION}");
            return self.over(&TurnEnd::Badly(why));
        }
        self.steerable = hello["_meta"]["steering"]["supported"] == true;
        let Some(opening) = &self.opening else { return Vec::new() };
        let can = &hello["agentCapabilities"];
        let mut steps = Vec::new();
        let takes_http = can["mcpCapabilities"]["http"] == true;
        if !takes_http && !opening.servers.is_empty() {
            let text = "the agent takes no MCP servers over HTTP, so it has no toolsets";
            steps.push(Step::Saw(Event::Warning(text.to_owned())));
        }
        let servers = opening.servers.iter().filter(|_| takes_http).map(|(name, url)| {
            let authorization = format!("Bearer {TOKEN}");
            let headers = json!([{ "name": "Authorization", "value": authorization }]);
            json!({ "type": "http", "name": name, "url": url, "headers": headers })
        });
        let users = opening.users.iter().filter(|server| match server["type"].as_str() {
            Some(kind) => can["mcpCapabilities"][kind] == true,
            // Every agent can start a program.
            None => true,
        });
        let servers = servers.chain(users.cloned()).collect::<Vec<_>>();
        let mut params = json!({ "cwd": opening.directory, "mcpServers": servers });
        claude_code::add_options(&mut params, hello);
        let method = match &opening.resume {
            Some(_) if can["loadSession"] != true => {
                steps.extend(
                    self.over(&TurnEnd::Badly("it cannot take up a conversation".to_owned())),
                );
                return steps;
            }
            Some(session) => {
                params["sessionId"] = json!(session);
                "session/load"
            }
            None => "session/new",
        };
        steps.push(Step::Whisper(self.asked.ask(RequestPurpose::Open, method, params)));
        steps
    }

    fn opened(&mut self, result: &Value) -> Vec<Step> {
        let Some(opening) = &self.opening else { return Vec::new() };
        let session = result["sessionId"].as_str().or(opening.resume.as_deref());
        let Some(session) = session.map(str::to_owned) else {
            return self.over(&TurnEnd::Badly("it did not say which session it opened".to_owned()));
        };
        let mut steps = vec![Step::Saw(Event::Conversation(session.clone()))];
        let mode = settings::mode(result, &session, &opening.mode);
        let model = opening.model.as_ref().map(|model| settings::model(result, &session, model));
        if let (Some(SettingState::Unknown), Some(wanted)) = (&model, &opening.model) {
            let text = format!("the agent does not offer the model `{wanted}`");
            steps.push(Step::Saw(Event::Warning(text)));
        }
        for setting_change in [Some(mode), model].into_iter().flatten() {
            if let SettingState::Possible(setting) = setting_change {
                self.settings.push(setting);
            }
        }
        steps.extend(self.has_model(settings::current_model(result)));
        self.session = Some(session);
        self.phase = Phase::Setting;
        steps.extend(self.set_up());
        steps
    }

    /// Makes the next setting, or gives it the prompt.
    fn set_up(&mut self) -> Vec<Step> {
        if !matches!(self.phase, Phase::Setting) {
            return Vec::new();
        }
        if self.settling.is_stopping() {
            return self.over(&TurnEnd::Badly(INTERRUPTED_REASON.to_owned()));
        }
        if !self.settings.is_empty() {
            let setting = self.settings.remove(0);
            let (method, params) = (setting.method.clone(), setting.params.clone());
            return vec![Step::Say(self.asked.ask(RequestPurpose::Set(setting), &method, params))];
        }
        match self.opening.take() {
            Some(opening) => vec![self.prompt(&opening.prompt)],
            None => Vec::new(),
        }
    }

    fn prompt(&mut self, text: &str) -> Step {
        self.phase = Phase::Working;
        self.spent = Tokens::default();
        let params = json!({ "sessionId": self.session, "prompt": words(text) });
        Step::Say(self.asked.ask(RequestPurpose::Prompt, "session/prompt", params))
    }

    fn updated(&mut self, params: &Value) -> Vec<Step> {
        let session = params["sessionId"].as_str();
        if matches!(self.phase, Phase::Opening) || session != self.session.as_deref() {
            return Vec::new();
        }
        let update = &params["update"];
        let meta = &update["_meta"];
        let limit = &meta["_claude/rateLimit"];
        if limit["status"] == "rejected" {
            let seconds = limit["resetsAt"].as_i64();
            let at = |seconds: i64| Timestamp::from_millis(seconds.saturating_mul(1_000));
            self.settling.limited_until(seconds.map(at));
        }
        let mut steps = Vec::new();
        match update["sessionUpdate"].as_str().unwrap_or_default() {
            "agent_message_chunk" => {
                self.refusals.accepted();
                steps.extend(self.saying.piece(update));
                steps.extend(self.spends(&meta["usage"]));
            }
            "agent_thought_chunk" | "plan" => steps.extend(self.saying.over()),
            "tool_call" | "tool_call_update" => {
                steps.extend(self.saying.over());
                steps.extend(self.tools.noticed(update, &self.named_servers()));
            }
            "usage_update" => {
                steps.extend(self.has_model(meta["_claude/model"].as_str()));
                let cost = &update["cost"];
                if let (Some(amount), Some("USD")) =
                    (cost["amount"].as_f64(), cost["currency"].as_str())
                {
                    steps.push(Step::Saw(Event::Cost(Usd::from_dollars(amount))));
                }
            }
            _ => {}
        }
        steps
    }

    /// A piece says what the call that made it used.
    fn spends(&mut self, count: &Value) -> Option<Step> {
        let tokens = usage::tokens(count);
        self.spent = self.spent.plus(tokens);
        tokens.since(Tokens::default()).map(|usage| Step::Saw(Event::Usage(usage)))
    }

    fn has_model(&mut self, model: Option<&str>) -> Option<Step> {
        let model = model.filter(|model| self.model.as_deref() != Some(model))?;
        self.model = Some(model.to_owned());
        Some(Step::Saw(Event::Model(model.to_owned())))
    }

    fn prompted(&mut self, result: Result<Value, Fault>) -> Vec<Step> {
        if !matches!(self.phase, Phase::Working) {
            return Vec::new();
        }
        let mut steps = self.saying.over().into_iter().collect::<Vec<_>>();
        steps.extend(self.tools.abandoned());
        let missed = self.permissions.settled();
        let end = match result {
            Ok(result) => {
                steps.extend(self.has_model(usage::model(&result)));
                let usage = usage::of_prompt(&result).since(self.spent);
                steps.extend(usage.map(|usage| Step::Saw(Event::Usage(usage))));
                match result["stopReason"].as_str().unwrap_or_default() {
                    "cancelled" if self.settling.is_stopping() => {
                        TurnEnd::Badly(INTERRUPTED_REASON.to_owned())
                    }
                    // codex-acp knows no other way to be refused something.
                    "cancelled" if !missed.is_empty() => {
                        self.settling.queue_first(go_on_without(&missed));
                        TurnEnd::Well
                    }
                    reason => end(reason),
                }
            }
            Err(fault) if self.is_limit(&fault) => TurnEnd::Limited(fault.text()),
            Err(fault) => {
                steps.extend(refusal(&fault));
                TurnEnd::Badly(fault.text())
            }
        };
        self.settling.turn_ended(&end, self.saying.last());
        self.phase = Phase::Settling(end);
        steps.extend(self.settle());
        steps
    }

    fn is_limit(&self, fault: &Fault) -> bool {
        self.settling.resets().is_some()
            || fault.data["codexErrorInfo"] == "usageLimitExceeded"
            || fault.data["errorKind"] == "rate_limit"
            || notes::tells_of_a_limit(&fault.text())
    }

    /// Servers whose tools may be told of.
    fn named_servers(&self) -> Vec<String> {
        [self.servers.as_slice(), &self.users].concat()
    }

    /// Goes on, or ends, once it is known what the agent was told and what not.
    fn settle(&mut self) -> Vec<Step> {
        let Phase::Settling(end) = &self.phase else { return Vec::new() };
        let end = end.clone();
        let is_sending = self.asked.waits(|why| matches!(why, RequestPurpose::Steer(_)));
        let sent = if is_sending { SentMessages::InFlight } else { SentMessages::Settled };
        match self.settling.after(&end, sent) {
            AfterTurn::Wait => Vec::new(),
            AfterTurn::Begin(text) => vec![self.prompt(&text)],
            AfterTurn::Finish => self.over(&end),
        }
    }

    fn over(&mut self, end: &TurnEnd) -> Vec<Step> {
        self.phase = Phase::Over;
        self.settling.finish(end, self.saying.last())
    }

    /// It asks for something. Only for permission can it be helped.
    fn requested(&mut self, id: &Value, method: &str, params: &Value) -> Vec<Step> {
        if method != "session/request_permission" {
            return vec![Step::Say(rpc::refuse(id, method))];
        }
        let mut steps = self.saying.over().into_iter().collect::<Vec<_>>();
        // The question may be the first that is heard of the tool.
        steps.extend(self.tools.noticed(&params["toolCall"], &self.named_servers()));
        steps.extend(self.permissions.asked(id, params, &self.tools, &self.servers));
        if self.settling.is_stopping() {
            steps.extend(self.permissions.called_off());
        }
        steps
    }
}

impl Conversation for Talk {
    fn begin(&mut self) -> Vec<Step> {
        let params = json!({
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": {
                "fs": { "readTextFile": false, "writeTextFile": false },
                "terminal": false,
            },
            "clientInfo": {
                "name": "adjutant",
                "title": "Adjutant",
                "version": env!("CARGO_PKG_VERSION"),
            },
        });
        vec![Step::Say(self.asked.ask(RequestPurpose::Hello, "initialize", params))]
    }

    fn line(&mut self, line: &OutputLine) -> Vec<Step> {
        if line.stream != Stream::Out {
            self.settling.heard(line);
            return Vec::new();
        }
        if line.cut > 0 {
            return self.tools.ended_unread(&line.text);
        }
        match rpc::read(&line.text) {
            Some(Message::Answer { id, result }) => match self.asked.answered(id) {
                Some(why) => self.answered(why, result),
                None => Vec::new(),
            },
            Some(Message::Notice { method, params }) if method == "session/update" => {
                self.updated(&params)
            }
            Some(Message::Request { id, method, params }) => self.requested(&id, &method, &params),
            Some(Message::Notice { method, params }) => {
                let event = claude_code::event(&method, &params, &mut self.refusals);
                event.map(Step::Saw).into_iter().collect()
            }
            None => Vec::new(),
        }
    }

    fn tell(&mut self, text: &str) -> Vec<Step> {
        match self.phase {
            Phase::Over => Vec::new(),
            Phase::Working if self.steerable && !self.settling.is_stopping() => {
                // An agent that is done gives the text back instead of beginning anew unseen.
                let meta = json!({ "steering": { "idleBehavior": "promptRequired" } });
                let params =
                    json!({ "sessionId": self.session, "prompt": words(text), "_meta": meta });
                let why = RequestPurpose::Steer(text.to_owned());
                vec![Step::Say(self.asked.ask(why, "_session/steering", params))]
            }
            _ => {
                self.settling.queue(text.to_owned());
                Vec::new()
            }
        }
    }

    fn answer(&mut self, request: &str, verdict: PermissionVerdict) -> Vec<Step> {
        self.permissions.answer(request, &verdict)
    }

    fn interrupt(&mut self) -> Vec<Step> {
        self.settling.stop();
        if !matches!(self.phase, Phase::Working) {
            return Vec::new();
        }
        let cancel = rpc::notice("session/cancel", json!({ "sessionId": self.session }));
        let mut steps = vec![Step::Say(cancel)];
        steps.extend(self.permissions.called_off());
        steps
    }

    fn end(&mut self) -> Vec<Step> {
        let mut steps = self.saying.over().into_iter().collect::<Vec<_>>();
        steps.extend(self.tools.abandoned());
        steps.extend(self.settling.gone(self.saying.last()));
        steps
    }

    fn snapshot(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Event of a request that failed for want of a login.
fn refusal(fault: &Fault) -> Option<Step> {
    (fault.code == AUTH_REQUIRED).then(|| Step::Saw(Event::Unauthorized(fault.text())))
}

/// A text, as a prompt takes it.
fn words(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

/// Prompt for an agent that stopped because of a refusal.
fn go_on_without(missed: &BTreeSet<String>) -> String {
    let tools = missed.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ");
    format!("You were not allowed to use {tools}. Go on without it, or say what you would need.")
}

fn end(reason: &str) -> TurnEnd {
    match reason {
        "end_turn" => TurnEnd::Well,
        "cancelled" => TurnEnd::Badly("it broke off by itself".to_owned()),
        "refusal" => TurnEnd::Badly("its model refused to go on".to_owned()),
        "max_tokens" => {
            TurnEnd::Bounded("its model reached the most tokens it may write".to_owned())
        }
        "max_turn_requests" => {
            TurnEnd::Bounded("it reached the most requests it may make in a turn".to_owned())
        }
        other => TurnEnd::Badly(format!("it stopped with `{other}`")),
    }
}
