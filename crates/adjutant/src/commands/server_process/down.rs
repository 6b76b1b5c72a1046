//! `adjutant down`: stops the server, and ends its agents or leaves them running.

use std::collections::HashSet;
use std::time::Duration;

use engine::Code;
use model::session::LoopState;
use model::{AgentId, PlanState};
use serde_json::json;
use tokio::time::timeout;
use wire::agent_details::AgentView;
use wire::loops::{LoopList, LoopView};
use wire::plans::Plans;
use wire::server::{ServerHealth, ServerRole};

use crate::app::{App, escaped};
use crate::cli::DownArgs;
use crate::cli_error::CliError;
use crate::client::{Answer, Client, ClientError};
use crate::commands::crew::agents::live;
use crate::commands::crew::run::{kill_all, many};
use crate::commands::progress::Progress;
use crate::server_process::connect::{self, ServerLocation};
use crate::server_process::{self, Down, StopTimeouts};
use crate::terminal::render::{count, dim, line, name};

/// Time limit for asking a server about its agents; one that hangs is ended anyway.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of rounds of ending agents that were started meanwhile.
const MAX_ROUNDS: usize = 5;
/// Maximum number of agents named in a refusal.
const MAX_NAMED: usize = 5;

/// Stops the server, unless agents run that nobody decided about.
pub(crate) async fn run(app: &App, args: &DownArgs) -> Result<(), CliError> {
    let at = ServerLocation { url_override: None, ..app.place(&[])? };
    let left = match settle(app, &at, args).await? {
        Some(agents) => agents.len(),
        None => 0,
    };
    let ended = server_process::down(&at, &at.lock, StopTimeouts::default()).await?;
    let (how, server) = match &ended {
        Down::NotRunning => ("not_running", None),
        Down::Asked(server) => ("asked", Some(server)),
        Down::Terminated(server) => ("terminated", Some(server)),
        Down::Killed(server) => ("killed", Some(server)),
    };
    let value = json!({ "stopped": server.is_some(), "how": how, "server": server, "left": left });
    Ok(app.render.answer(&value, || {
        let text = match &ended {
            Down::NotRunning => "No server is running.".to_owned(),
            Down::Asked(server) => format!("The server {} has stopped.", server.shown()),
            Down::Terminated(server) => {
                format!("The server {} did not answer; a signal stopped it.", server.shown())
            }
            Down::Killed(server) => {
                format!("The server {} did not stop when asked; it was killed.", server.shown())
            }
        };
        if left == 0 {
            return text;
        }
        let (who, up) = (count(left, "agent"), name("adjutant up --detach"));
        format!("{text}\n{} {up}", dim(format!("Still running: {who}. Reconnect with")))
    })?)
}

/// Decides about the agents that run: says who is left, or nothing where the server cannot say.
async fn settle(
    app: &App,
    at: &ServerLocation,
    args: &DownArgs,
) -> Result<Option<Vec<AgentView>>, CliError> {
    let Some(client) = connect::locate(at)? else { return Ok(None) };
    if !owns_its_agents(&client).await {
        return Ok(None);
    }
    for _ in 0..MAX_ROUNDS {
        let Ok(answer) = timeout(ANSWER_TIMEOUT, live(&client)).await else { return Ok(None) };
        let agents: Vec<AgentView> = match answer {
            Ok(agents) => {
                let agents = agents.into_iter().map(Answer::into_value);
                agents.filter(|agent| agent.kind != "enlisted").collect()
            }
            // Nobody listens: whatever runs goes on.
            Err(cli_error) if cli_error.is_no_server() => return Ok(None),
            Err(cli_error) => return Err(cli_error),
        };
        let loops = if args.leave { Vec::new() } else { loops(&client).await };
        if agents.is_empty() && loops.is_empty() || args.leave {
            return Ok(Some(agents));
        }
        if !args.kill {
            let refusal = if agents.is_empty() { between(&loops) } else { refusal(&agents) };
            return Err(with_plans(with_loops(refusal, &loops), &client).await);
        }
        for one in &loops {
            let path = format!("/api/loops/{}/pause", escaped(one));
            client.post::<LoopView>(&path, &json!({ "now": true })).await?;
        }
        let who = count(agents.len(), "agent");
        app.render.aside(&dim(format!("Ending {who} first.")))?;
        let roots = roots(&agents);
        let progress = Progress::steps(app, "ending agents", many(&roots));
        for killed in kill_all(app, &roots, progress).await {
            killed?;
        }
    }
    Err(CliError::new(Code::Conflict, "new agents start as fast as others are killed")
        .hint("first kill the agent that starts them"))
}

