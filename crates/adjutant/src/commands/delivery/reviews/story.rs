//! `adjutant review show`: all that was said of one agent's work.

use serde_json::Value;

use super::{state_of, suggested, times};
use crate::app::{App, escaped, now};
use crate::cli_error::Trouble;
use crate::commands::delivery::merge_queue::{abbreviated, under};
use crate::commands::reconnect::Steady;
use crate::terminal::render::{Page, ago, bold, dim, field, line, name, quoted};

/// Shows the reviews of an agent's work.
pub(super) async fn show(app: &App, named: &str) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let story = steady.get(&format!("/api/reviews/{}", escaped(named))).await?;
    Ok(app.render.answer(&story, || told(&story))?)
}

fn told(story: &Value) -> String {
    let mut page = Page::default();
    let [coder, role, status] = ["coderId", "role", "instanceStatus"].map(|key| field(story, key));
    page.line(format_args!("{} {role}  {status}", bold(coder)));
    let [had, most, failed, end] =
        ["iterations", "maxIterations", "failures", "abandonAfter"].map(|key| field(story, key));
    if let Some(task) = story["taskSlug"].as_str() {
        page.line(format_args!("  task     {}", line(task)));
    }
    page.line(format_args!("  reviews  {had} of {most}"));
    page.line(format_args!("  failed   {failed}; with {end} it is abandoned"));
    if let Some(url) = story["pullRequest"]["url"].as_str() {
        page.line(format_args!(
            "  pull     {} ({})",
            line(url),
            field(&story["pullRequest"], "state")
        ));
    }
    let reviews = story["reviews"].as_array().map(Vec::as_slice).unwrap_or_default();
    for review in reviews {
        review_told(&mut page, review);
    }
    if reviews.is_empty() {
        let tool = name("request_review");
        page.line(format_args!("\nNo reviews yet. It requests one with the tool {tool}"));
    }
    let advice = story["suggestions"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !advice.is_empty() {
        page.line(format_args!("\n{}", bold("It is at its review limit")));
        suggested(&mut page, story);
    }
    page.into_text()
}

fn review_told(page: &mut Page, review: &Value) {
    let asked = ago(&review["createdAt"], now());
    let head = format!("Review {}", times(review));
    page.line(format_args!(
        "\n{}  {}  {}",
        bold(head),
        state_of(review),
        dim(format!("asked for {asked} ago"))
    ));
    let commit = abbreviated(review["commit"].as_str().unwrap_or_default());
    page.line(format_args!(
        "  by {} of {} at {commit}",
        field(review, "reviewerId"),
        field(review, "branch")
    ));
    if let Some(message) = review["message"].as_str() {
        page.line("  The author says:");
        page.text(&quoted(message));
    }
    let said = &review["feedback"];
    if said.is_null() {
        return;
    }
    let priority = said["priority"]
        .as_str()
        .map_or_else(String::new, |how| format!(", priority {}", line(how)));
    page.line(format_args!("  The reviewer says ({}{priority}):", field(said, "type")));
    page.text(&quoted(said["body"].as_str().unwrap_or_default()));
    for item in said["items"].as_array().into_iter().flatten() {
        under(page, &format!("- {}", item.as_str().unwrap_or_default()));
    }
    let came = match said["commit"].as_str() {
        Some(commit) => format!("it came by the commit {}", abbreviated(commit)),
        None => "it came by mail, and is merged when the author's worktree is ready".to_owned(),
    };
    page.line(format_args!("  {}", dim(came)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_agents_wrote_cannot_steer_a_terminal() {
        let story = json!({
            "coderId": "sp_1", "role": "coder\u{1b}[2J", "instanceStatus": "STARTED",
            "iterations": 1, "maxIterations": 3, "failures": 1, "abandonAfter": 5,
            "taskSlug": "t\u{1b}]0;x\u{7}",
            "reviews": [{
                "iteration": 1, "maxIterations": 3, "state": "feedback", "reviewerId": "sp_2",
                "branch": "b\u{202e}", "commit": "abc", "message": "look\u{1b}[31m",
                "createdAt": "2026-01-01T00:00:00.000Z", "endedAt": null,
                "feedback": {
                    "type": "needs_work", "priority": "high\u{9b}2J", "body": "no\u{1b}[1m\r\nno",
                    "items": ["first\u{7}"], "commit": null,
                },
            }],
        });
        let text = told(&story);
        let bare = anstream::adapter::strip_str(&text).to_string();
        assert!(bare.chars().all(|c| c == '\n' || !c.is_control()), "{bare:?}");
        assert!(!bare.contains('\u{202e}'), "{bare:?}");
        for word in ["Review 1 of 3", "needs work", "- first", "it came by mail", "    no\n"] {
            assert!(bare.contains(word), "{word}: {bare}");
        }
    }
}
