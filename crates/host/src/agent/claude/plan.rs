//! Builds Claude Code's command line.

use std::path::Path;

use serde_json::{Value, json};

use super::super::{Brief, McpServer, Plan, TOKEN, UserServer};
use crate::run::Stdin;

/// The MCP configuration's file in the run folder.
pub const MCP_CONFIG: &str = "mcp.json";
/// The program, where the configuration names none.
pub(super) const PROGRAM: &str = "claude";
/// How to install it.
pub(super) const INSTALL: &str = "npm install -g @anthropic-ai/claude-code";
const SYSTEM_PROMPT: &str = "system-prompt.md";

/// Longest time to connect to an MCP server before it starts without it. The server may
/// just be coming back.
const MCP_CONNECT_TIMEOUT_MS: u64 = 60_000;

/// Its own tools that are kept from it unless the role lists them.
///
/// Some start agents that nobody would know of: `Agent` (of old `Task`), `Workflow`,
/// `RemoteTrigger`. `SendMessage` and `ListAgents` reach other sessions of the same user past the
/// mail. `Cron…` and `ScheduleWakeup` start turns for which nobody asked. `…Worktree` takes it out
/// of the directory it was given. The rest asks a person at a terminal, and there is none:
/// `AskUserQuestion`, `…PlanMode`.
pub(super) const DISABLED_TOOLS: [&str; 15] = [
    "Agent",
    "Task",
    "Workflow",
    "RemoteTrigger",
    "SendMessage",
    "ListAgents",
    "CronCreate",
    "CronDelete",
    "CronList",
    "ScheduleWakeup",
    "EnterWorktree",
    "ExitWorktree",
    "AskUserQuestion",
    "EnterPlanMode",
    "ExitPlanMode",
];

/// The MCP configuration in Claude Code's form, for any program that reads it. The token is not in
/// it: it stands in the environment. The users' servers stand in it as they wrote them.
pub fn mcp_config(servers: &[McpServer], users: &[UserServer], call_timeout_ms: u64) -> String {
    let server = |server: &McpServer| {
        let value = json!({
            "type": "http",
            "url": server.url,
            "headers": { "Authorization": format!("Bearer {TOKEN}") },
            // Else its tools are hidden behind a search.
            "alwaysLoad": true,
            "timeout": call_timeout_ms,
        });
        (server.name.clone(), value)
    };
    let users = users.iter().map(|server| (server.name.clone(), server.config.clone()));
    // A server of ours is ours, whatever others call theirs.
    let servers: serde_json::Map<String, Value> = users.chain(servers.iter().map(server)).collect();
    format!("{:#}\n", json!({ "mcpServers": servers }))
}

/// The tools kept from it: those the role names, and [`DISABLED_TOOLS`].
pub(super) fn disallowed(brief: &Brief) -> Vec<String> {
    let listed = |tool: &str| {
        let is_same = |listed: &String| {
            let name = listed.split('(').next().unwrap_or_default().trim();
            // One tool with two names.
            name == tool || (matches!(tool, "Agent" | "Task") && matches!(name, "Agent" | "Task"))
        };
        brief.tools.iter().flatten().any(is_same)
    };
    let kept_back = DISABLED_TOOLS.into_iter().filter(|tool| !listed(tool)).map(str::to_owned);
    brief.disallowed_tools.iter().cloned().chain(kept_back).collect()
}

pub(super) fn plan(brief: &Brief) -> Plan {
    let mut files = vec![(MCP_CONFIG.to_owned(), config(brief))];
    if let Some(prompt) = &brief.system_prompt {
        files.push((SYSTEM_PROMPT.to_owned(), prompt.clone()));
    }
    Plan {
        program: brief.runner.binary.clone().unwrap_or_else(|| PROGRAM.to_owned()),
        install: INSTALL,
        arguments: arguments(brief),
        environment: environment(brief),
        files,
        stdin: Stdin::Open,
        warnings: Vec::new(),
    }
}

fn config(brief: &Brief) -> String {
    mcp_config(&brief.servers, &brief.user_servers, brief.call_timeout_ms)
}

fn arguments(brief: &Brief) -> Vec<String> {
    let mut arguments = brief.runner.arguments.clone();
    arguments.extend(
        [
            "-p",
            "--input-format=stream-json",
            "--output-format=stream-json",
            "--verbose",
            "--include-partial-messages",
            "--permission-prompt-tool=stdio",
            // The mode in a person's settings is for the person's own sessions.
            "--permission-mode=default",
            "--strict-mcp-config",
        ]
        .map(str::to_owned),
    );
    // A value stands in one word with its flag: models and tools may come from an agent, and what
    // begins with a dash must not become a flag.
    let mut flag = |name: &str, value: &str| arguments.push(format!("{name}={value}"));
    let file = |name: &str| path(&brief.run_folder.join(name));
    flag("--mcp-config", &file(MCP_CONFIG));
    let servers = brief.servers.iter().map(|server| format!("mcp__{}", server.name));
    let allowed: Vec<_> = servers.chain(brief.tools.iter().flatten().cloned()).collect();
    if !allowed.is_empty() {
        flag("--allowedTools", &allowed.join(","));
    }
    let disallowed = disallowed(brief);
    if !disallowed.is_empty() {
        flag("--disallowedTools", &disallowed.join(","));
    }
    if let Some(model) = &brief.model {
        flag("--model", model);
    }
    if brief.system_prompt.is_some() {
        flag("--append-system-prompt-file", &file(SYSTEM_PROMPT));
    }
    if let Some(conversation) = &brief.resume {
        flag("--resume", conversation);
    }
    if let Some(schema) = &brief.schema {
        flag("--json-schema", &schema.to_string());
    }
    arguments
}

fn environment(brief: &Brief) -> Vec<(String, String)> {
    let call = brief.call_timeout_ms.to_string();
    [
        ("MCP_TIMEOUT", brief.call_timeout_ms.min(MCP_CONNECT_TIMEOUT_MS).to_string()),
        ("MCP_TOOL_TIMEOUT", call.clone()),
        ("CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT", call),
        ("CLAUDE_CODE_STREAM_CLOSE_TIMEOUT", brief.stream_timeout_ms.to_string()),
        // It talks to its model and to nobody else, and stays the version it is.
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// A path as an argument. Runs are written down as JSON, so theirs are text.
fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
