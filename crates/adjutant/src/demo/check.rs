//! Checks the demonstration against the record.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::story::Story;
use crate::app::{call, query};
use crate::cli_error::Trouble;
use crate::client::Client;
use crate::terminal::render::{bad, count, good, money, wrapped};

/// Expected outcome of each agent.
const ENDS: [(&str, &str); 9] = [
    ("lead", "succeeded"),
    ("writer", "succeeded"),
    ("reviewer", "succeeded"),
    ("reviewer 2", "succeeded"),
    ("spender", "over_budget"),
    ("clerk", "succeeded"),
    ("runner", "succeeded"),
    ("tester", "failed"),
    ("tester 2", "succeeded"),
];
/// Poll interval for removed worktrees.
const LOOK: Duration = Duration::from_millis(20);
/// Cap of the spender and cost of its step, in dollars.
const CAP: f64 = 0.10;
const STEP: f64 = 0.03;

/// Something that must be so.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    /// Claim
    pub(super) what: String,
    /// True if it holds
    #[serde(rename = "ok")]
    pub(super) holds: bool,
}

impl Check {
    /// For people.
    pub(super) fn text(&self) -> String {
        let mark = if self.holds { good("✓") } else { bad("✗") };
        format!("{mark} {}", wrapped(&self.what, 78).join("\n  "))
    }
}

/// Checks the agents' commits.
pub(super) fn commits(history: &str) -> Check {
    let all = ["Write the greeting", "Spell it right", "Test the greeting"];
    let holds = all.iter().all(|message| history.lines().filter(|is| is == message).count() == 1);
    let what = "what the writer and the tester committed in worktrees is merged, once each".into();
    Check { what, holds }
}

