//! Checks the demonstration against the record.

use std::time::Duration;

use model::{AgentId, AgentStateName, TaskStateName};
use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;
use wire::agents::OutputPlace;
use wire::audit::{AuditCalls, ChainVerificationView};
use wire::reviews::{ReviewView, Reviews};
use wire::runs::{AgentOutput, OutputStream};
use wire::tasks::TaskLines;
use wire::worktrees::{Agreement, Worktrees};

use super::story::{DemoAgent, Story};
use crate::app::{call_tool, query};
use crate::cli_error::CliError;
use crate::client::{Answer, Client, all_rows};
use crate::terminal::render::{bad, count, dollars, good, wrapped};

/// Expected outcome of each agent.
const EXPECTED_ENDS: [(&str, AgentStateName); 9] = [
    ("lead", AgentStateName::Succeeded),
    ("writer", AgentStateName::Succeeded),
    ("reviewer", AgentStateName::Succeeded),
    ("reviewer 2", AgentStateName::Succeeded),
    ("spender", AgentStateName::OverBudget),
    ("clerk", AgentStateName::Succeeded),
    ("runner", AgentStateName::Succeeded),
    ("tester", AgentStateName::Failed),
    ("tester 2", AgentStateName::Succeeded),
];
/// Poll interval for removed worktrees.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Budget of the spender, in dollars.
const SPENDER_CAP: f64 = 0.10;
/// Cost of one step of the spender, in dollars.
const SPENDER_STEP: f64 = 0.03;

/// A claim about the demonstration, and its verdict.
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
pub(super) async fn agreement(client: &Client, deadline: Instant) -> Result<Check, CliError> {
    let what = "git and the record agree: no unneeded worktree is left".to_owned();
    loop {
        let compared: Answer<Agreement> = client.get("/api/worktrees/check").await?;
        let left: Answer<Worktrees> = client.get("/api/worktrees").await?;
        let holds = compared.disagreements.is_empty() && left.worktrees.is_empty();
        if holds || Instant::now() >= deadline {
            return Ok(Check { what, holds });
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Reads the server's record.
pub(super) async fn record(
    client: &Client,
    story: &Story,
    crew: &[DemoAgent],
) -> Result<Vec<Check>, CliError> {
    Ok(vec![
        ends(crew),
        retried(client).await?,
        reviewed(client).await?,
        spent(crew),
        lines(client, crew).await?,
        calls(client, story).await?,
    ])
}

fn ends(crew: &[DemoAgent]) -> Check {
    let mut wrong = Vec::new();
    for (name, state) in EXPECTED_ENDS {
        let found = crew.iter().find(|agent| agent.name == name).map(|agent| agent.state);
        if found != Some(state) {
            let is = found.map_or("absent", AgentStateName::stored);
            wrong.push(format!("{name} should be {state} and is {is}"));
        }
    }
    let holds = wrong.is_empty() && crew.len() == EXPECTED_ENDS.len();
    let what = format!("every one of {} ended as it should", count(crew.len(), "agent"));
    Check { what: if holds { what } else { format!("{what}: {}", wrong.join(", ")) }, holds }
}

async fn retried(client: &Client) -> Result<Check, CliError> {
    let listed: Answer<TaskLines> =
        call_tool(client, "mcp__harness__list_tasks", &json!({})).await?;
    let task = listed.tasks.iter().find(|task| task.description == "Test the greeting");
    let holds =
        task.is_some_and(|task| task.state == TaskStateName::Completed && task.dispatch_count == 2);
    let what = "the task that failed was tried by a second agent, and is completed".to_owned();
    Ok(Check { what, holds })
}

async fn reviewed(client: &Client) -> Result<Check, CliError> {
    let listed: Answer<Reviews> = client.get("/api/reviews?all=true").await?;
    let has_commit = |review: &ReviewView| {
        review.feedback.as_ref().is_some_and(|feedback| feedback.commit.is_some())
    };
    let holds = listed.reviews.len() == 2 && listed.reviews.iter().all(has_commit);
    let what = "the writing was reviewed twice, and each time the feedback came by a commit".into();
    Ok(Check { what, holds })
}

fn spent(crew: &[DemoAgent]) -> Check {
    let spender = crew.iter().find(|agent| agent.name == "spender");
    let cost = spender.and_then(|agent| agent.cost_usd);
    let sum = cost.map_or_else(|| "an unknown sum".to_owned(), dollars);
    let limit = format!("its ${SPENDER_CAP:.2} and one step of ${SPENDER_STEP:.2}");
    let is_within = |cost| (SPENDER_CAP..SPENDER_CAP + SPENDER_STEP).contains(&cost);
    Check {
        what: format!("the spender was stopped at {sum}: within {limit}"),
        holds: cost.is_some_and(is_within),
    }
}

/// Checks the output: every agent numbers its lines, as `3/5 …`. An agent that was stopped printed fewer, and none
/// printed one twice.
async fn lines(client: &Client, crew: &[DemoAgent]) -> Result<Check, CliError> {
    let (mut total, mut wrong) = (0, Vec::new());
    for agent in crew {
        let output = output(client, agent.id).await?;
        let reported: Vec<(usize, usize)> =
            output.iter().filter_map(|line| numbered(line)).collect();
        let in_order = reported.iter().enumerate().all(|(at, (number, _))| *number == at + 1);
        let whole = reported.last().is_some_and(|(number, of)| number == of);
        let is_stopped = agent.state == AgentStateName::OverBudget;
        total += reported.len();
        if reported.is_empty() || !in_order || !(whole || is_stopped) {
            wrong.push(agent.name.as_str());
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

/// Reads an agent's standard output.
async fn output(client: &Client, agent: AgentId) -> Result<Vec<String>, CliError> {
    let (mut lines, mut place) = (Vec::new(), OutputPlace { segment: 0, offset: 0 });
    loop {
        let path = query(
            &format!("/api/agents/{agent}/output"),
            [
                ("segment", Some(place.segment.to_string())),
                ("offset", Some(place.offset.to_string())),
            ],
        );
        let page: Answer<AgentOutput> = client.get(&path).await?;
        let page = page.into_value();
        if page.lines.is_empty() {
            return Ok(lines);
        }
        let out = page.lines.into_iter().filter(|line| line.stream == OutputStream::Out);
        lines.extend(out.map(|line| line.text));
        place = page.next;
    }
}

/// Checks that the audit record is complete and intact.
async fn calls(client: &Client, story: &Story) -> Result<Check, CliError> {
    let rows = all_rows::<AuditCalls, CliError>(async |after| {
        let limit = ("limit", Some("1000".to_owned()));
        Ok(client.get(&query("/api/audit", [("after", after), limit])).await?)
    })
    .await?;
    let shows = |id: &String| rows.iter().any(|row| row.body.contains(id.as_str()));
    let refused = rows.iter().filter(|row| row.code.as_deref() == Some("PERMISSION_DENIED"));
    let refused = refused.count();
    let verified: Answer<ChainVerificationView> = client.get("/api/audit/verify").await?;
    let holds = story.made().iter().all(shows) && refused == 1 && verified.ok;
    let rows = count(rows.len(), "call");
    let what = format!("every call is recorded, the refused one too; the chain of {rows} holds");
    Ok(Check { what, holds })
}
