//! `codex app-server`: a thread is opened, turns are asked for, and a turn that runs can be told
//! more. It ends when its input is closed, and breaks off a turn that still runs: the input is closed
//! after the last turn and no sooner.

mod questions;

use std::collections::BTreeMap;

use model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::questions::Questions;
use super::items::{self, Tools};
use super::sandbox;
use crate::agent::credentials::{self, Refusals};
use crate::agent::notes::Tokens;
use crate::agent::rpc::{self, Fault, Message, OpenRequests};
use crate::agent::settling::{AfterTurn, INTERRUPTED_REASON, SentMessages, Settling, TurnEnd};
use crate::agent::{Asks, Brief, Event, PermissionVerdict, Step};
use crate::run::{OutputLine, Stream};

/// Delta notifications; the whole item follows.
const DELTA_NOTIFICATIONS: [&str; 6] = [
    "item/agentMessage/delta",
    "item/commandExecution/outputDelta",
    "item/plan/delta",
    "item/reasoning/summaryTextDelta",
    "item/reasoning/textDelta",
    "turn/diff/updated",
];

/// Attempts to open a thread.
const MAX_THREAD_ATTEMPTS: u8 = 3;

/// State of a conversation.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Server {
    /// Opening request, until it is sent
    opening: Option<Opening>,
    schema: Option<Value>,
    asked: OpenRequests<RequestPurpose>,
    thread: Option<String>,
    phase: Phase,
    #[serde(flatten)]
    settling: Settling,
    tools: Tools,
    questions: Questions,
    meter: Meter,
    #[serde(default)]
    refusals: Refusals,
    text: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Opening {
    method: String,
    params: Value,
    prompt: String,
    /// Remaining attempts
    tries: u8,
}

/// Why we asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RequestPurpose {
    Hello,
    Open,
    Turn,
    /// With what it is told
    Steer(String),
    Interrupt,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    /// There is no thread yet
    Opening,
    /// A turn was asked for
    Starting,
    /// This turn runs
    Running(String),
    /// The turn is over, but something it was told may not have reached it
    Settling(TurnEnd),
    /// Nothing more is sent
    Over,
}

/// Usage by thread; totals grow over the whole life of a thread.
#[derive(Debug, Serialize, Deserialize)]
struct Meter {
    /// True if the thread has earlier turns that were already charged
    resumed: bool,
    spent: BTreeMap<String, Tokens>,
}

impl Server {
    pub(super) fn new(brief: &Brief) -> Self {
        // The reviewer is we, and not a model of its own.
        let mut params = json!({
            "approvalPolicy": if brief.asks == Asks::Person { "on-request" } else { "never" },
            "approvalsReviewer": "user",
            "sandbox": sandbox(brief),
        });
        if let Some(model) = &brief.model {
            params["model"] = json!(model);
        }
        if let Some(role) = &brief.system_prompt {
            params["developerInstructions"] = json!(role);
        }
        let method = match &brief.resume {
            None => "thread/start",
            Some(thread) => {
                params["threadId"] = json!(thread);
                params["excludeTurns"] = json!(true);
                // A thread remembers where it worked, which may be elsewhere.
                params["cwd"] = json!(brief.directory);
                "thread/resume"
            }
        };
        let (method, prompt) = (method.to_owned(), brief.prompt.clone());
        Self {
            opening: Some(Opening { method, params, prompt, tries: MAX_THREAD_ATTEMPTS }),
            schema: brief.schema.clone(),
            asked: OpenRequests::new(),
            thread: None,
            phase: Phase::Opening,
            settling: Settling::with_schema_of(brief),
            tools: Tools::default(),
            questions: Questions::new(brief.asks),
            meter: Meter { resumed: brief.resume.is_some(), spent: BTreeMap::new() },
            refusals: Refusals::default(),
            text: String::new(),
        }
    }

    pub(super) fn begin(&mut self) -> Vec<Step> {
        let params = json!({
            "clientInfo": {
                "name": "adjutant",
                "title": "Adjutant",
                "version": env!("CARGO_PKG_VERSION"),
            },
            "capabilities": { "optOutNotificationMethods": DELTA_NOTIFICATIONS },
        });
        vec![Step::Say(self.asked.ask(RequestPurpose::Hello, "initialize", params))]
    }

