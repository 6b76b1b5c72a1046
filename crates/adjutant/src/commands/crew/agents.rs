//! `adjutant ps` and `adjutant discharge`.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use model::{AgentId, Timestamp};
use serde_json::{Value, json};
use tokio::time::sleep;
use wire::agent_details::{AgentList, AgentView};
use wire::enlist::DischargedAgent;

use crate::app::{App, now, query};
use crate::cli::{DischargeArgs, PsArgs};
use crate::cli_error::CliError;
use crate::client::{Answer, Client, all_rows};
use crate::commands::reconnect::Steady;
use crate::terminal::render::{
    age, cell, dim, dollars, elastic, is_terminal, line, name, print_json, print_text, redraw,
    shown, span,
};

/// Refresh interval.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// Lists the agents.
pub(crate) async fn ps(app: &App, args: &PsArgs) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    if args.watch {
        return watch(app, &mut steady, args).await;
    }
    let agents = listed(&mut steady, args).await?;
    Ok(app.render.answer(&json!({ "agents": agents }), || agent_table(&agents, args))?)
}

/// Shows the list again and again: on a terminal in place, elsewhere when it has changed.
async fn watch(app: &App, steady: &mut Steady<'_>, args: &PsArgs) -> Result<(), CliError> {
    let in_place = is_terminal() && !app.render.is_json();
    let mut before = Value::Null;
    loop {
        let agents = listed(steady, args).await?;
        let answer = json!({ "agents": agents });
        if in_place {
            redraw(&agent_table(&agents, args))?;
        } else if answer != before {
            if app.render.is_json() {
                print_json(&answer)?;
            } else {
                print_text(&format!("{}\n ", agent_table(&agents, args).trim_end()))?;
            }
        }
        before = answer;
        sleep(REFRESH_INTERVAL).await;
    }
}

/// The agents that have not ended.
pub(crate) async fn live(client: &Client) -> Result<Vec<Answer<AgentView>>, CliError> {
    all_rows(async |after| Ok(client.get::<AgentList>(&list_path("false", after)).await?)).await
}

async fn listed(
    steady: &mut Steady<'_>,
    args: &PsArgs,
) -> Result<Vec<Answer<AgentView>>, CliError> {
    let all = if args.all { "true" } else { "false" };
    steady.fetch_all::<AgentList>(|after| list_path(all, after)).await
}

fn list_path(all: &str, after: Option<String>) -> String {
    query("/api/agents", [("all", Some(all.to_owned())), ("after", after)])
}

fn agent_table(agents: &[Answer<AgentView>], args: &PsArgs) -> String {
    if agents.is_empty() {
        let more = if args.all { "" } else { "; `adjutant ps --all` also lists ended agents" };
        let run = name("adjutant run --role coder PROMPT");
        return format!("No agents{more}.\nStart one with {run}");
    }
    let now = now();
    let row = |branch: Branch<'_>| {
        let agent = branch.agent;
        [
            format!("{}{}", "  ".repeat(branch.depth), agent.id),
            cell(&agent.role, 12),
            agent.state.to_string(),
            shown(&agent.task_slug),
            elapsed(Some(agent.started_at), agent.finished_at, now),
            agent.cost_usd.map_or_else(|| "-".to_owned(), dollars),
        ]
    };
    let headings = ["ID", "ROLE", "STATE", "TASK", "TIME", "COST"];
    let views: Vec<&AgentView> = agents.iter().map(|agent| &**agent).collect();
    let mut text = elastic(headings, tree(&views).into_iter().map(row), "TASK");
    for agent in views {
        if let Some(reason) = &agent.reason {
            text = format!("{}\n{} {}\n", text.trim_end(), agent.id, line(reason));
        }
    }
    text
}

/// An agent in the tree.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Branch<'a> {
    /// Number of ancestors that are in the list
    depth: usize,
    agent: &'a AgentView,
}

/// The agents with their children below them. One whose parent is not in the list is a root.
fn tree<'a>(agents: &[&'a AgentView]) -> Vec<Branch<'a>> {
    let ids: HashSet<AgentId> = agents.iter().map(|agent| agent.id).collect();
    let mut below: BTreeMap<Option<AgentId>, Vec<&AgentView>> = BTreeMap::new();
    for agent in agents {
        let parent = agent.parent_id.filter(|parent| ids.contains(parent));
        below.entry(parent).or_default().push(agent);
    }
    let roots = below.remove(&None).unwrap_or_default().into_iter().rev();
    let mut left: Vec<Branch<'_>> = roots.map(|agent| Branch { depth: 0, agent }).collect();
    let mut tree = Vec::with_capacity(agents.len());
    while let Some(branch) = left.pop() {
        tree.push(branch);
        let depth = branch.depth + 1;
        let children = below.remove(&Some(branch.agent.id)).unwrap_or_default();
        left.extend(children.into_iter().rev().map(|agent| Branch { depth, agent }));
    }
    tree
}

/// Running time.
pub(crate) fn elapsed(
    started: Option<Timestamp>,
    finished: Option<Timestamp>,
    now: Timestamp,
) -> String {
    match (started, finished) {
        (Some(started), Some(finished)) => span(finished.millis_since(started)),
        (Some(started), None) => age(started, now),
        (None, _) => "-".to_owned(),
    }
}

/// Ends an enlisted agent.
pub(crate) async fn discharge(app: &App, args: DischargeArgs) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    // The server knows which agents are enlisted.
    let agent = match args.agent.as_str() {
        "last" => args.agent,
        named => steady.agent(named).await?.to_string(),
    };
    let path = format!("/api/agents/{agent}/discharge");
    let body = args.reason.map_or_else(|| json!({}), |reason| json!({ "reason": reason }));
    let ended = steady.client().post::<DischargedAgent>(&path, &body).await?;
    Ok(app.render.answer(&ended, || {
        let freed = dim("Its token is revoked, its tasks are free.");
        format!("{} has ended ({}). {freed}", ended.agent_id, ended.state)
    })?)
}

#[cfg(test)]
mod tests {
    use model::AgentStateName;

    use super::*;

    #[test]
    fn children_stand_below_their_parents() {
        let agent = |number: u64, parent: Option<u64>| AgentView {
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
        };
        let agents = [
            agent(1, None),
            agent(2, None),
            agent(11, Some(1)),
            agent(9, Some(8)),
            agent(12, Some(1)),
            agent(111, Some(11)),
        ];
        let found = tree(&agents.iter().collect::<Vec<_>>());
        let found: Vec<(usize, AgentId)> =
            found.into_iter().map(|branch| (branch.depth, branch.agent.id)).collect();
        let expected = [(0, 1), (1, 11), (2, 111), (1, 12), (0, 2), (0, 9)];
        assert_eq!(found, expected.map(|(depth, id)| (depth, AgentId::from_bits(id))));
    }
}
