//! `adjutant review show`: all reviews of one agent's work.

use wire::reviews::{FeedbackView, ReviewStory, ReviewView};

use super::work::{Detail, ReviewedWork};
use super::{add_suggestions, iteration_of, state_of};
use crate::app::{App, escaped, now};
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::commands::delivery::merge_queue::{abbreviated, under};
use crate::commands::reconnect::Steady;
use crate::terminal::render::{Page, age, bold, dim, line, name, quoted};

/// Shows an agent's work and its reviews.
pub(super) async fn show(app: &App, named: &str, detail: Detail) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let path = format!("/api/reviews/{}", escaped(named));
    let story: Answer<ReviewStory> = steady.fetch(&path).await?;
    let work = ReviewedWork::of(&mut steady, &story.coder, detail).await?;
    let value = work.with_story(&story)?;
    Ok(app.render.answer(&value, || work.text(&story_text(&story), &story.missing_variables))?)
}

fn story_text(story: &ReviewStory) -> String {
    let mut page = Page::default();
    let coder = &story.coder;
    let role = line(&coder.role);
    page.line(format_args!("{} {role}  {}", bold(coder.coder_id), coder.instance_status));
    if let Some(task) = &coder.task_slug {
        page.line(format_args!("  task     {}", line(task)));
    }
    page.line(format_args!("  reviews  {} of {}", coder.iterations, coder.max_iterations));
    let (failures, limit) = (coder.failures, coder.abandon_after);
    page.line(format_args!("  failed   {failures}; with {limit} it is abandoned"));
    if let Some(pull) = &story.pull_request {
        page.line(format_args!("  pull     {} ({})", line(&pull.url), pull.state));
    }
    for review in &story.reviews {
        add_review(&mut page, review);
    }
    if story.reviews.is_empty() {
        page.line("\nNo reviews yet.");
        if coder.state.outcome().is_none() {
            let tool = name("request_review");
            page.line(format_args!("The agent requests one with the tool {tool}"));
        }
    }
    if !coder.suggestions.is_empty() {
        page.line(format_args!("\n{}", bold("It is at its review limit")));
        add_suggestions(&mut page, coder);
    }
    page.into_text()
}

fn add_review(page: &mut Page, review: &ReviewView) {
    let requested = format!("asked for {} ago", age(review.created_at, now()));
    let head = bold(format!("Review {}", iteration_of(review)));
    page.line(format_args!("\n{head}  {}  {}", state_of(review), dim(requested)));
    let (branch, commit) = (line(&review.branch), abbreviated(&review.commit));
    page.line(format_args!("  by {} of {branch} at {commit}", review.reviewer_id));
    if let Some(message) = &review.message {
        page.line("  The author says:");
        page.text(&quoted(message));
    }
    if let Some(feedback) = &review.feedback {
        add_feedback(page, feedback);
    }
}

fn add_feedback(page: &mut Page, feedback: &FeedbackView) {
    let priority = feedback.priority;
    let priority = priority.map_or_else(String::new, |how| format!(", priority {how}"));
    page.line(format_args!("  The reviewer says ({}{priority}):", feedback.kind));
    page.text(&quoted(&feedback.body));
    for item in &feedback.items {
        under(page, &format!("- {item}"));
    }
    let delivery = match &feedback.commit {
        Some(commit) => format!("it came by the commit {}", abbreviated(commit)),
        None => "it came by mail, and is merged when the author's worktree is ready".to_owned(),
    };
    page.line(format_args!("  {}", dim(delivery)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_agents_wrote_cannot_steer_a_terminal() {
        let story: ReviewStory = serde_json::from_value(json!({
            "coderId": "sp_0000000000000001", "role": "coder\u{1b}[2J", "state": "running",
            "instanceStatus": "STARTED", "taskSlug": "t\u{1b}]0;x\u{7}", "task": null,
            "branch": null, "reviewedAt": null, "iterations": 1, "maxIterations": 3,
            "failures": 1, "abandonAfter": 5,
            "reviews": [{
                "coderId": "sp_0000000000000001", "coderRole": "coder", "reviewerId": "sp_0000000000000002",
                "reviewerRole": null, "taskSlug": null, "task": null, "iteration": 1, "maxIterations": 3,
                "state": "feedback", "failed": true, "branch": "b\u{202e}", "commit": "abc",
                "message": "look\u{1b}[31m", "instanceStatus": "STARTED", "tmuxSession": null,
                "createdAt": "2026-01-01T00:00:00.000Z", "endedAt": null,
                "feedback": {
                    "id": "fb_0000000000000001", "type": "needs_work", "priority": "high",
                    "body": "no\u{1b}[1m\r\nno", "items": ["first\u{7}"], "commit": null,
                    "createdAt": "2026-01-01T00:00:00.000Z",
                },
            }],
        }))
        .unwrap();
        let text = story_text(&story);
        let bare = anstream::adapter::strip_str(&text).to_string();
        assert!(bare.chars().all(|c| c == '\n' || !c.is_control()), "{bare:?}");
        assert!(!bare.contains('\u{202e}'), "{bare:?}");
        for word in ["Review 1 of 3", "needs work", "- first", "it came by mail", "    no\n"] {
            assert!(bare.contains(word), "{word}: {bare}");
        }
    }
}
