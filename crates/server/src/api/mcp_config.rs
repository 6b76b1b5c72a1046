//! Client configuration of a new agent, ready to paste.

use std::fmt::Write as _;

use engine::Caller;
use engine::settings::Settings;
use engine::toolsets::TOOLSETS;
use serde_json::{Map, Value, json};

/// The toolsets in which a caller may use a tool.
pub(super) fn toolsets(caller: &Caller, settings: &Settings) -> Vec<&'static str> {
    let tools = engine::tools_of(settings);
    let usable = |set: &str| {
        tools.iter().any(|tool| tool.toolset() == set && caller.is_offered(settings, tool))
    };
    TOOLSETS.into_iter().filter(|set| usable(set)).collect()
}

/// Configuration in Claude Code's form. Each toolset is a server of its own, so that the tools have the
/// names that prompts use: `mcp__mail__send`.
pub(super) fn claude(url: &str, token: &str, toolsets: &[&str]) -> Value {
    let servers: Map<String, Value> = toolsets
        .iter()
        .map(|set| {
            let server = json!({
                "type": "http",
                "url": format!("{url}/mcp/{set}"),
                // Otherwise the tools hide behind a search.
                "alwaysLoad": true,
                "timeout": 600_000,
                "headers": { "Authorization": format!("Bearer {token}") },
            });
            ((*set).to_owned(), server)
        })
        .collect();
    json!({ "mcpServers": servers })
}

/// The same in Codex's form.
pub(super) fn codex(url: &str, token: &str, toolsets: &[&str]) -> String {
    let mut codex = format!("# with ADJUTANT_TOKEN={token} in the environment\n");
    for set in toolsets {
        // Writing to a String cannot fail.
        _ = write!(
            codex,
            "\n[mcp_servers.{set}]\nurl = \"{url}/mcp/{set}\"\n\
             bearer_token_env_var = \"ADJUTANT_TOKEN\"\n\
             default_tools_approval_mode = \"approve\"\ntool_timeout_sec = 600\n"
        );
    }
    codex
}
