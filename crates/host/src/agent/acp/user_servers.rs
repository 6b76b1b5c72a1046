//! The project's and the user's MCP servers in the request that opens a session. Lines that are said are written down,
//! so secrets stand in them as the names of variables; the supervisor puts the values in.

use serde_json::{Value, json};

use crate::agent::Brief;
use crate::agent::user_servers::{HttpKind, Slots, Transport, UserServer};

/// Servers for `session/new`.
#[derive(Default)]
pub(super) struct SessionServers {
    pub(super) servers: Vec<Value>,
    pub(super) slots: Slots,
    pub(super) warnings: Vec<String>,
}

/// The servers that an agent may use.
pub(super) fn given(brief: &Brief) -> SessionServers {
    let mut given = SessionServers::default();
    for server in &brief.user_servers {
        match entry(server, &mut given.slots) {
            Ok(entry) => given.servers.push(entry),
            Err(why) => given.warnings.push(format!("{why}; it is left out")),
        }
    }
    given
}

fn entry(server: &UserServer, slots: &mut Slots) -> Result<Value, String> {
    let name = &server.name;
    let mut pairs = |pairs: Vec<(String, String)>| -> Vec<Value> {
        let pair = |(name, value): (String, String)| json!({ "name": name, "value": slots.put(&value).placeholder() });
        pairs.into_iter().map(pair).collect()
    };
    Ok(match server.transport()? {
        Transport::Stdio { words, environment } => {
            let environment = pairs(environment);
            let mut words = words.iter().map(|word| whispered(word, slots));
            let command = words.next().unwrap_or_default();
            let arguments: Vec<String> = words.collect();
            json!({ "name": name, "command": command, "args": arguments, "env": environment })
        }
        Transport::Http { kind, url, headers } => {
            let headers = pairs(headers);
            let kind = if kind == HttpKind::Events { "sse" } else { "http" };
            let url = whispered(&url, slots);
            json!({ "type": kind, "name": name, "url": url, "headers": headers })
        }
    })
}

/// A text that takes values of variables stands in the line as one.
fn whispered(text: &str, slots: &mut Slots) -> String {
    if text.contains("${") { slots.put(text).placeholder() } else { text.to_owned() }
}
