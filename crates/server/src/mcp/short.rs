//! The short way for the commonest request: one call of a tool that does not wait, in the newer era.
//!
//! For each request of that era `rmcp` makes a service of its own, with tasks and channels, which costs
//! more than most tools do. A request that is beyond doubt is answered here, in the same words.
//! Whatever is not beyond doubt goes to `rmcp`, which knows what is wrong with it.

use axum::body::Bytes;
use axum::response::Response;
use engine::Principal;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName};
use http::{Method, StatusCode, request::Parts};
use rmcp::model::{ClientCapabilities, ProtocolVersion};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::answer::json_response;
use crate::calls::{self, ToolRequest};
use crate::mcp::handler::failed;
use crate::registry::{Entry, Mount};
use crate::shared::Shared;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

const CALL: &str = "tools/call";

/// A request that says exactly what it must and nothing more.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    jsonrpc: String,
    id: Id,
    method: String,
    params: Params,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    name: String,
    arguments: Option<Map<String, Value>>,
    #[serde(rename = "_meta")]
    meta: Meta,
}

/// Required `_meta` of the newer era; other fields are allowed.
#[derive(Debug, Deserialize)]
struct Meta {
    /// A request for progress: only `rmcp` can fulfil it
    #[serde(rename = "progressToken")]
    progress: Option<Value>,
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: String,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    #[expect(dead_code, reason = "that it can be read is enough")]
    capabilities: ClientCapabilities,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    #[expect(dead_code, reason = "that it can be read is enough")]
    client: Option<rmcp::model::Implementation>,
}

/// A request's id: a number or a string, and given back as it came.
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum Id {
    Number(i64),
    Text(String),
}

/// True if the headers qualify for the short path.
pub(crate) fn may_be(method: &Method, headers: &HeaderMap) -> bool {
    let only = |name: HeaderName| {
        let mut all = headers.get_all(name).iter();
        match (all.next(), all.next()) {
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        }
    };
    let newer = ProtocolVersion::V_2026_07_28;
    method == Method::POST
        && only(VERSION) == Some(newer.as_str())
        && only(METHOD) == Some(CALL)
        && only(NAME).is_some()
        && only(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"))
        && only(ACCEPT).is_some_and(|accept| {
            accept.contains("application/json") && accept.contains("text/event-stream")
        })
        && !headers.contains_key(SESSION)
        && !headers.keys().any(|name| name.as_str().starts_with("mcp-param-"))
}

/// Answers the request, or leaves it to `rmcp`.
pub(crate) async fn answer(
    shared: &Shared,
    principal: Principal,
    mount: Mount,
    parts: &Parts,
    body: &Bytes,
) -> Option<Response> {
    let message: Message = serde_json::from_slice(body).ok()?;
    let settings = shared.app.engine.settings();
    let entry = mount.find(&message.params.name, &settings).ok()?;
    if !beyond_doubt(&message, &parts.headers, entry) {
        return None;
    }
    let input = message.params.arguments.map_or(Value::Null, Value::Object);
    let key = calls::key_of(&parts.headers);
    let request = ToolRequest { principal, as_agent: None, entry, input, key };
    let result = match calls::at_once(shared, request).await {
        Ok(output) => success(&output.text)?,
        Err(failure) => serde_json::to_string(&failed(failure.body(), entry.def.toolset())).ok()?,
    };
    let id = serde_json::to_string(&message.id).ok()?;
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    Some(json_response(StatusCode::OK, text))
}

/// Wraps a JSON answer as `CallToolResult`.
fn success(answer: &str) -> Option<String> {
    let text = serde_json::to_string(answer).ok()?;
    Some(format!(
        r#"{{"resultType":"complete","content":[{{"type":"text","text":{text}}}],"structuredContent":{answer},"isError":false}}"#
    ))
}

fn beyond_doubt(message: &Message, headers: &HeaderMap, entry: &Entry) -> bool {
    let named = headers.get(NAME).is_some_and(|name| name == message.params.name.as_str());
    message.jsonrpc == "2.0"
        && message.method == CALL
        && message.params.meta.progress.is_none()
        && message.params.meta.version == ProtocolVersion::V_2026_07_28.as_str()
        && named
        && !entry.def.waits()
}
