//! `adjutant enlist`: registers an agent that runs elsewhere and prints its configuration.

use serde_json::{Map, Value};
use wire::enlist::EnlistedAgent;

use super::role;
use crate::app::App;
use crate::cli::EnlistArgs;
use crate::cli_error::CliError;
use crate::terminal::render::{bold, dim, line, name, plain};

/// Registers an agent and prints its client's configuration.
pub(crate) async fn run(app: &App, args: EnlistArgs) -> Result<(), CliError> {
    let cwd = args.cwd.map(|cwd| {
        let cwd = app.env.cwd.join(cwd);
        cwd.canonicalize().unwrap_or(cwd).display().to_string()
    });
    let given = [
        ("role", Some(args.role.clone())),
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
    let answer = client
        .post::<EnlistedAgent>("/api/agents", &body)
        .await
        .map_err(|error| role::explained(app, error.into(), Some(&args.role)))?;
    Ok(app.render.answer(&answer, || text(&answer))?)
}

fn text(answer: &EnlistedAgent) -> String {
    let (agent, token, url) = (answer.agent_id, line(&answer.token), line(&answer.url));
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
        bold(agent),
        dim("── Claude Code ──"),
        claude(&answer.mcp_config),
        dim("── Codex ──"),
        plain(&answer.codex_config),
        dim("── Any shell ──"),
        name(format!("adjutant discharge {agent}")),
    )
}

/// Claude Code's configuration, a server per line.
fn claude(config: &Value) -> String {
    let servers: Vec<String> = config
        .get("mcpServers")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, server)| format!("  {}: {server}", Value::from(name.as_str())))
        .collect();
    format!("{{\"mcpServers\": {{\n{}\n}}}}\n", servers.join(",\n"))
}
