//! `adjutant slack`: the connection to Slack, its threads, and failed messages.

use serde_json::json;
use wire::slack::{RetriedSlackMessages, SlackStatus, SlackThreadView, SlackThreads};

use crate::app::{App, now, query};
use crate::cli::{SlackArgs, SlackVerb};
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::commands::delivery::merge_queue::under;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{
    Page, age, bad, bold, count, counted, dim, good, line, name, odd, shown,
};

/// Shows the status, lists threads, or sends failed messages again.
pub(crate) async fn run(app: &App, args: SlackArgs) -> Result<(), CliError> {
    match args.verb {
        None | Some(SlackVerb::Status) => status(app).await,
        Some(SlackVerb::Threads) => threads(app).await,
        Some(SlackVerb::Retry) => retry(app).await,
    }
}

async fn status(app: &App) -> Result<(), CliError> {
    let answer: Answer<SlackStatus> = app.client().await?.get("/api/slack").await?;
    Ok(app.render.answer(&answer, || status_text(&answer))?)
}

fn status_text(slack: &SlackStatus) -> String {
    let mut page = Page::default();
    if !slack.on {
        page.line(format_args!("{}", bold("Slack is off.")));
        for missing in &slack.missing {
            under(&mut page, missing);
        }
        page.line(format_args!("  {}", dim("See docs/how-to/slack.md to set it up.")));
        return page.into_text();
    }
    match slack.connected_at {
        None => {
            page.line(format_args!("{}", bad("not connected")));
            let problem = slack.problem.as_deref();
            under(&mut page, problem.unwrap_or("a connection is being opened"));
        }
        Some(at) => {
            let (team, since) = (bold(shown(&slack.team)), age(at, now()));
            page.line(format_args!("{} to {team} for {since}", good("connected")));
        }
    }
    let mut facts = vec![format!("{} may give orders", count(slack.users.len(), "user"))];
    facts.push(counted(slack.threads, "live thread"));
    if let Some(at) = slack.last_event_at {
        facts.push(format!("last event {} ago", age(at, now())));
    }
    facts.push(format!("{} to be said", slack.waiting));
    page.line(format_args!("  {}", dim(facts.join(", "))));
    if slack.failed > 0 {
        let failed = odd(format!("{} not taken", counted(slack.failed, "message")));
        page.line(format_args!("  {failed}: {}", name("adjutant slack retry")));
        for failure in &slack.failures {
            let (channel, error) = (line(&failure.channel), line(&failure.error));
            under(&mut page, &format!("{channel}: {error} ({})", line(&failure.text)));
        }
    }
    page.into_text()
}

async fn threads(app: &App) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let path = |after| query("/api/slack/threads", [("after", after)]);
    let threads = steady.fetch_all::<SlackThreads>(path).await?;
    Ok(app.render.answer(&json!({ "threads": threads }), || {
        if threads.is_empty() {
            return "No thread yet: write to the app in Slack.".to_owned();
        }
        threads.iter().map(|thread| thread_text(thread)).collect()
    })?)
}

/// A thread, and the agent that works on it.
fn thread_text(thread: &SlackThreadView) -> String {
    let mut page = Page::default();
    let (channel, ts) = (line(&thread.channel), line(&thread.thread));
    let by = dim(format!("by {}", line(&thread.user)));
    let task = thread.task_slug.as_deref().map_or_else(|| dim("no task yet"), line);
    page.line(format_args!("{}  {channel} {ts} {by}", bold(task)));
    let role = thread.role.as_deref().map_or_else(|| "no role yet".to_owned(), line);
    let state = thread.state.as_deref().map(line).unwrap_or_default();
    let agent = thread.agent_id.map(|agent| agent.to_string()).unwrap_or_default();
    let when = dim(format!("{} ago", age(thread.changed_at, now())));
    page.line(format_args!("  {role}  {agent} {state}  {when}"));
    page.into_text()
}

async fn retry(app: &App) -> Result<(), CliError> {
    let client = app.client().await?;
    let answer: Answer<RetriedSlackMessages> = client.post("/api/slack/retry", &json!({})).await?;
    Ok(app.render.answer(&answer, || match answer.retried {
        0 => "No failed messages.".to_owned(),
        retried => format!("Retrying {}.", counted(retried, "message")),
    })?)
}
