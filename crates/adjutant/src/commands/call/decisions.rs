//! `adjutant decisions`.

use serde_json::json;
use wire::decisions::Decision;

use crate::app::{App, now};
use crate::cli::DecisionsArgs;
use crate::cli_error::CliError;
use crate::commands::call::audit::AuditRecord;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{age, bold, dim, line, name, quoted};

/// Shows the newest decisions, oldest of them first.
pub(crate) async fn run(app: &App, args: DecisionsArgs) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let agent = steady.agent_if(args.agent.as_deref()).await?;
    let record = AuditRecord { client: steady.client(), agent, tool: None };
    let is_wanted = |entry: &Decision| args.all || is_logged(entry);
    let decisions = record.newest_decisions(args.limit, is_wanted).await?;
    Ok(app.render.answer(&json!({ "decisions": decisions }), || {
        if decisions.is_empty() {
            return "No decisions yet.".to_owned();
        }
        decisions.iter().map(|decision| decision_text(decision)).collect()
    })?)
}

/// True for an entry that an agent logged; the others are calls.
fn is_logged(entry: &Decision) -> bool {
    !entry.id.starts_with("call-")
}

fn decision_text(decision: &Decision) -> String {
    let author = decision.agent_id.map_or_else(|| "you".to_owned(), |agent| agent.to_string());
    let when = dim(format!("{} ago", age(decision.timestamp, now())));
    let (title, why) = (bold(line(&decision.decision)), quoted(&decision.reasoning));
    format!("{title} {} {when}\n{why}", name(author))
}