    pub(super) fn line(&mut self, line: &OutputLine) -> Vec<Step> {
        if line.stream != Stream::Out {
            self.settling.heard(line);
            return Vec::new();
        }
        if line.cut > 0 && line.text.starts_with(r#"{"method":"item/completed""#) {
            return self.tools.ended_unread(&line.text);
        }
        match rpc::read(&line.text) {
            Some(Message::Answer { id, result }) => match self.asked.answered(id) {
                Some(why) => self.answered(why, result),
                None => Vec::new(),
            },
            Some(Message::Notice { method, params }) => self.noticed(&method, &params),
            Some(Message::Request { id, method, params }) => {
                self.questions.asked(&id, &method, &params, &self.tools)
            }
            None => Vec::new(),
        }
    }

    /// A turn that runs is told at once; else it waits for the next one.
    pub(super) fn tell(&mut self, text: &str) -> Vec<Step> {
        match &self.phase {
            Phase::Over => Vec::new(),
            Phase::Running(turn) if !self.settling.is_stopping() => {
                let turn = turn.clone();
                vec![self.steer(&turn, text.to_owned())]
            }
            _ => {
                self.settling.queue(text.to_owned());
                Vec::new()
            }
        }
    }

    pub(super) fn answer(&mut self, request: &str, verdict: &PermissionVerdict) -> Vec<Step> {
        self.questions.answer(request, verdict)
    }

