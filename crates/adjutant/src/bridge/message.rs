//! Parses a client's line as far as HTTP needs it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::body::Bytes;
use serde_json::{Value, json};

use super::session::Session;
use crate::client::JSON;

/// A body over 4 MiB is refused by the server; a little more is left for it to refuse.
pub(super) const MAX_BODY_BYTES: usize = 4 * 1024 * 1024 + 64 * 1024;
/// The first version without sessions.
const STATELESS: &str = "2026-07-28";
/// Where a request of the stateless era names its version.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const EITHER: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// One JSON-RPC message of the client.
#[derive(Debug, Clone)]
pub(super) struct Message {
    /// The message as it came; it is sent as it is
    pub(super) line: Bytes,
    /// Its id, where it has one
    pub(super) id: Option<Value>,
    /// Its method; an answer has none
    pub(super) method: Option<String>,
    /// The version it names for itself
    version: Option<String>,
    /// Subject: a tool's name or a resource's address
    name: Option<String>,
    /// Cancelled request
    pub(super) cancels: Option<Value>,
    /// Idempotency key of a call
    key: Option<HeaderValue>,
}

impl Message {
    /// Reads a message, or returns the answer to one that cannot be read.
    pub(super) fn parse(line: Bytes) -> Result<Self, Bytes> {
        let refused = |id: &Value, code, text: &str| Err(error_line(id, code, text, &Value::Null));
        let Ok(value) = serde_json::from_slice::<Value>(&line) else {
            return refused(&Value::Null, PARSE_ERROR, "the line is not JSON");
        };
        let id = value.get("id").filter(|id| !id.is_null()).cloned();
        let shown = id.clone().unwrap_or_default();
        if line.len() > MAX_BODY_BYTES {
            return refused(&shown, INVALID_REQUEST, "the message is over 4 MiB");
        }
        if value.is_array() {
            return refused(&shown, INVALID_REQUEST, "messages come one at a time, not in batches");
        }
        let method = value.get("method").and_then(Value::as_str).map(str::to_owned);
        if method.is_none() && (id.is_none() || !is_answer(&value)) {
            return refused(&shown, INVALID_REQUEST, "the message has no method");
        }
        let params = value.get("params");
        let text = |key: &str| Some(params?.get(key)?.as_str()?.to_owned());
        let name = method.as_deref().and_then(name_key).and_then(text);
        let version = params.and_then(|params| params.get("_meta")?.get(VERSION_KEY)?.as_str());
        let cancels = match method.as_deref() {
            Some("notifications/cancelled") => params.and_then(|params| params.get("requestId")),
            _ => None,
        };
        let (version, cancels) = (version.map(str::to_owned), cancels.cloned());
        Ok(Self { line, id, method, version, name, cancels, key: None })
    }

    /// Gives a call a key of its own. Without one, should chance fail, it is not sent again.
    pub(super) fn keyed(mut self) -> Self {
        if self.is("tools/call") {
            let key = host::random::secret("").ok();
            self.key = key.and_then(|key| HeaderValue::from_str(&key).ok());
        }
        self
    }

    /// True for a call with its own key.
    pub(super) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// True if it expects an answer.
    pub(super) fn is_request(&self) -> bool {
        self.method.is_some() && self.id.is_some()
    }

    /// True for a message of that method.
    pub(super) fn is(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }

    /// True for the era without sessions. `initialize` never is.
    pub(super) fn is_stateless(&self) -> bool {
        !self.is("initialize")
            && (self.is("server/discover")
                || self.version.as_deref().is_some_and(|version| version >= STATELESS))
    }

    /// The version of a message of the era without sessions.
    pub(super) fn stateless_version(&self) -> Option<&str> {
        self.version.as_deref().filter(|_| self.is_stateless())
    }

