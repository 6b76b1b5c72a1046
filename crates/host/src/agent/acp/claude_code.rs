//! What an agent that runs Claude Code is asked for beyond the protocol, and what it tells beyond it.

use serde_json::{Value, json};

use crate::agent::Event;
use crate::agent::claude::retry;
use crate::agent::credentials::Refusals;

/// Adds the options of such an agent to the request that opens its session. It retries in silence unless it is asked
/// to tell, and starts whatever the `.mcp.json` where it works names unless it keeps to the servers it is given.
pub(super) fn add_options(params: &mut Value, hello: &Value) {
    if !hello["agentCapabilities"]["_meta"]["claudeCode"].is_object() {
        return;
    }
    let retries = json!([{ "type": "system", "subtype": "api_retry" }]);
    let options = json!({ "strictMcpConfig": true });
    params["_meta"] =
        json!({ "claudeCode": { "emitRawSDKMessages": retries, "options": options } });
}

/// Event of a line of its Claude Code.
pub(super) fn event(method: &str, params: &Value, refusals: &mut Refusals) -> Option<Event> {
    retry_in(method, params).map(|retry| retry::event(retry, refusals))
}

/// A line that says why it tries again, for people.
pub(super) fn retry_words(method: &str, params: &Value) -> Option<String> {
    retry_in(method, params).map(retry::words)
}

fn retry_in<'a>(method: &str, params: &'a Value) -> Option<&'a Value> {
    let message = &params["message"];
    (method == "_claude/sdkMessage" && message["subtype"] == "api_retry").then_some(message)
}
