//! `adjutant slack`: how it stands, which threads there are, and what is said again.

use serde_json::{Value, json};

use crate::app::{App, now, query};
use crate::cli::{SlackArgs, SlackVerb};
use crate::cli_error::Trouble;
use crate::commands::delivery::merge_queue::under;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{Page, ago, bad, bold, count, dim, field, good, line, name, odd};

/// Shows how it stands, or does something about it.
pub(crate) async fn run(app: &App, args: SlackArgs) -> Result<(), Trouble> {
    match args.verb {
        None | Some(SlackVerb::Status) => status(app).await,
        Some(SlackVerb::Threads) => threads(app).await,
        Some(SlackVerb::Retry) => retry(app).await,
    }
}

async fn status(app: &App) -> Result<(), Trouble> {
    let answer = app.client().await?.get_json("/api/slack").await?;
    Ok(app.render.answer(&answer, || standing(&answer))?)
}

fn number(value: &Value, key: &str) -> usize {
    usize::try_from(value[key].as_u64().unwrap_or_default()).unwrap_or(0)
}

fn standing(slack: &Value) -> String {
    let mut page = Page::default();
    if slack["on"] != true {
        page.line(format_args!("{}", bold("Slack is off.")));
        for missing in slack["missing"].as_array().into_iter().flatten() {
            under(&mut page, missing.as_str().unwrap_or_default());
        }
        page.line(format_args!("  {}", dim("See docs/how-to/slack.md to set it up.")));
        return page.into_text();
    }
    let team = field(slack, "team");
    if slack["connectedAt"].is_null() {
        page.line(format_args!("{}", bad("not connected")));
        under(&mut page, slack["problem"].as_str().unwrap_or("a connection is being opened"));
    } else {
        let since = ago(&slack["connectedAt"], now());
        page.line(format_args!("{} to {} for {since}", good("connected"), bold(team)));
    }
    let users = slack["users"].as_array().map_or(0, Vec::len);
    let mut facts = vec![format!("{} may give orders", count(users, "user"))];
    facts.push(count(number(slack, "threads"), "live thread"));
    if !slack["lastEventAt"].is_null() {
        facts.push(format!("last event {} ago", ago(&slack["lastEventAt"], now())));
    }
    facts.push(format!("{} to be said", number(slack, "waiting")));
    page.line(format_args!("  {}", dim(facts.join(", "))));
    if number(slack, "failed") > 0 {
        let failed = odd(format!("{} not taken", count(number(slack, "failed"), "message")));
        page.line(format_args!("  {failed}: {}", name("adjutant slack retry")));
        for failure in slack["failures"].as_array().into_iter().flatten() {
            let [channel, error] = ["channel", "error"].map(|key| field(failure, key));
            let text = line(failure["text"].as_str().unwrap_or_default());
            under(&mut page, &format!("{channel}: {error} ({text})"));
        }
    }
    page.into_text()
}

async fn threads(app: &App) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let cursor = after.map(|after: i64| after.to_string());
        let mut page = steady.get(&query("/api/slack/threads", [("after", cursor)])).await?;
        if let Value::Array(more) = page["threads"].take() {
            all.extend(more);
        }
        after = page["nextCursor"].as_i64();
        if after.is_none() {
            break;
        }
    }
    let answer = json!({ "threads": all });
    Ok(app.render.answer(&answer, || {
        if all.is_empty() {
            return "No thread yet: write to the app in Slack.".to_owned();
        }
        all.iter().map(told).collect()
    })?)
}

/// A thread, and who works on it.
fn told(thread: &Value) -> String {
    let mut page = Page::default();
    let [channel, ts, user] = ["channel", "thread", "user"].map(|key| field(thread, key));
    let task = thread["taskSlug"].as_str().map_or_else(|| dim("no task yet"), line);
    page.line(format_args!("{}  {channel} {ts} {}", bold(task), dim(format!("by {user}"))));
    let role = thread["role"].as_str().map_or_else(|| "no role yet".to_owned(), line);
    let state = thread["state"].as_str().map(line).unwrap_or_default();
    let agent = thread["agentId"].as_str().map(line).unwrap_or_default();
    let when = ago(&thread["changedAt"], now());
    page.line(format_args!("  {role}  {agent} {state}  {}", dim(format!("{when} ago"))));
    page.into_text()
}

async fn retry(app: &App) -> Result<(), Trouble> {
    let answer = app.client().await?.post_json("/api/slack/retry", &json!({})).await?;
    Ok(app.render.answer(&answer, || match number(&answer, "retried") {
        0 => "No failed messages.".to_owned(),
        1 => "Retrying 1 message.".to_owned(),
        many => format!("Retrying {many} messages."),
    })?)
}
