//! `adjutant decisions`.

use serde_json::{Value, json};

use crate::app::{App, now};
use crate::cli::DecisionsArgs;
use crate::cli_error::Trouble;
use crate::commands::call::audit::Record;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{ago, bold, dim, field, line, name, quoted};

/// Shows the newest decisions, oldest of them first.
pub(crate) async fn run(app: &App, args: DecisionsArgs) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let agent = steady.agent_if(args.agent.as_deref()).await?;
    let record = Record { client: steady.client(), agent, tool: None };
    let wanted = |entry: &Value| args.all || is_written_down(entry);
    let decisions = record.newest_decisions(args.limit, wanted).await?;
    let value = json!({ "decisions": decisions });
    Ok(app.render.answer(&value, || {
        if decisions.is_empty() {
            return "No decisions yet.".to_owned();
        }
        decisions.iter().map(told).collect()
    })?)
}

/// True for an entry that an agent logged.
fn is_written_down(entry: &Value) -> bool {
    entry["id"].as_str().is_some_and(|id| !id.starts_with("call-"))
}

fn told(decision: &Value) -> String {
    let who = decision["agentId"].as_str().map_or_else(|| "you".to_owned(), line);
    let when = ago(&decision["timestamp"], now());
    let head = format!("{} {}", name(who), dim(format!("{when} ago")));
    let why = quoted(decision["reasoning"].as_str().unwrap_or_default());
    format!("{} {head}\n{why}", bold(field(decision, "decision")))
}