    /// The resource it is about, if it is about one.
    pub(super) fn uri(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// True if sending it twice is safe.
    pub(super) fn may_be_repeated(&self) -> bool {
        self.has_key() || self.only_looks()
    }

    /// True if it only reads.
    fn only_looks(&self) -> bool {
        matches!(
            self.method.as_deref(),
            Some(
                "initialize"
                    | "ping"
                    | "server/discover"
                    | "tools/list"
                    | "resources/list"
                    | "resources/templates/list"
                    | "resources/read"
                    | "resources/subscribe"
                    | "resources/unsubscribe"
                    | "subscriptions/listen"
                    | "prompts/list"
                    | "prompts/get"
                    | "completion/complete"
                    | "logging/setLevel"
                    | "tasks/get"
                    | "tasks/list"
            )
        )
    }

    /// The headers that this message travels under. `stateless` is the version that the client
    /// has named before, for notifications, which name none.
    pub(super) fn headers(&self, session: Option<&Session>, stateless: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::from_iter([(ACCEPT, EITHER), (CONTENT_TYPE, JSON)]);
        if self.is("initialize") {
            return headers;
        }
        headers.extend(self.key.clone().map(|key| (KEY, key)));
        match session {
            Some(session) if !self.is_stateless() => session.put(&mut headers),
            _ => {
                let version = self.version.as_deref().or(stateless);
                put(&mut headers, PROTOCOL_VERSION, version);
                put(&mut headers, METHOD, self.method.as_deref());
                put(&mut headers, NAME, self.name.as_deref().map(encode).as_deref());
            }
        }
        headers
    }
}

/// True if a message answers a request.
pub(super) fn is_answer(message: &Value) -> bool {
    message.get("method").is_none()
        && (message.get("result").is_some() || message.get("error").is_some())
}

/// A line that answers a request with an error.
pub(super) fn error_line(id: &Value, code: i32, message: &str, data: &Value) -> Bytes {
    let mut error = json!({ "code": code, "message": message });
    if let (Some(error), false) = (error.as_object_mut(), data.is_null()) {
        error.insert("data".to_owned(), data.clone());
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into()
}

/// Name of the parameter that identifies a method's subject.
fn name_key(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

pub(super) fn put(headers: &mut HeaderMap, name: HeaderName, value: Option<&str>) {
    // What cannot be a header is left out; the server says what is missing.
    if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
        headers.insert(name, value);
    }
}

/// Wraps what a header cannot carry, or would change on the way.
fn encode(value: &str) -> String {
    let outer_space = value.starts_with([' ', '\t']) || value.ends_with([' ', '\t']);
    let printable = value.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
    let looks_wrapped = value.starts_with("=?base64?") && value.ends_with("?=");
    if printable && !outer_space && !looks_wrapped {
        return value.to_owned();
    }
    format!("=?base64?{}?=", BASE64_STANDARD.encode(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(value: &Value) -> Message {
        Message::parse(value.to_string().into()).unwrap()
    }

    fn shown(headers: &HeaderMap) -> Vec<String> {
        let mut shown: Vec<String> = headers
            .iter()
            .filter(|(name, _)| name.as_str().starts_with("mcp-"))
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        shown.sort();
        shown
    }

    fn modern(method: &str, mut params: Value) -> Message {
        params["_meta"] = json!({ VERSION_KEY: "2026-07-28" });
        message(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
    }

    #[test]
    fn a_stateless_request_is_described_by_its_headers() {
        for (method, params, name) in [
            (
                "tools/call",
                json!({ "name": "task_get", "arguments": { "name": "no" } }),
                "task_get",
            ),
            ("prompts/get", json!({ "name": "run tests" }), "run tests"),
            ("resources/read", json!({ "uri": "agents://context" }), "agents://context"),
            ("tasks/get", json!({ "taskId": "7" }), "7"),
            ("tools/call", json!({ "name": "zähler" }), "=?base64?esOkaGxlcg==?="),
            ("tools/call", json!({ "name": " x" }), "=?base64?IHg=?="),
            ("tools/call", json!({ "name": "=?base64?x?=" }), "=?base64?PT9iYXNlNjQ/eD89?="),
        ] {
            assert_eq!(
                shown(&modern(method, params).headers(None, None)),
                [
                    format!("mcp-method: {method}"),
                    format!("mcp-name: {name}"),
                    "mcp-protocol-version: 2026-07-28".to_owned(),
                ]
            );
        }
        let list = modern("tools/list", json!({ "name": "not about it" }));
        assert_eq!(
            shown(&list.headers(None, None)),
            ["mcp-method: tools/list", "mcp-protocol-version: 2026-07-28"]
        );
    }

    #[test]
    fn a_message_of_a_session_carries_the_session() {
        let session = Session::new(Some("s1"), "2025-06-18", Bytes::new());
        let call =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "x" } });
        assert_eq!(
            shown(&message(&call).headers(Some(&session), None)),
            ["mcp-protocol-version: 2025-06-18", "mcp-session-id: s1"]
        );
        let initialize = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": { "protocolVersion": "2026-07-28", "_meta": { VERSION_KEY: "2026-07-28" } }
        });
        let initialize = message(&initialize);
        assert!(!initialize.is_stateless());
        assert_eq!(shown(&initialize.headers(Some(&session), None)), [""; 0]);
    }

    #[test]
    fn a_notification_goes_under_the_version_named_before() {
        let note = message(&json!({ "jsonrpc": "2.0", "method": "notifications/progress" }));
        assert_eq!(
            shown(&note.headers(None, Some("2026-07-28"))),
            ["mcp-method: notifications/progress", "mcp-protocol-version: 2026-07-28"]
        );
    }

    #[test]
    fn a_call_has_a_key_of_its_own_and_may_be_repeated() {
        let session = Session::new(Some("s1"), "2025-06-18", Bytes::new());
        let call = || modern("tools/call", json!({ "name": "x" }));
        let (one, other) = (call().keyed(), call().keyed());
        let key = |message: &Message, session: Option<&Session>| {
            let headers = message.headers(session, None);
            headers.get(KEY).map(|key| key.to_str().unwrap().to_owned())
        };
        assert!(key(&one, None).is_some_and(|key| key.len() == 64));
        assert_eq!(key(&one, None), key(&one, Some(&session)), "it stays the same");
        assert_ne!(key(&one, None), key(&other, None));
        assert!(one.may_be_repeated() && !call().may_be_repeated());
        let list = modern("tools/list", json!({})).keyed();
        assert_eq!(key(&list, None), None);
        assert!(list.may_be_repeated());
        let update = modern("tasks/update", json!({ "taskId": "7" })).keyed();
        assert!(!update.may_be_repeated());
    }

    #[test]
    fn what_cannot_be_sent_is_answered() {
        let answer = |line: Bytes| -> Value {
            serde_json::from_slice(&Message::parse(line).unwrap_err()).unwrap()
        };
        assert_eq!(answer(Bytes::from_static(b"{"))["error"]["code"], PARSE_ERROR);
        assert_eq!(answer(Bytes::from_static(b"[]"))["error"]["code"], INVALID_REQUEST);
        assert_eq!(answer(Bytes::from_static(b"{\"id\":3}"))["id"], 3);
        let long = json!({ "params": "x".repeat(MAX_BODY_BYTES), "method": "ping", "id": "a" });
        let long = answer(long.to_string().into());
        assert_eq!((&long["id"], &long["error"]["code"]), (&json!("a"), &json!(INVALID_REQUEST)));
    }
}
