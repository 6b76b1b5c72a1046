//! An MCP client of the era without sessions, as patient as an agent must be: a server that is killed
//! comes back, and a call whose answer was lost is made again under the same key.
//!
//! rmcp's client is not used: its headers belong to the transport and not to a call, so that an idempotency key would
//! need an HTTP client of our own behind it, and a call that is made again gets another id. With its handshake and our
//! retries around it, it would be more code for fewer guarantees.

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use hyper::body::Bytes;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep, timeout};

use crate::bridge::Messages;
use crate::client::{ApiError, Client, ClientError, JSON};

const VERSION: &str = "2026-07-28";
const EITHER: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// No tool takes longer: a wait ends after 240 s.
const CALL_TIMEOUT: Duration = Duration::from_secs(300);
/// The pause before a call is sent again doubles from the one to the other.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(10);
const MAX_RETRY_DELAY: Duration = Duration::from_millis(500);

/// Answer of a tool: its structured content, or its error body.
pub(super) type Answer = Result<Value, Value>;

/// The agent's own client.
#[derive(Debug)]
pub(super) struct Mcp {
    client: Client,
    /// Prefix of every key: the agent and its attempt
    prefix: String,
    /// Number of requests made
    made: Cell<u64>,
}

/// Options of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallOptions {
    /// Wait for a server that is gone
    pub(super) patience: Duration,
    pub(super) progress: Progress,
}

/// Whether progress notifications are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// It is wanted
    Wanted,
    /// The answer is enough
    Needless,
}

/// A call that was not answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    /// There was no server, or none that answers, for too long.
    #[error("the server was gone for {} s", patience.as_secs_f64())]
    Gone {
        /// Time waited
        patience: Duration,
        /// Last error
        #[source]
        source: ClientError,
    },
    /// It cannot be sent at all.
    #[error(transparent)]
    Unusable(ClientError),
}

impl Mcp {
    pub(super) fn new(client: Client, agent: &str, attempt: u32) -> Self {
        Self { client, prefix: format!("{agent}-{attempt}"), made: Cell::new(0) }
    }

    /// Calls a tool.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        manner: CallOptions,
    ) -> Result<Answer, CallError> {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.request("tools/call", params, manner).await?;
        Ok(answer.and_then(|mut result| {
            let content = match result["structuredContent"].take() {
                Value::Null => result["content"].take(),
                structured => structured,
            };
            if result["isError"] == true { Err(content) } else { Ok(content) }
        }))
    }

    /// The names of all tools that the server shows us.
    pub(super) async fn tools(
        &self,
        patience: Duration,
    ) -> Result<Result<Vec<String>, Value>, CallError> {
        let manner = CallOptions { patience, progress: Progress::Needless };
        let (mut names, mut params) = (Vec::new(), json!({}));
        loop {
            let mut page = match self.request("tools/list", params, manner).await? {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            let tools = page["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
            names.extend(tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)));
            match page["nextCursor"].take() {
                Value::Null => return Ok(Ok(names)),
                cursor => params = json!({ "cursor": cursor }),
            }
        }
    }

    /// Sends a request until it is answered.
    async fn request(
        &self,
        method: &str,
        mut params: Value,
        manner: CallOptions,
    ) -> Result<Answer, CallError> {
        let number = self.made.get() + 1;
        self.made.set(number);
        let mut headers = self.headers(method, number);
        if let Some(name) =
            params["name"].as_str().and_then(|name| HeaderValue::from_str(name).ok())
        {
            headers.insert(NAME, name);
        }
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientInfo":
                { "name": "adjutant-play", "version": env!("CARGO_PKG_VERSION") },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        if manner.progress == Progress::Wanted {
            params["_meta"]["progressToken"] = number.into();
        }
        let body = json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params });
        let body = Bytes::from(body.to_string());
        let (mut gone_since, mut pause) = (None, FIRST_RETRY_DELAY);
        loop {
            let exchange = self.exchange(headers.clone(), body.clone(), number);
            let source = match timeout(CALL_TIMEOUT, exchange).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error @ (ClientError::Unusable { .. } | ClientError::Address(_)))) => {
                    return Err(CallError::Unusable(error));
                }
                Ok(Err(error)) => error,
                Err(_) => self.client.broken("it did not answer"),
            };
            let since = *gone_since.get_or_insert_with(Instant::now);
            let left = manner.patience.saturating_sub(since.elapsed());
            if left.is_zero() {
                return Err(CallError::Gone { patience: manner.patience, source });
            }
            sleep(pause.min(left)).await;
            pause = MAX_RETRY_DELAY.min(pause * 2);
        }
    }

    fn headers(&self, method: &str, number: u64) -> HeaderMap {
        let mut headers = HeaderMap::from_iter([
            (ACCEPT, EITHER),
            (CONTENT_TYPE, JSON),
            (PROTOCOL_VERSION, HeaderValue::from_static(VERSION)),
        ]);
        let key = format!("{}-{number}", self.prefix);
        for (name, value) in [(METHOD, method), (IDEMPOTENCY_KEY, key.as_str())] {
            // An id of ours and a method are always fit for a header.
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        }
        headers
    }

    /// Sends a request once. What is an error here may be tried again; a refusal is an answer.
    async fn exchange(
        &self,
        headers: HeaderMap,
        body: Bytes,
        number: u64,
    ) -> Result<Answer, ClientError> {
        let response = self.client.send(Method::POST, "/mcp", headers, body).await?;
        let status = response.status();
        let mut messages = Messages::of(response);
        // What ends without an answer is told from a refusal by its status.
        let mut last = Bytes::new();
        while let Some(message) =
            messages.next().await.map_err(|error| self.client.broken(error))?
        {
            let mut text: Value = serde_json::from_slice(&message).unwrap_or_default();
            if text["id"] == number && text.get("result").is_some() {
                return Ok(Ok(text["result"].take()));
            }
            if text.get("error").is_some_and(Value::is_object) && text.get("jsonrpc").is_some() {
                return Ok(Err(refusal(&mut text["error"])));
            }
            last = message;
        }
        if status.is_success() {
            return Err(self.client.broken("the answer ended early"));
        }
        let error = Box::new(ApiError::read(status, &last));
        if status == StatusCode::SERVICE_UNAVAILABLE {
            return Err(ClientError::Api { status, error });
        }
        Ok(Err(error.whole))
    }
}

/// An error of the protocol in the form of a tool's.
fn refusal(error: &mut Value) -> Value {
    match error["data"].take() {
        body @ Value::Object(_) if body["code"].is_string() => body,
        _ => json!({ "code": error["code"], "message": error["message"] }),
    }
}
