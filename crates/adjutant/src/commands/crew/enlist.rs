//! `adjutant enlist`: an agent that somebody else runs, with its configuration to paste.

use serde_json::{Map, Value};

use super::role;
use crate::app::App;
use crate::cli::EnlistArgs;
use crate::cli_error::Trouble;
use crate::terminal::render::{bold, dim, field, name, plain};

/// Makes an agent and prints what its client needs.
pub(crate) async fn run(app: &App, args: EnlistArgs) -> Result<(), Trouble> {
    let cwd = args.cwd.map(|cwd| {
        let cwd = app.env.cwd.join(cwd);
        cwd.canonicalize().unwrap_or(cwd).display().to_string()
    });
    let given = [
        ("role", Some(args.role)),
        ("task", args.task),
        ("epic", args.epic),
        ("cwd", cwd),
        ("parent", args.parent),
    ];
    let body: Map<String, Value> = given
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.into())))
        .collect();
    let client = app.client().await?;
    let body = Value::Object(body);
    let answer = client
        .post_json("/api/agents", &body)
        .await
        .map_err(|error| role::explained(app, error.into(), body["role"].as_str()))?;
    Ok(app.render.answer(&answer, || text(&answer))?)
}

fn text(answer: &Value) -> String {
    let [agent, token, url] = ["agentId", "token", "url"].map(|key| field(answer, key));
    format!(
        "\
{} is enlisted. Its token is shown once and kept by nobody:

  {token}

{}
Save this as mcp.json and start `claude --mcp-config mcp.json`:

{}
{}
Put this into ~/.codex/config.toml:

{}
{}
In that window `adjutant tool …` acts as the agent after:

export ADJUTANT_URL={url} ADJUTANT_AGENT_ID={agent} \\
  ADJUTANT_TOKEN={token}

End it with {}",
        bold(&agent),
        dim("── Claude Code ──"),
        claude(&answer["mcpConfig"]["mcpServers"]),
        dim("── Codex ──"),
        plain(answer["codexConfig"].as_str().unwrap_or_default()),
        dim("── Any shell ──"),
        name(format!("adjutant discharge {agent}")),
    )
}

/// Claude Code's configuration with a server a line.
fn claude(servers: &Value) -> String {
    let servers: Vec<String> = servers
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, server)| format!("  {}: {server}", Value::from(name.as_str())))
        .collect();
    format!("{{\"mcpServers\": {{\n{}\n}}}}\n", servers.join(",\n"))
}