/// False for a server of a home in PostgreSQL that does not answer for it now: the agents are the owner's.
async fn owns_its_agents(client: &Client) -> bool {
    match timeout(ANSWER_TIMEOUT, client.get::<ServerHealth>("/healthz")).await {
        Ok(Ok(health)) => matches!(health.role, None | Some(ServerRole::Owner)),
        Ok(Err(ClientError::Api { error, .. })) => !error.is_no_owner(),
        Ok(Err(_)) | Err(_) => true,
    }
}

/// Those that are ended with nobody above them.
fn roots(agents: &[AgentView]) -> Vec<AgentId> {
    let ids: HashSet<AgentId> = agents.iter().map(|agent| agent.id).collect();
    let is_root = |agent: &&AgentView| agent.parent_id.is_none_or(|parent| !ids.contains(&parent));
    agents.iter().filter(is_root).map(|agent| agent.id).collect()
}

fn refusal(agents: &[AgentView]) -> CliError {
    let who =
        agents.iter().take(MAX_NAMED).map(|agent| format!("{} ({})", agent.id, line(&agent.role)));
    let mut who: Vec<String> = who.collect();
    if agents.len() > MAX_NAMED {
        who.push(format!("and {} more", agents.len() - MAX_NAMED));
    }
    let run = if agents.len() == 1 { "runs" } else { "run" };
    let many = count(agents.len(), "agent");
    CliError::new(Code::Conflict, format!("{many} still {run}: {}", who.join(", ")))
        .hint("`adjutant down --kill` ends them first")
        .hint("`adjutant down --leave` leaves them running; the next server finds them again")
}

/// The loops that run, by name. A server that does not know them has none.
async fn loops(client: &Client) -> Vec<String> {
    let listed = timeout(ANSWER_TIMEOUT, client.get::<LoopList>("/api/loops?limit=1000")).await;
    let Ok(Ok(listed)) = listed else { return Vec::new() };
    let running = listed.loops.iter().filter(|one| one.state == LoopState::Running);
    running.map(|one| line(&one.name)).collect()
}

/// Loops that have no agent at the moment.
fn between(loops: &[String]) -> CliError {
    let run = if loops.len() == 1 { "loop still runs" } else { "loops still run" };
    CliError::new(Code::Conflict, format!("{} {run}: {}", loops.len(), loops.join(", ")))
        .hint("`adjutant down --kill` ends its agents first")
        .hint("`adjutant down --leave` continues it with the next server")
}

/// Says which loops run, too: they start the next agent when one ends.
fn with_loops(cli_error: CliError, loops: &[String]) -> CliError {
    loops.iter().fold(cli_error, |cli_error, one| {
        cli_error.hint(format!("`adjutant loop pause {one}` pauses the loop that they work for"))
    })
}

/// Says which plans run, too: their agents come again for as long as they do.
async fn with_plans(cli_error: CliError, client: &Client) -> CliError {
    let plans = timeout(ANSWER_TIMEOUT, client.get::<Plans>("/api/plans?limit=1000")).await;
    let Ok(Ok(listed)) = plans else { return cli_error };
    let running = listed.plans.iter().filter(|plan| plan.state == PlanState::Running);
    running.fold(cli_error, |cli_error, plan| {
        let named = line(&plan.name);
        cli_error.hint(format!("`adjutant plan stop {named}` stops the plan that they work for"))
    })
}

#[cfg(test)]
mod tests {
    use model::{AgentStateName, Timestamp};

    use super::*;

    fn agent(number: u64, parent: Option<u64>) -> AgentView {
        AgentView {
            id: AgentId::from_bits(number),
            role: "coder".to_owned(),
            category: "worker".to_owned(),
            kind: "claude".to_owned(),
            state: AgentStateName::Running,
            reason: None,
            summary: None,
            model: None,
            task_slug: None,
            parent_id: parent.map(AgentId::from_bits),
            depth: 0,
            started_at: Timestamp::from_millis(0),
            finished_at: None,
            cost_usd: None,
        }
    }

    #[test]
    fn only_those_without_anybody_above_them_need_to_be_ended() {
        // The parent of the last is enlisted, and so not in the list.
        let agents = [agent(1, None), agent(2, Some(1)), agent(3, Some(9))];
        assert_eq!(roots(&agents), [1, 3].map(AgentId::from_bits));
    }

    #[test]
    fn a_long_list_of_agents_is_cut() {
        let agents: Vec<AgentView> = (0..7).map(|number| agent(number, None)).collect();
        let cli_error = refusal(&agents);
        assert!(
            cli_error.message().starts_with("7 agents still run: sp_0000000000000000 (coder), ")
        );
        assert!(cli_error.message().ends_with(", and 2 more"), "{}", cli_error.message());
        assert!(refusal(&agents[..1]).message().starts_with("1 agent still runs: "));
    }
}
