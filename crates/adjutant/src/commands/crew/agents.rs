//! `adjutant ps` and `adjutant discharge`.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use model::Timestamp;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::app::{App, now, query};
use crate::cli::{DischargeArgs, PsArgs};
use crate::cli_error::Trouble;
use crate::client::Client;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{
    ago, cell, dim, elastic, field, is_terminal, money, name, print_json, print_text, redraw, span,
};

/// Refresh interval.
const LOOK: Duration = Duration::from_secs(1);

/// Lists the agents.
pub(crate) async fn ps(app: &App, args: &PsArgs) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    if args.watch {
        return watch(app, &mut steady, args).await;
    }
    let answer = json!({ "agents": listed(&mut steady, args).await? });
    Ok(app.render.answer(&answer, || shown(&answer, args))?)
}

/// Shows the list again and again: on a terminal in place, elsewhere when it has changed.
async fn watch(app: &App, steady: &mut Steady<'_>, args: &PsArgs) -> Result<(), Trouble> {
    let in_place = is_terminal() && !app.render.is_json();
    let mut before = Value::Null;
    loop {
        let answer = json!({ "agents": listed(steady, args).await? });
        if in_place {
            redraw(&shown(&answer, args))?;
        } else if answer != before {
            if app.render.is_json() {
                print_json(&answer)?;
            } else {
                print_text(&format!("{}\n ", shown(&answer, args).trim_end()))?;
            }
        }
        before = answer;
        sleep(LOOK).await;
    }
}

/// The agents that have not ended.
pub(crate) async fn live(client: &Client) -> Result<Vec<Value>, Trouble> {
    pages("false", async |path| Ok(client.get_json(&path).await?)).await
}

async fn listed(steady: &mut Steady<'_>, args: &PsArgs) -> Result<Vec<Value>, Trouble> {
    let all = if args.all { "true" } else { "false" };
    pages(all, async |path| steady.get(&path).await).await
}

/// Every page of the list.
async fn pages(
    all: &str,
    mut get: impl AsyncFnMut(String) -> Result<Value, Trouble>,
) -> Result<Vec<Value>, Trouble> {
    let (mut agents, mut after) = (Vec::new(), None);
    loop {
        let cursor = after.map(|after: i64| after.to_string());
        let path = query("/api/agents", [("all", Some(all.to_owned())), ("after", cursor)]);
        let mut page = get(path).await?;
        if let Value::Array(more) = page["agents"].take() {
            agents.extend(more);
        }
        after = page["nextCursor"].as_i64();
        if after.is_none() {
            return Ok(agents);
        }
    }
}

fn shown(answer: &Value, args: &PsArgs) -> String {
    let agents = answer["agents"].as_array().map(Vec::as_slice).unwrap_or_default();
    if agents.is_empty() {
        let more = if args.all { "" } else { "; `adjutant ps --all` also lists ended agents" };
        let run = name("adjutant run --role coder PROMPT");
        return format!("No agents{more}.\nStart one with {run}");
    }
    let now = now();
    let row = |(level, agent): (usize, &Value)| {
        [
            format!("{}{}", "  ".repeat(level), field(agent, "id")),
            cell(&field(agent, "role"), 12),
            field(agent, "state"),
            field(agent, "taskSlug"),
            elapsed(agent, now),
            money(&agent["costUsd"]).unwrap_or_else(|| "-".to_owned()),
        ]
    };
    let headings = ["ID", "ROLE", "STATE", "TASK", "TIME", "COST"];
    let mut text = elastic(headings, tree(agents).into_iter().map(row), "TASK");
    for agent in agents.iter().filter(|agent| agent["reason"].is_string()) {
        let note = format!("{} {}", field(agent, "id"), field(agent, "reason"));
        text = format!("{}\n{note}\n", text.trim_end());
    }
    text
}

/// The agents with their children below them, and how deep each is set in. Whose parent is not in
/// the list stands at the margin.
fn tree(agents: &[Value]) -> Vec<(usize, &Value)> {
    let id = |agent: &Value| field(agent, "id");
    let ids: HashSet<String> = agents.iter().map(id).collect();
    let mut below: BTreeMap<Option<String>, Vec<&Value>> = BTreeMap::new();
    for agent in agents {
        let parent = agent["parentId"].as_str().map(str::to_owned);
        below.entry(parent.filter(|parent| ids.contains(parent))).or_default().push(agent);
    }
    let mut left: Vec<(usize, &Value)> =
        below.remove(&None).unwrap_or_default().into_iter().rev().map(|agent| (0, agent)).collect();
    let mut tree = Vec::with_capacity(agents.len());
    while let Some((level, agent)) = left.pop() {
        tree.push((level, agent));
        let children = below.remove(&Some(id(agent))).unwrap_or_default();
        left.extend(children.into_iter().rev().map(|child| (level + 1, child)));
    }
    tree
}

/// Running time.
pub(crate) fn elapsed(agent: &Value, now: Timestamp) -> String {
    let at = |key: &str| agent[key].as_str().and_then(|at| at.parse::<Timestamp>().ok());
    match (at("startedAt"), at("finishedAt")) {
        (Some(began), Some(ended)) => span(ended.millis_since(began)),
        (Some(_), None) => ago(&agent["startedAt"], now),
        (None, _) => "-".to_owned(),
    }
}

/// Ends an agent that somebody else runs.
pub(crate) async fn discharge(app: &App, args: DischargeArgs) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let path = format!("/api/agents/{}/discharge", steady.agent(&args.agent).await?);
    let body = args.reason.map_or_else(|| json!({}), |reason| json!({ "reason": reason }));
    let answer = steady.client().post_json(&path, &body).await?;
    Ok(app.render.answer(&answer, || {
        let [agent, state] = ["agentId", "state"].map(|key| field(&answer, key));
        format!("{agent} has ended ({state}). {}", dim("Its token is revoked, its tasks are free."))
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_stand_below_their_parents() {
        let agent = |id: &str, parent: Option<&str>| json!({ "id": id, "parentId": parent });
        let agents = [
            agent("a", None),
            agent("b", None),
            agent("a1", Some("a")),
            agent("x", Some("gone")),
            agent("a2", Some("a")),
            agent("a11", Some("a1")),
        ];
        let tree: Vec<(usize, String)> =
            tree(&agents).into_iter().map(|(level, agent)| (level, field(agent, "id"))).collect();
        let expected = [(0, "a"), (1, "a1"), (2, "a11"), (1, "a2"), (0, "b"), (0, "x")];
        assert_eq!(tree, expected.map(|(level, id)| (level, id.to_owned())));
    }
}
