//! The project's and the user's MCP servers as settings of Codex.
//!
//! Settings are arguments, which others can see and which are written down. So values of a server's environment and
//! headers go through variables of Codex's own environment. Codex starts servers with few of its variables; a shell puts
//! the values where the server looks for them.

use std::fmt::Write as _;

use serde_json::Value;

use super::MCP_STARTUP_TIMEOUT_SECONDS;
use crate::agent::user_servers::{
    HttpKind, Lookup, Slots, Transport, UserServer, covers_server, expanded, takes_secret,
    tools_of_server,
};
use crate::agent::{Asks, Brief};

/// Settings of the servers, and what of them was left out.
#[derive(Default)]
pub(super) struct ServerSettings {
    pub(super) settings: Vec<String>,
    pub(super) slots: Slots,
    pub(super) warnings: Vec<String>,
}

/// Settings for the servers that an agent may use.
pub(super) fn given(brief: &Brief, seconds: u64, variable: Lookup<'_>) -> ServerSettings {
    let mut given = ServerSettings::default();
    for server in &brief.user_servers {
        let added = permission(brief, &server.name).and_then(|permission| {
            let start = start(server, &mut given.slots, variable)?;
            let table = [start, permission].concat();
            Ok(format!(
                "mcp_servers.{}={{{}, startup_timeout_sec={MCP_STARTUP_TIMEOUT_SECONDS}, tool_timeout_sec={seconds}}}",
                server.name,
                table.join(", ")
            ))
        });
        match added {
            Ok(setting) => given.settings.push(setting),
            Err(why) => given.warnings.push(left_out(&server.name, &why)),
        }
    }
    for name in &brief.own_servers {
        match permission(brief, name) {
            Ok(permission) => given
                .settings
                .extend(permission.iter().map(|line| format!("mcp_servers.{name}.{line}"))),
            Err(why) => {
                given.settings.push(super::user_config::disabled(name));
                given.warnings.push(left_out(name, &why));
            }
        }
    }
    given
}

fn left_out(server: &str, why: &str) -> String {
    format!("it does not have the MCP server `{server}`: {why}")
}

/// What the role allows of a server, as fields of its table.
fn permission(brief: &Brief, server: &str) -> Result<Vec<String>, String> {
    if server.contains('.') {
        return Err("Codex takes no server with a dot in its name".to_owned());
    }
    let names = |list: &[String]| -> Result<Vec<String>, String> {
        let part = |entry: &str| {
            format!(
                "Codex cannot be held to `{entry}`; write `mcp__{server}__*` or the names of its tools"
            )
        };
        let named = tools_of_server(list, server).map(|tool| tool.map_err(part));
        Ok(named.collect::<Result<Vec<_>, _>>()?.into_iter().map(str::to_owned).collect())
    };
    let listed = match &brief.tools {
        None => None,
        Some(list) if covers_server(list, server) => Some(None),
        Some(list) => Some(Some(names(list)?)),
    };
    let mode = match (&listed, brief.asks) {
        (None, Asks::Person) => "prompt",
        _ => "approve",
    };
    let mut fields = vec![format!("default_tools_approval_mode=\"{mode}\"")];
    if let Some(Some(tools)) = listed {
        fields.push(format!("enabled_tools={}", Value::from(tools)));
    }
    let disallowed = names(&brief.disallowed_tools)?;
    if !disallowed.is_empty() {
        fields.push(format!("disabled_tools={}", Value::from(disallowed)));
    }
    Ok(fields)
}

/// How a server is reached, as fields of its table. A JSON string is a TOML string.
fn start(
    server: &UserServer,
    slots: &mut Slots,
    variable: Lookup<'_>,
) -> Result<Vec<String>, String> {
    match server.transport()? {
        Transport::Stdio { words, environment } => {
            let mut names = Vec::new();
            let mut put = |text: &str| {
                let name = slots.put(text).name();
                names.push(name.clone());
                name
            };
            let mut script = String::new();
            for (name, value) in &environment {
                if !is_variable(name) {
                    return Err(format!("`{name}` is not the name of a variable"));
                }
                // Writing to a String cannot fail.
                _ = write!(script, "export {name}=\"${}\"; ", put(value));
            }
            let mut plain = Vec::new();
            let mut run = String::from("exec");
            for word in words {
                if word.contains("${") {
                    _ = write!(run, " \"${}\"", put(&word));
                } else {
                    plain.push(word);
                    _ = write!(run, " \"${{{}}}\"", plain.len());
                }
            }
            if names.is_empty() {
                let mut words = plain.into_iter();
                let command = words.next().unwrap_or_default();
                let arguments: Vec<String> = words.collect();
                return Ok(vec![
                    format!("command={}", Value::from(command)),
                    format!("args={}", Value::from(arguments)),
                ]);
            }
            let arguments = ["-c".to_owned(), script + &run, "sh".to_owned()];
            let arguments: Vec<String> = arguments.into_iter().chain(plain).collect();
            Ok(vec![
                "command=\"sh\"".to_owned(),
                format!("args={}", Value::from(arguments)),
                format!("env_vars={}", Value::from(names)),
            ])
        }
        Transport::Http { kind: HttpKind::Events, .. } => {
            Err("Codex takes no server of type `sse`".to_owned())
        }
        Transport::Http { kind: HttpKind::Streamable, url, headers } => {
            if takes_secret(&url) {
                return Err(
                    "its `url` has a secret in it, which Codex would show in its arguments; \
                            put it into a header"
                        .to_owned(),
                );
            }
            let mut fields = vec![format!("url={}", Value::from(expanded(&url, variable)))];
            let headers: Vec<String> = headers
                .iter()
                .map(|(name, value)| {
                    format!(
                        "{}={}",
                        Value::from(name.as_str()),
                        Value::from(slots.put(value).name())
                    )
                })
                .collect();
            if !headers.is_empty() {
                fields.push(format!("env_http_headers={{{}}}", headers.join(", ")));
            }
            Ok(fields)
        }
    }
}

fn is_variable(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(fits)
}
