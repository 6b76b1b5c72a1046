//! `adjutant down`: the end of the server, and what becomes of its agents.

use std::collections::HashSet;
use std::time::Duration;

use engine::Code;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::app::{App, escaped};
use crate::cli::DownArgs;
use crate::cli_error::Trouble;
use crate::client::Client;
use crate::commands::crew::agents::live;
use crate::commands::crew::run::{kill_all, many};
use crate::server_process::connect::{self, Where};
use crate::server_process::{self, Down, Patience};
use crate::terminal::progress::Progress;
use crate::terminal::render::{count, dim, field, name};

/// Timeout for asking a server about its agents; one that hangs is ended anyway.
const ASK: Duration = Duration::from_secs(5);
/// Rounds of ending agents that were started meanwhile.
const ROUNDS: usize = 5;

/// Stops the server, unless agents run that nobody decided about.
pub(crate) async fn run(app: &App, args: &DownArgs) -> Result<(), Trouble> {
    let at = Where { url_override: None, ..app.place(&[])? };
    let left = match settle(app, &at, args).await? {
        Some(agents) => agents.len(),
        None => 0,
    };
    let ended = server_process::down(&at, &at.lock, Patience::default()).await?;
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
async fn settle(app: &App, at: &Where, args: &DownArgs) -> Result<Option<Vec<Value>>, Trouble> {
    let Some(client) = connect::locate(at)? else { return Ok(None) };
    for _ in 0..ROUNDS {
        let Ok(answer) = timeout(ASK, live(&client)).await else { return Ok(None) };
        let agents: Vec<Value> = match answer {
            Ok(agents) => agents.into_iter().filter(|agent| agent["kind"] != "enlisted").collect(),
            // Nobody listens: whatever runs goes on.
            Err(trouble) if trouble.is_no_server() => return Ok(None),
            Err(trouble) => return Err(trouble),
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
            client.post_json(&path, &json!({ "now": true })).await?;
        }
        let who = count(agents.len(), "agent");
        app.render.aside(&dim(format!("Ending {who} first.")))?;
        let roots = roots(&agents);
        let progress = Progress::steps(app, "ending agents", many(&roots));
        for killed in kill_all(app, &roots, progress).await {
            killed?;
        }
    }
    Err(Trouble::new(Code::Conflict, "new agents start as fast as others are killed")
        .hint("first kill the agent that starts them"))
}

/// Those that are ended with nobody above them.
fn roots(agents: &[Value]) -> Vec<String> {
    let ids: HashSet<&str> = agents.iter().filter_map(|agent| agent["id"].as_str()).collect();
    let is_root =
        |agent: &&Value| agent["parentId"].as_str().is_none_or(|parent| !ids.contains(parent));
    agents.iter().filter(is_root).map(|agent| field(agent, "id")).collect()
}

fn refusal(agents: &[Value]) -> Trouble {
    const MOST: usize = 5;
    let who = agents.iter().take(MOST).map(|agent| {
        let [id, role] = ["id", "role"].map(|key| field(agent, key));
        format!("{id} ({role})")
    });
    let mut who: Vec<String> = who.collect();
    if agents.len() > MOST {
        who.push(format!("and {} more", agents.len() - MOST));
    }
    let run = if agents.len() == 1 { "runs" } else { "run" };
    let many = count(agents.len(), "agent");
    Trouble::new(Code::Conflict, format!("{many} still {run}: {}", who.join(", ")))
        .hint("`adjutant down --kill` ends them first")
        .hint("`adjutant down --leave` leaves them running; the next server finds them again")
}

/// The loops that run, by name. A server that does not know them has none.
async fn loops(client: &Client) -> Vec<String> {
    let listed = timeout(ASK, client.get_json("/api/loops?limit=1000")).await;
    let Ok(Ok(listed)) = listed else { return Vec::new() };
    let loops = listed["loops"].as_array().into_iter().flatten();
    loops.filter(|one| one["state"] == "running").map(|one| field(one, "name")).collect()
}

/// Loops that have no agent at the moment.
fn between(loops: &[String]) -> Trouble {
    let run = if loops.len() == 1 { "loop still runs" } else { "loops still run" };
    Trouble::new(Code::Conflict, format!("{} {run}: {}", loops.len(), loops.join(", ")))
        .hint("`adjutant down --kill` ends its agents first")
        .hint("`adjutant down --leave` continues it with the next server")
}

/// Says which loops run, too: they start the next agent when one ends.
fn with_loops(trouble: Trouble, loops: &[String]) -> Trouble {
    loops.iter().fold(trouble, |trouble, one| {
        trouble.hint(format!("`adjutant loop pause {one}` pauses the loop that they work for"))
    })
}

/// Says which plans run, too: their agents come again for as long as they do.
async fn with_plans(trouble: Trouble, client: &Client) -> Trouble {
    let plans = timeout(ASK, client.get_json("/api/plans?limit=1000")).await;
    let Ok(Ok(plans)) = plans else { return trouble };
    let runs = plans["plans"].as_array().into_iter().flatten();
    runs.filter(|plan| plan["state"] == "running").fold(trouble, |trouble, plan| {
        let named = field(plan, "name");
        trouble.hint(format!("`adjutant plan stop {named}` stops the plan that they work for"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_without_anybody_above_them_need_to_be_ended() {
        let agent = |id: &str, parent: Option<&str>| json!({ "id": id, "parentId": parent });
        let agents = [agent("a", None), agent("b", Some("a")), agent("c", Some("an enlisted one"))];
        assert_eq!(roots(&agents), ["a", "c"]);
    }

    #[test]
    fn a_long_list_of_agents_is_cut() {
        let agents: Vec<Value> =
            (0..7).map(|n| json!({ "id": format!("sp_{n}"), "role": "coder" })).collect();
        let trouble = refusal(&agents);
        assert!(trouble.message().starts_with("7 agents still run: sp_0 (coder), "));
        assert!(trouble.message().ends_with(", and 2 more"), "{}", trouble.message());
        assert!(refusal(&agents[..1]).message().starts_with("1 agent still runs: "));
    }
}
