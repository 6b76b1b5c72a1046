//! JSON-RPC in lines, as the kinds that are talked to speak it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The other side does not have this method.
const NO_SUCH_METHOD: i64 = -32601;

/// A line from the other side.
#[derive(Debug)]
pub(super) enum Message {
    /// It wants to know something, and waits
    Request {
        /// By which it recognises the answer; any value, and given back as it came
        id: Value,
        /// Method
        method: String,
        /// With what
        params: Value,
    },
    /// It tells something
    Notice {
        /// Method
        method: String,
        /// With what
        params: Value,
    },
    /// It answers what we asked
    Answer {
        /// Our number
        id: u64,
        /// Content
        result: Result<Value, Fault>,
    },
}

/// Why a request failed.
#[derive(Debug, Deserialize)]
pub(super) struct Fault {
    /// Number of the kind of failure
    #[serde(default)]
    pub(super) code: i64,
    /// In words; often no more than “Internal error”
    #[serde(default)]
    message: String,
    /// Additional data
    #[serde(default)]
    pub(super) data: Value,
}

impl Fault {
    /// The most telling words there are.
    pub(super) fn text(&self) -> String {
        let detail = ["message", "details"].iter().find_map(|key| self.data[*key].as_str());
        let detail = detail.or_else(|| self.data.as_str()).filter(|detail| !detail.is_empty());
        match detail {
            Some(detail) if self.message.is_empty() || self.message == "Internal error" => {
                detail.to_owned()
            }
            Some(detail) if !self.message.contains(detail) => {
                format!("{}: {detail}", self.message)
            }
            _ => self.message.clone(),
        }
    }
}

#[derive(Deserialize)]
struct Line {
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    result: Option<Value>,
    error: Option<Fault>,
}

/// Parses a protocol message; other output yields `None`.
pub(super) fn read(text: &str) -> Option<Message> {
    let line: Line = serde_json::from_str(text).ok()?;
    match (line.method, line.id) {
        (Some(method), Some(id)) if !id.is_null() => {
            Some(Message::Request { id, method, params: line.params })
        }
        (Some(method), _) => Some(Message::Notice { method, params: line.params }),
        (None, id) => {
            let id = id?.as_u64()?;
            let result = match line.error {
                Some(fault) => Err(fault),
                None => Ok(line.result.unwrap_or_default()),
            };
            Some(Message::Answer { id, result })
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a message is made on the spot and used once")]
fn request(id: u64, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Something that we tell and want no answer to.
#[expect(clippy::needless_pass_by_value, reason = "a message is made on the spot and used once")]
pub(super) fn notice(method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// Our answer to a request.
#[expect(clippy::needless_pass_by_value, reason = "a message is made on the spot and used once")]
pub(super) fn answer(id: &Value, result: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

/// Our answer to a request that is not for us.
pub(super) fn refuse(id: &Value, method: &str) -> String {
    let message = format!("Adjutant has no `{method}`");
    let error = json!({ "code": NO_SUCH_METHOD, "message": message });
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}

/// Open requests and the number of the next one. Numbers are counted, so
/// that the same talk always has the same ones.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenRequests<W> {
    next: u64,
    waiting: BTreeMap<u64, W>,
}

impl<W> OpenRequests<W> {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self { next: 1, waiting: BTreeMap::new() }
    }

    /// The line that asks, and why it is asked.
    pub(super) fn ask(&mut self, why: W, method: &str, params: Value) -> String {
        let id = self.next;
        self.next = self.next.saturating_add(1);
        self.waiting.insert(id, why);
        request(id, method, params)
    }

    /// Why that was asked; an answer counts once.
    pub(super) fn answered(&mut self, id: u64) -> Option<W> {
        self.waiting.remove(&id)
    }

    /// True if a request of the kind is open.
    pub(super) fn waits(&self, kind: impl Fn(&W) -> bool) -> bool {
        self.waiting.values().any(kind)
    }
}