    pub(super) fn interrupt(&mut self) -> Vec<Step> {
        self.settling.stop();
        match &self.phase {
            Phase::Running(turn) => {
                let turn = turn.clone();
                vec![self.stop(&turn)]
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn end(&mut self) -> Vec<Step> {
        let mut steps = self.tools.abandoned();
        steps.extend(self.settling.gone(&self.text));
        steps
    }

    fn answered(&mut self, why: RequestPurpose, result: Result<Value, Fault>) -> Vec<Step> {
        match (why, result) {
            (RequestPurpose::Hello, Ok(_)) => self.open(),
            (RequestPurpose::Open, Ok(result)) => self.opened(&result),
            (RequestPurpose::Turn, Ok(result)) => self.running(&result["turn"]),
            (RequestPurpose::Open, Err(fault)) => self.not_opened(&fault),
            (RequestPurpose::Hello | RequestPurpose::Turn, Err(fault)) => {
                self.over(&TurnEnd::Badly(fault.text()))
            }
            (RequestPurpose::Steer(_), Ok(_)) => self.settle(),
            // The turn was over before it could be told.
            (RequestPurpose::Steer(text), Err(_)) => {
                self.settling.queue(text);
                self.settle()
            }
            (RequestPurpose::Interrupt, _) => Vec::new(),
        }
    }

    fn open(&mut self) -> Vec<Step> {
        let Some(opening) = &self.opening else { return Vec::new() };
        let open = self.asked.ask(RequestPurpose::Open, &opening.method, opening.params.clone());
        vec![Step::Say(rpc::notice("initialized", json!({}))), Step::Say(open)]
    }

    /// The server of its toolsets may just have been away; since this is read, it is back.
    fn not_opened(&mut self, fault: &Fault) -> Vec<Step> {
        let text = fault.text();
        match &mut self.opening {
            Some(opening) if opening.tries > 1 && text.contains("MCP servers failed") => {
                opening.tries -= 1;
                let (method, params) = (opening.method.clone(), opening.params.clone());
                vec![Step::Say(self.asked.ask(RequestPurpose::Open, &method, params))]
            }
            _ => self.over(&TurnEnd::Badly(text)),
        }
    }

    fn opened(&mut self, result: &Value) -> Vec<Step> {
        let Some(thread) = result["thread"]["id"].as_str() else {
            return self
                .over(&TurnEnd::Badly("Codex did not say which thread it opened".to_owned()));
        };
        let Some(opening) = self.opening.take() else { return Vec::new() };
        self.thread = Some(thread.to_owned());
        let mut steps = vec![Step::Saw(Event::Conversation(thread.to_owned()))];
        if let Some(model) = result["model"].as_str() {
            steps.push(Step::Saw(Event::Model(model.to_owned())));
        }
        if self.settling.is_stopping() {
            steps.extend(self.over(&TurnEnd::Badly(INTERRUPTED_REASON.to_owned())));
        } else {
            steps.push(self.ask_turn(&opening.prompt));
        }
        steps
    }

    fn ask_turn(&mut self, text: &str) -> Step {
        self.phase = Phase::Starting;
        let mut params = json!({ "threadId": self.thread, "input": words(text) });
        if let Some(schema) = &self.schema {
            params["outputSchema"] = schema.clone();
        }
        Step::Say(self.asked.ask(RequestPurpose::Turn, "turn/start", params))
    }

    fn steer(&mut self, turn: &str, text: String) -> Step {
        let input = words(&text);
        let params = json!({ "threadId": self.thread, "expectedTurnId": turn, "input": input });
        Step::Say(self.asked.ask(RequestPurpose::Steer(text), "turn/steer", params))
    }

    fn stop(&mut self, turn: &str) -> Step {
        let params = json!({ "threadId": self.thread, "turnId": turn });
        Step::Say(self.asked.ask(RequestPurpose::Interrupt, "turn/interrupt", params))
    }

    /// The turn has an id, so it can be spoken to. Two messages tell so, in any order.
    fn running(&mut self, turn: &Value) -> Vec<Step> {
        let (Phase::Starting, Some(turn)) = (&self.phase, turn["id"].as_str()) else {
            return Vec::new();
        };
        self.phase = Phase::Running(turn.to_owned());
        if self.settling.is_stopping() {
            return vec![self.stop(turn)];
        }
        let told = self.settling.take_queued();
        told.into_iter().map(|text| self.steer(turn, text)).collect()
    }

    fn noticed(&mut self, method: &str, params: &Value) -> Vec<Step> {
        if method == "thread/tokenUsage/updated" {
            return self.spent(params);
        }
        let thread = params["threadId"].as_str();
        if thread.is_some() && self.thread.is_some() && thread != self.thread.as_deref() {
            return Vec::new();
        }
        let warning = |text: &Value| {
            let text = text.as_str().unwrap_or_default();
            vec![Step::Saw(Event::Warning(text.to_owned()))]
        };
        match method {
            "turn/started" => self.running(&params["turn"]),
            "turn/completed" => self.completed(&params["turn"]),
            "item/started" => self.tools.began(&params["item"]),
            "item/completed" => self.item(&params["item"]),
            "account/rateLimits/updated" => {
                let resets = reset(&params["rateLimits"]).or(self.settling.resets());
                self.settling.limited_until(resets);
                Vec::new()
            }
            "mcpServer/startupStatus/updated" if params["status"] == "failed" => {
                warning(&params["error"])
            }
            "model/rerouted" => params["toModel"]
                .as_str()
                .map_or_else(Vec::new, |model| vec![Step::Saw(Event::Model(model.to_owned()))]),
            "serverRequest/resolved" => {
                self.questions.forget(&params["requestId"]);
                Vec::new()
            }
            // What it does not try again ends the turn, which is told too.
            "error" if params["willRetry"] == true => {
                vec![Step::Saw(self.retried(&params["error"]))]
            }
            "warning" | "guardianWarning" => warning(&params["message"]),
            "configWarning" => warning(&params["summary"]),
            _ => Vec::new(),
        }
    }

    fn retried(&mut self, error: &Value) -> Event {
        let words = items::error_words(error);
        if is_refusal(error) { self.refusals.tried_again(&words) } else { Event::Warning(words) }
    }

    fn item(&mut self, item: &Value) -> Vec<Step> {
        if let Some(text) = items::message(item) {
            self.refusals.accepted();
            text.clone_into(&mut self.text);
            return vec![Step::Saw(Event::Text(text.to_owned()))];
        }
        self.tools.ended(item)
    }

    fn spent(&mut self, params: &Value) -> Vec<Step> {
        let thread = params["threadId"].as_str().unwrap_or_default();
        let total = items::tokens(&params["tokenUsage"]["total"]);
        let is_ours = Some(thread) == self.thread.as_deref();
        if is_ours && self.meter.resumed && matches!(self.phase, Phase::Opening | Phase::Starting) {
            // Before its first turn a resumed thread tells what it has spent in its past.
            self.meter.spent.insert(thread.to_owned(), total);
            return Vec::new();
        }
        let before = match self.meter.spent.insert(thread.to_owned(), total) {
            Some(before) => before,
            None if is_ours && self.meter.resumed => {
                total.minus(items::tokens(&params["tokenUsage"]["last"]))
            }
            None => Tokens::default(),
        };
        let usage = total.since(before).map(|usage| Step::Saw(Event::Usage(usage)));
        usage.into_iter().collect()
    }

    fn completed(&mut self, turn: &Value) -> Vec<Step> {
        match &self.phase {
            Phase::Running(id) if turn["id"] == id.as_str() => {}
            Phase::Starting => {}
            _ => return Vec::new(),
        }
        let mut steps = self.tools.abandoned();
        let end = end(turn);
        if let TurnEnd::Badly(why) = &end
            && is_refusal(&turn["error"])
        {
            steps.push(Step::Saw(Event::Unauthorized(why.clone())));
        }
        self.settling.turn_ended(&end, &self.text);
        self.phase = Phase::Settling(end);
        steps.extend(self.settle());
        steps
    }

    /// Goes on, or ends, once it is known what the turn was told and what not.
    fn settle(&mut self) -> Vec<Step> {
        let Phase::Settling(end) = &self.phase else { return Vec::new() };
        let end = end.clone();
        let is_sending = self.asked.waits(|why| matches!(why, RequestPurpose::Steer(_)));
        let sent = if is_sending { SentMessages::InFlight } else { SentMessages::Settled };
        match self.settling.after(&end, sent) {
            AfterTurn::Wait => Vec::new(),
            AfterTurn::Begin(text) => vec![self.ask_turn(&text)],
            AfterTurn::Finish => self.over(&end),
        }
    }

    fn over(&mut self, end: &TurnEnd) -> Vec<Step> {
        self.phase = Phase::Over;
        self.settling.finish(end, &self.text)
    }
}

/// A text, as a turn takes it.
fn words(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

fn end(turn: &Value) -> TurnEnd {
    let error = &turn["error"];
    let why = error["message"].as_str().unwrap_or("Codex did not say why").to_owned();
    match (turn["status"].as_str(), error["codexErrorInfo"].as_str()) {
        (Some("completed"), _) => TurnEnd::Well,
        (Some("interrupted"), _) => TurnEnd::Badly(INTERRUPTED_REASON.to_owned()),
        (_, Some("usageLimitExceeded" | "rateLimitExceeded")) => TurnEnd::Limited(why),
        (_, Some("sessionBudgetExceeded")) => TurnEnd::Bounded(why),
        _ => TurnEnd::Badly(why),
    }
}

/// Returns whether an error is the provider's refusal of the credentials: a word, or the status of whatever failed.
fn is_refusal(error: &Value) -> bool {
    let info = &error["codexErrorInfo"];
    let mut failures = info.as_object().into_iter().flatten();
    info == "unauthorized"
        || failures.any(|(_, failure)| credentials::is_refusal(&failure["httpStatusCode"]))
}

/// When the account's limits that are used up are all lifted.
fn reset(limits: &Value) -> Option<Timestamp> {
    let used_up =
        |window: &&Value| window["usedPercent"].as_f64().is_some_and(|used| used >= 100.0);
    [&limits["primary"], &limits["secondary"]]
        .into_iter()
        .filter(used_up)
        .filter_map(|window| window["resetsAt"].as_i64())
        .max()
        .map(|seconds| Timestamp::from_millis(seconds.saturating_mul(1_000)))
}
