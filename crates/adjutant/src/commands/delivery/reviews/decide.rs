//! A person's decisions on work: approve, send back, abandon, allow more.

use std::time::Duration;

use model::TaskId;
use model::review::MergeState;
use serde::Serialize;
use serde_json::json;
use tokio::time::sleep;
use wire::merges::{ApprovalStatus, ApprovedTask, WatchedMerge};
use wire::reviews::{AbandonedWork, AllowReviewsRequest, AllowedReviews};
use wire::tasks::ReturnedTask;

use crate::app::{App, escaped};
use crate::cli_error::CliError;
use crate::client::{Answer, Client};
use crate::commands::call::tool::text_or_stdin;
use crate::commands::crew::environment;
use crate::commands::delivery::merge_queue;
use crate::commands::progress::Progress;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{bold, dim, good, line, name, print_json, print_text};

/// Poll interval for a merge.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Outcome of an approval.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ApprovalOutcome {
    /// The work went through the merge queue
    Merge(Box<Answer<WatchedMerge>>),
    /// The work had no branch of its own
    #[serde(rename_all = "camelCase")]
    NoBranch {
        /// The task
        task_id: TaskId,
        /// State after the approval
        state: ApprovalStatus,
    },
}

impl ApprovalOutcome {
    /// Returns true if the task is done.
    fn is_done(&self) -> bool {
        match self {
            Self::Merge(merge) => merge.merge.state == MergeState::Merged,
            Self::NoBranch { state, .. } => {
                matches!(state, ApprovalStatus::Merged | ApprovalStatus::Completed)
            }
        }
    }

    fn summary(&self) -> String {
        match self {
            Self::Merge(merge) => merge_queue::summary(&merge.merge),
            Self::NoBranch { task_id, .. } => {
                format!("{}  {}", bold(task_id), good("done; it had no branch to be merged"))
            }
        }
    }
}

/// Approves tasks, one after the other, and waits for the outcome of each.
pub(super) async fn approve(
    app: &App,
    tasks: &[String],
    squash: Option<bool>,
) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let (mut outcomes, mut refused, mut sent_back) = (Vec::new(), None, false);
    for task in tasks {
        let outcome = match approve_one(app, &mut steady, task, squash).await {
            Ok(outcome) => outcome,
            // The others may fit all the same; the last refusal is reported at the end.
            Err(cli_error) => {
                if let Some(before) = refused.replace(cli_error) {
                    app.render.print_error(&before)?;
                }
                continue;
            }
        };
        sent_back |= !outcome.is_done();
        if !app.render.is_json() {
            print_text(&outcome.summary())?;
        }
        outcomes.push(outcome);
    }
    if app.render.is_json() && !outcomes.is_empty() {
        print_json(&json!({ "merges": outcomes }))?;
    }
    match refused {
        Some(cli_error) => Err(cli_error),
        None if sent_back => Err(CliError::reported(1)),
        None => Ok(()),
    }
}

/// Approves one task, and waits for its merge.
async fn approve_one(
    app: &App,
    steady: &mut Steady<'_>,
    task: &str,
    squash: Option<bool>,
) -> Result<ApprovalOutcome, CliError> {
    let input = json!({ "taskId": task, "squash": squash });
    let hand_on = async |client: &Client| environment::hand_on_to_check(app, client, task).await;
    let mut losses = steady.losses();
    let approved: Answer<ApprovedTask> =
        steady.call_tool_once_prepared("mcp__supervisor__approve_task", &input, &hand_on).await?;
    let Some(merge) = approved.merge_id else {
        return Ok(ApprovalOutcome::NoBranch { task_id: approved.task_id, state: approved.status });
    };
    let path = format!("/api/merge-queue/{merge}");
    let mut is_announced = false;
    let progress = Progress::waiting(app, "waiting for the merge");
    loop {
        let answer: Answer<WatchedMerge> = steady.fetch(&path).await?;
        let merge = &answer.merge;
        if losses != steady.losses() {
            // The server that had this shell's variables has ended, and the next one may have missed them already.
            losses = steady.losses();
            hand_on(steady.client()).await?;
            if merge.state == MergeState::Held && !merge.missing_variables.is_empty() {
                merge_queue::put_back(steady.client(), &merge.id.to_string()).await?;
            }
            continue;
        }
        if !matches!(merge.state, MergeState::Queued | MergeState::Merging) {
            return Ok(ApprovalOutcome::Merge(Box::new(answer)));
        }
        let slug = line(&merge.slug);
        if !is_announced {
            let waiting = format!("{slug} is approved; waiting for its merge");
            progress.aside(|| app.render.aside(&dim(waiting)))?;
            is_announced = true;
        }
        let place = merge.position.map(|place| format!(", number {place} in the queue"));
        progress.say(&format!("{slug} is {}{}", merge.state, place.unwrap_or_default()));
        sleep(POLL_INTERVAL).await;
    }
}

/// Sends a task back.
pub(super) async fn request_changes(
    app: &App,
    task: &str,
    feedback: String,
) -> Result<(), CliError> {
    let feedback = text_or_stdin(feedback)?;
    let input = json!({ "taskId": task, "feedback": feedback });
    let answer: Answer<ReturnedTask> =
        app.call_tool("mcp__supervisor__request_changes", &input).await?;
    Ok(app.render.answer(&answer, || {
        let next = match answer.agent_id {
            Some(agent) => format!("{agent} received the feedback, and continues."),
            None => format!(
                "No agent works on it now; the next one continues from its branch:\n{}",
                name(format!("adjutant draft --role coder --task {} 'Go on'", line(task)))
            ),
        };
        format!("{} is {}.\n{next}", bold(line(task)), good("sent back"))
    })?)
}

/// Gives an agent's work up.
pub(super) async fn abandon(
    app: &App,
    agent: &str,
    reason: Option<String>,
) -> Result<(), CliError> {
    let client = app.client().await?;
    let body = reason.map_or_else(|| json!({}), |reason| json!({ "reason": reason }));
    let path = format!("/api/reviews/{}/abandon", escaped(agent));
    let answer: Answer<AbandonedWork> = client.post(&path, &body).await?;
    Ok(app.render.answer(&answer, || {
        let id = bold(answer.agent_id);
        let kept = match &answer.branch {
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
pub(super) async fn allow_more(app: &App, agent: &str, more: u32) -> Result<(), CliError> {
    let client = app.client().await?;
    let path = format!("/api/reviews/{}/allow-more", escaped(agent));
    let request = AllowReviewsRequest { more: Some(more) };
    let answer: Answer<AllowedReviews> = client.post(&path, &request).await?;
    Ok(app.render.answer(&answer, || {
        let AllowedReviews { agent_id, iterations, max_iterations, left } = &*answer;
        let limit = format!("it had {iterations} of {max_iterations} reviews");
        format!("{} may ask for {left} more: {limit}.", bold(agent_id))
    })?)
}
