//! A small MCP client of the 2025-11-25 era over Streamable HTTP: what any agent's own client does.

use std::collections::BTreeMap;

use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::client::{Client, JSON};
use crate::trouble::Trouble;

const VERSION: &str = "2025-11-25";
const SESSION: &str = "mcp-session-id";

/// A client with one credential, and a session a toolset.
#[derive(Debug)]
pub(super) struct Player {
    client: Client,
    sessions: BTreeMap<String, Option<HeaderValue>>,
    next_id: u64,
}

/// What a tool answered: its structured content, or the body of its error.
pub(super) type Answer = Result<Value, Value>;

impl Player {
    pub(super) fn new(url: &str, token: &str) -> Result<Self, Trouble> {
        let client = Client::new(url, Some(token))?;
        Ok(Self { client, sessions: BTreeMap::new(), next_id: 0 })
    }

    /// Calls a tool by its bare name, as a client that mounts the toolset sees it.
    pub(super) async fn call(
        &mut self,
        toolset: &str,
        tool: &str,
        arguments: Value,
    ) -> Result<Answer, Trouble> {
        let params = json!({ "name": tool, "arguments": arguments });
        let mut result = self.request(&format!("/mcp/{toolset}"), "tools/call", params).await?;
        let content = result["structuredContent"].take();
        Ok(if result["isError"] == true { Err(content) } else { Ok(content) })
    }

    /// The names of all tools that the server shows us.
    pub(super) async fn tools(&mut self) -> Result<Vec<String>, Trouble> {
        let list = self.request("/mcp", "tools/list", json!({})).await?;
        let tools = list["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect())
    }

    async fn request(&mut self, path: &str, method: &str, params: Value) -> Result<Value, Trouble> {
        if !self.sessions.contains_key(path) {
            self.open(path).await?;
        }
        Ok(self.send(path, method, params).await?.0)
    }

    /// Shakes hands, as the older era begins.
    async fn open(&mut self, path: &str) -> Result<(), Trouble> {
        let params = json!({
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": { "name": "adjutant-demo", "version": env!("CARGO_PKG_VERSION") },
        });
        let (_, session) = self.send(path, "initialize", params).await?;
        self.sessions.insert(path.to_owned(), session);
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let response = self
            .client
            .send(Method::POST, path, self.headers(path), ready.to_string().into())
            .await?;
        self.client.collect(response).await?;
        Ok(())
    }

    fn headers(&self, path: &str) -> HeaderMap {
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        let mut headers = HeaderMap::from_iter([(ACCEPT, accept), (CONTENT_TYPE, JSON)]);
        if let Some(session) = self.sessions.get(path) {
            headers.insert("mcp-protocol-version", HeaderValue::from_static(VERSION));
            if let Some(id) = session {
                headers.insert(SESSION, id.clone());
            }
        }
        headers
    }

    async fn send(
        &mut self,
        path: &str,
        method: &str,
        params: Value,
    ) -> Result<(Value, Option<HeaderValue>), Trouble> {
        self.next_id += 1;
        let id = self.next_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let response = self
            .client
            .send(Method::POST, path, self.headers(path), request.to_string().into())
            .await?;
        let session = response.headers().get(SESSION).cloned();
        let (status, bytes) = self.client.collect(response).await?;
        let text = String::from_utf8_lossy(&bytes);
        let answer = messages(&text).find(|message| message["id"] == id);
        match answer {
            Some(mut message) if message["error"].is_null() => {
                Ok((message["result"].take(), session))
            }
            Some(message) => Err(odd(format!("{method} at {path}: {}", message["error"]))),
            None => Err(odd(format!("{method} at {path} was answered with {status}: {text}"))),
        }
    }
}

/// The messages of an answer: one as JSON, or several as events.
fn messages(text: &str) -> impl Iterator<Item = Value> {
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    std::iter::once(text).chain(events).filter_map(|text| serde_json::from_str(text.trim()).ok())
}

/// Something is not as it should be.
pub(super) fn odd(message: impl Into<String>) -> Trouble {
    Trouble::new(engine::Code::ExternalError, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_come_as_one_or_as_events() {
        let one: Vec<Value> = messages(r#"{"id":1}"#).collect();
        assert_eq!(one, [json!({ "id": 1 })]);
        let events = "id: 0\ndata: \n\ndata: {\"method\":\"x\"}\n\ndata: {\"id\":2}\n\n";
        let several: Vec<Value> = messages(events).collect();
        assert_eq!(several, [json!({ "method": "x" }), json!({ "id": 2 })]);
    }
}
