//! What the model is to say.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

/// The turns of a conversation, one an answer of the model.
#[derive(Debug, Clone, Default)]
pub struct Script {
    turns: Vec<Turn>,
    again: Option<Turn>,
}

impl Script {
    /// A script of these turns. After the last one the model says that it has ended.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { turns: turns.into_iter().collect(), again: None }
    }

    /// The same, and this turn again and again after the last one.
    #[must_use]
    pub fn then_always(self, turn: Turn) -> Self {
        Self { again: Some(turn), ..self }
    }

    pub(super) fn turn(&self, number: usize) -> Option<Turn> {
        self.turns.get(number).or(self.again.as_ref()).cloned()
    }
}

/// One answer of the model.
///
/// In its words and in the input of its calls `{{last.agentId}}` is a field of the newest tool result,
/// `{{result.0.agentId}}` the same of the first one, `{{last}}` the whole of it as text, and `{{user}}` what the
/// user said last.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) calls: Vec<(String, Value)>,
    pub(super) usage: Usage,
    pub(super) gate: Option<String>,
    pub(super) fault: Option<Fault>,
    pub(super) hangs: bool,
}

impl Turn {
    /// Says this, which ends the conversation's turn.
    pub fn text(text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..Self::default() }
    }

    /// Calls a tool: `mail__send` or, where there is no other, `send`.
    pub fn call(tool: &str, input: Value) -> Self {
        Self::default().and_call(tool, input)
    }

    /// Calls one more tool at the same time.
    #[must_use]
    pub fn and_call(mut self, tool: &str, input: Value) -> Self {
        self.calls.push((tool.to_owned(), input));
        self
    }

    /// Says this before it calls.
    #[must_use]
    pub fn saying(self, text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..self }
    }

    /// Thinks this before it speaks.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        Self { thinking: Some(text.to_owned()), ..self }
    }

    /// Costs so many tokens.
    #[must_use]
    pub fn usage(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    /// Answers only after [`Llm::open`](super::Llm::open) with this name.
    #[must_use]
    pub fn behind(self, gate: &str) -> Self {
        Self { gate: Some(gate.to_owned()), ..self }
    }

    /// Fails first.
    #[must_use]
    pub fn after(self, fault: Fault) -> Self {
        Self { fault: Some(fault), ..self }
    }

    /// Begins to speak and never comes to an end.
    #[must_use]
    pub fn hanging(self) -> Self {
        Self { hangs: true, ..self }
    }
}

/// What a turn costs, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Read, without what came from the cache
    pub input: u64,
    /// Written
    pub output: u64,
    /// Read from the cache
    pub cached: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 100, output: 20, cached: 0 }
    }
}

/// A failure of the model's server.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The status of the answer
    pub status: u16,
    /// The kind of error, as `overloaded_error`
    pub kind: String,
    /// Its message
    pub message: String,
    /// More fields of the error
    pub details: Value,
    /// More headers of the answer
    pub headers: Vec<(String, String)>,
    /// How often it happens before the turn goes well
    pub times: usize,
}

impl Fault {
    /// A failure that never ends.
    pub fn new(status: u16, kind: &str, message: &str) -> Self {
        Self {
            status,
            kind: kind.to_owned(),
            message: message.to_owned(),
            details: json!({}),
            headers: Vec::new(),
            times: usize::MAX,
        }
    }

    /// One that ends after so many answers.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Self { times, ..self }
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With these fields beside its kind and message.
    #[must_use]
    pub fn details(self, details: Value) -> Self {
        Self { details, ..self }
    }

    pub(super) fn respond(self) -> Response {
        let mut error = self.details;
        error["type"] = self.kind.into();
        error["message"] = self.message.into();
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        let body = Json(json!({ "type": "error", "error": error }));
        let mut response = (status, body).into_response();
        for (name, value) in self.headers {
            let parts = (HeaderName::try_from(name), HeaderValue::try_from(value));
            if let (Ok(name), Ok(value)) = parts {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}