/// Checks that git and the record agree, once pending work is done.
pub(super) async fn agreement(client: &Client, deadline: Instant) -> Result<Check, Trouble> {
    let what = "git and the record agree: no worktree is left that nobody needs".to_owned();
    loop {
        let found = client.get_json("/api/worktrees/check").await?;
        let left = client.get_json("/api/worktrees").await?;
        let none = |list: &Value| list.as_array().is_some_and(Vec::is_empty);
        let holds = none(&found["disagreements"]) && none(&left["worktrees"]);
        if holds || Instant::now() >= deadline {
            return Ok(Check { what, holds });
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Reads the server's record.
pub(super) async fn record(
    client: &Client,
    story: &Story,
    crew: &[Value],
) -> Result<Vec<Check>, Trouble> {
    Ok(vec![
        ends(crew),
        retried(client).await?,
        reviewed(client).await?,
        spent(crew),
        lines(client, crew).await?,
        calls(client, story).await?,
    ])
}

fn ends(crew: &[Value]) -> Check {
    let mut wrong = Vec::new();
    for (name, state) in ENDS {
        let found = crew.iter().find(|agent| agent["name"] == name);
        if found.is_none_or(|agent| agent["state"] != state) {
            let is = found.map_or(&Value::Null, |agent| &agent["state"]);
            wrong.push(format!("{name} should be {state} and is {is}"));
        }
    }
    let holds = wrong.is_empty() && crew.len() == ENDS.len();
    let what = format!("every one of {} ended as it should", count(crew.len(), "agent"));
    Check { what: if holds { what } else { format!("{what}: {}", wrong.join(", ")) }, holds }
}

async fn retried(client: &Client) -> Result<Check, Trouble> {
    let listed = call(client, "mcp__harness__list_tasks", &json!({}), None).await?;
    let tasks = listed["tasks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let task = tasks.iter().find(|task| task["description"] == "Test the greeting");
    let holds = task.is_some_and(|task| task["state"] == "completed" && task["dispatchCount"] == 2);
    let what = "the task that failed was tried by a second agent, and is completed".to_owned();
    Ok(Check { what, holds })
}

async fn reviewed(client: &Client) -> Result<Check, Trouble> {
    let listed = client.get_json("/api/reviews?all=true").await?;
    let reviews = listed["reviews"].as_array().map(Vec::as_slice).unwrap_or_default();
    let came = |review: &Value| review["feedback"]["commit"].is_string();
    let holds = reviews.len() == 2 && reviews.iter().all(came);
    let what = "the writing was reviewed twice, and each time the feedback came by a commit".into();
    Ok(Check { what, holds })
}

fn spent(crew: &[Value]) -> Check {
    let spender = crew.iter().find(|agent| agent["name"] == "spender");
    let cost = spender.map_or(&Value::Null, |agent| &agent["costUsd"]);
    let within = |cost: f64| (CAP..CAP + STEP).contains(&cost);
    let shown = money(cost).unwrap_or_else(|| "an unknown sum".to_owned());
    Check {
        what: format!(
            "the spender was stopped at {shown}: within its ${CAP:.2} and one step of ${STEP:.2}"
        ),
        holds: cost.as_f64().is_some_and(within),
    }
}

/// Everybody numbers what it says: `3/5 …`. Whoever was stopped said less, and nobody anything twice.
async fn lines(client: &Client, crew: &[Value]) -> Result<Check, Trouble> {
    let (mut total, mut wrong) = (0, Vec::new());
    for agent in crew {
        let output = output(client, agent["id"].as_str().unwrap_or_default()).await?;
        let said: Vec<(usize, usize)> = output.iter().filter_map(|line| numbered(line)).collect();
        let in_order = said.iter().enumerate().all(|(at, (number, _))| *number == at + 1);
        let whole = said.last().is_some_and(|(number, of)| number == of);
        total += said.len();
        if said.is_empty() || !in_order || !(whole || agent["state"] == "over_budget") {
            wrong.push(agent["name"].as_str().unwrap_or_default());
        }
    }
    let what =
        format!("nothing was lost: of {} of output each is there once", count(total, "line"));
    let holds = wrong.is_empty();
    let what = if holds { what } else { format!("{what}; not so of {}", wrong.join(", ")) };
    Ok(Check { what, holds })
}

/// The number of a line, and of how many it is one.
fn numbered(line: &str) -> Option<(usize, usize)> {
    let (number, of) = line.split(' ').next()?.split_once('/')?;
    Some((number.parse().ok()?, of.parse().ok()?))
}

/// Reads an agent's output.
async fn output(client: &Client, agent: &str) -> Result<Vec<String>, Trouble> {
    let (mut lines, mut segment, mut offset) = (Vec::new(), 0, 0);
    loop {
        let place = [("segment", Some(segment)), ("offset", Some(offset))];
        let path = query(
            &format!("/api/agents/{agent}/output"),
            place.map(|(key, at): (_, Option<u64>)| (key, at.map(|at| at.to_string()))),
        );
        let page = client.get_json(&path).await?;
        let found = page["lines"].as_array().map(Vec::as_slice).unwrap_or_default();
        let out = found.iter().filter(|line| line["stream"] == "out");
        lines.extend(out.filter_map(|line| line["text"].as_str().map(str::to_owned)));
        if found.is_empty() {
            return Ok(lines);
        }
        let next = |key: &str| page["next"][key].as_u64().unwrap_or_default();
        (segment, offset) = (next("segment"), next("offset"));
    }
}

/// Checks that the audit record is complete and intact.
async fn calls(client: &Client, story: &Story) -> Result<Check, Trouble> {
    let (mut rows, mut after) = (Vec::new(), Some(0));
    while let Some(from) = after {
        let path = query(
            "/api/audit",
            [("after", Some(from.to_string())), ("limit", Some("1000".to_owned()))],
        );
        let mut page = client.get_json(&path).await?;
        after = page["nextCursor"].as_i64();
        if let Value::Array(more) = page["rows"].take() {
            rows.extend(more);
        }
    }
    let shows = |id: &String| {
        rows.iter().any(|row| row["body"].as_str().is_some_and(|body| body.contains(id.as_str())))
    };
    let refused = rows.iter().filter(|row| row["code"] == "PERMISSION_DENIED").count();
    let verdict = client.get_json("/api/audit/verify").await?;
    let holds = story.made().iter().all(shows) && refused == 1 && verdict["ok"] == true;
    let rows = count(rows.len(), "call");
    let what = format!("every call is recorded, the refused one too; the chain of {rows} holds");
    Ok(Check { what, holds })
}
