//! The server: which turn is due, and how it is sent.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::conversation::{ConversationState, FilledTurn, ModelProtocol};
use super::{ModelRequest, Script, Turn, anthropic, responses, template};

/// Conversations of real command lines carry long instructions.
const MAX_BODY_BYTES: usize = 64 << 20;

#[derive(Debug, Default)]
pub(super) struct Shared {
    scripts: BTreeMap<String, Script>,
    /// What was asked, oldest first
    pub(super) log: watch::Sender<Vec<ModelRequest>>,
    /// The gates that are open
    pub(super) open: watch::Sender<BTreeSet<String>>,
    last_id: AtomicU64,
}

/// How an answer goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResponseMode {
    Whole,
    Stream,
    /// It begins to speak, and never comes to an end.
    Unfinished,
}

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new().fallback(answer).with_state(shared)
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let (prefix, path) = split_path(head.uri.path());
    if head.method != Method::POST {
        return listing(path);
    }
    let body = match axum::body::to_bytes(body, MAX_BODY_BYTES).await {
        Ok(bytes) => bytes,
        Err(problem) => return refusal(StatusCode::BAD_REQUEST, &problem.to_string()),
    };
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return refusal(StatusCode::BAD_REQUEST, "this is not JSON");
    };
    let wire = match path {
        "/v1/messages" => ModelProtocol::Anthropic,
        "/v1/responses" => ModelProtocol::Responses,
        "/v1/messages/count_tokens" => {
            return Json(json!({ "input_tokens": body.to_string().len() / 4 })).into_response();
        }
        _ => return refusal(StatusCode::NOT_FOUND, "there is no such path"),
    };
    shared.converse(wire, prefix, body).await
}

/// Takes `/s/NAME` off a path.
fn split_path(path: &str) -> (&str, &str) {
    let Some((name, _)) = path.strip_prefix("/s/").and_then(|rest| rest.split_once('/')) else {
        return ("default", path);
    };
    (name, path.strip_prefix("/s/").and_then(|rest| rest.strip_prefix(name)).unwrap_or(path))
}

/// The models: one, so that a client that asks is content.
fn listing(path: &str) -> Response {
    if path != "/v1/models" && path != "/" {
        return refusal(StatusCode::NOT_FOUND, "there is no such path");
    }
    let model = json!({ "id": "scripted", "type": "model", "object": "model" });
    Json(json!({ "object": "list", "data": [model], "models": [], "has_more": false }))
        .into_response()
}

fn refusal(status: StatusCode, message: &str) -> Response {
    let error = json!({ "type": "invalid_request_error", "message": message });
    (status, Json(json!({ "type": "error", "error": error }))).into_response()
}

impl Shared {
    pub(super) fn new(scripts: BTreeMap<String, Script>) -> Self {
        Self { scripts, ..Self::default() }
    }

    async fn converse(&self, wire: ModelProtocol, prefix: &str, body: Value) -> Response {
        let heard = match wire {
            ModelProtocol::Anthropic => anthropic::hear(&body),
            ModelProtocol::Responses => responses::hear(&body),
        };
        let model = body["model"].as_str().unwrap_or("scripted").to_owned();
        let streamed = body["stream"].as_bool().unwrap_or_default();
        let delivery = if streamed { ResponseMode::Stream } else { ResponseMode::Whole };
        // Command lines also ask for titles and the like, without tools: such a request is no turn of the agent.
        if heard.tools.is_empty() {
            let aside = self.speech(Turn::text("An aside"), &heard, model, "");
            return send(wire, &aside, delivery);
        }
        let script = heard.script(&self.scripts).unwrap_or(prefix).to_owned();
        let turn = self.scripts.get(&script).and_then(|script| script.turn(heard.turns));
        let turn = turn.unwrap_or_else(|| Turn::text("The script has ended."));
        // An escaped line end would stick to the word after it.
        let words = body.to_string().replace("\\n", " ");
        let asked = heard.asked(script, model.clone(), body);
        let earlier = self.note(asked);

        if let Some(gate) = &turn.gate {
            // The sender is in `self`: it cannot be gone.
            drop(self.open.subscribe().wait_for(|open| open.contains(gate)).await);
        }
        if let Some(fault) = turn.fault.clone().filter(|fault| earlier < fault.times) {
            return fault.respond();
        }
        let delivery = if turn.hangs { ResponseMode::Unfinished } else { delivery };
        send(wire, &self.speech(turn, &heard, model, &words), delivery)
    }

    /// Writes a request down, and counts how often the same turn was asked for before.
    fn note(&self, asked: ModelRequest) -> usize {
        let mut earlier = 0;
        self.log.send_modify(|log| {
            let same =
                |other: &&ModelRequest| (&other.script, other.turn) == (&asked.script, asked.turn);
            earlier = log.iter().filter(same).count();
            log.push(asked);
        });
        earlier
    }

    fn speech(
        &self,
        turn: Turn,
        heard: &ConversationState,
        model: String,
        words: &str,
    ) -> FilledTurn {
        let fill = |text: String| template::fill_text(&text, heard);
        let call = |(tool, input): (String, Value)| {
            (heard.find(&tool, words), template::fill(input, heard))
        };
        FilledTurn {
            id: self.last_id.fetch_add(1, Ordering::Relaxed),
            model,
            text: turn.text.map(fill),
            thinking: turn.thinking,
            calls: turn.calls.into_iter().map(call).collect(),
            usage: turn.usage,
        }
    }
}

fn send(wire: ModelProtocol, speech: &FilledTurn, delivery: ResponseMode) -> Response {
    let spoken = match wire {
        ModelProtocol::Anthropic => anthropic::speak(speech),
        ModelProtocol::Responses => responses::speak(speech),
    };
    let mut events = spoken.events;
    let rest = match delivery {
        ResponseMode::Whole => return Json(spoken.whole).into_response(),
        ResponseMode::Stream => stream::empty().left_stream(),
        ResponseMode::Unfinished => {
            events.truncate(events.len().div_ceil(2));
            stream::pending().right_stream()
        }
    };
    let lines = events.into_iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n"));
    let lines = stream::iter(lines.map(|line| Ok::<_, io::Error>(Bytes::from(line))));
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    (headers, Body::from_stream(lines.chain(rest))).into_response()
}
