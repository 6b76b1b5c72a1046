//! A person's decisions on work: approve, send back, abandon, allow more.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::app::{App, escaped};
use crate::cli_error::Trouble;
use crate::commands::call::tool::text_or_stdin;
use crate::commands::delivery::merge_queue;
use crate::commands::reconnect::Steady;
use crate::terminal::progress::Progress;
use crate::terminal::render::{bold, dim, field, good, line, name, print_text};

/// Poll interval for a merge.
const LOOK: Duration = Duration::from_millis(250);

/// Approves tasks, one after the other, and waits for what comes of each.
pub(super) async fn approve(app: &App, tasks: &[String]) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let (mut results, mut refused, mut sent_back) = (Vec::new(), None, false);
    for task in tasks {
        let result = match approve_one(app, &mut steady, task).await {
            Ok(result) => result,
            // The others may fit all the same; the last refusal is told in the end.
            Err(trouble) => {
                if let Some(before) = refused.replace(trouble) {
                    app.render.trouble(&before)?;
                }
                continue;
            }
        };
        sent_back |= !matches!(result["state"].as_str(), Some("merged" | "completed"));
        if !app.render.is_json() {
            print_text(&outcome(&result))?;
        }
        results.push(result);
    }
    if app.render.is_json() && !results.is_empty() {
        crate::terminal::render::print_json(&json!({ "merges": results }))?;
    }
    match refused {
        Some(trouble) => Err(trouble),
        None if sent_back => Err(Trouble::said(1)),
        None => Ok(()),
    }
}

/// Approves one task, and gives what became of it.
async fn approve_one(app: &App, steady: &mut Steady<'_>, task: &str) -> Result<Value, Trouble> {
    let input = json!({ "taskId": task });
    let answer = steady.call_once("mcp__supervisor__approve_task", &input).await?;
    let Some(merge) = answer["mergeId"].as_str() else {
        // Work without a branch of its own has nothing to be merged.
        return Ok(json!({ "taskId": answer["taskId"], "state": answer["status"] }));
    };
    let path = format!("/api/merge-queue/{}", escaped(merge));
    let mut told = false;
    let progress = Progress::waiting(app, "waiting for the merge");
    loop {
        let merge = steady.get(&path).await?;
        if !matches!(merge["state"].as_str(), Some("queued" | "merging")) {
            return Ok(merge);
        }
        if !told {
            let waiting = format!("{} is approved; waiting for its merge", field(&merge, "slug"));
            progress.aside(|| app.render.aside(&dim(waiting)))?;
            told = true;
        }
        let place =
            merge["position"].as_u64().map(|place| format!(", number {place} in the queue"));
        let [slug, state] = ["slug", "state"].map(|key| field(&merge, key));
        progress.say(&format!("{slug} is {state}{}", place.unwrap_or_default()));
        sleep(LOOK).await;
    }
}

fn outcome(result: &Value) -> String {
    if result["state"] == "completed" {
        let done = good("done; it had no branch to be merged");
        return format!("{}  {done}", bold(field(result, "taskId")));
    }
    merge_queue::told(result)
}

/// Sends a task back.
pub(super) async fn request_changes(
    app: &App,
    task: &str,
    feedback: String,
) -> Result<(), Trouble> {
    let feedback = text_or_stdin(feedback)?;
    let input = json!({ "taskId": task, "feedback": feedback });
    let answer = app.call("mcp__supervisor__request_changes", input).await?;
    Ok(app.render.answer(&answer, || {
        let next = match answer["agentId"].as_str() {
            Some(agent) => format!("{} received the feedback, and continues.", line(agent)),
            None => format!(
                "No agent works on it now; the next one continues from its branch:\n{}",
                name(format!("adjutant draft --role coder --task {} 'Go on'", line(task)))
            ),
        };
        format!("{} is {}.\n{next}", bold(line(task)), good("sent back"))
    })?)
}

/// Gives an agent's work up.
pub(super) async fn abandon(app: &App, agent: &str, reason: Option<String>) -> Result<(), Trouble> {
    let client = app.client().await?;
    let body = reason.map_or_else(|| json!({}), |reason| json!({ "reason": reason }));
    let path = format!("/api/reviews/{}/abandon", escaped(agent));
    let answer = client.post_json(&path, &body).await?;
    Ok(app.render.answer(&answer, || {
        let id = bold(field(&answer, "agentId"));
        let kept = match answer["branch"].as_str() {
            Some(branch) => format!(
                "Its commits stay on {}, uncommitted changes go to a rescue branch:\n{}",
                line(branch),
                name("adjutant worktrees --all")
            ),
            None => dim("It had no worktree of its own."),
        };
        format!("{id} is abandoned.\n{kept}")
    })?)
}

/// Allows an agent more reviews.
pub(super) async fn allow_more(app: &App, agent: &str, more: u32) -> Result<(), Trouble> {
    let client = app.client().await?;
    let path = format!("/api/reviews/{}/allow-more", escaped(agent));
    let answer = client.post_json(&path, &json!({ "more": more })).await?;
    Ok(app.render.answer(&answer, || {
        let [id, had, most, left] =
            ["agentId", "iterations", "maxIterations", "left"].map(|key| field(&answer, key));
        format!("{} may ask for {left} more: it had {had} of {most} reviews.", bold(id))
    })?)
}
