//! `adjutant reviews` and `adjutant review`: work that waits for review, and decisions about it.

mod decide;
mod story;
mod work;

use model::review::{FeedbackType, ReviewState};
use serde::Serialize;
use wire::merges::{ReviewDesk, ReviewDeskTask};
use wire::reviews::{CoderView, ReviewView, Reviews};

use self::work::Detail;
use super::merge_queue::{abbreviated, lacking, places, under};
use crate::app::{App, now, query};
use crate::cli::{ReviewVerb, ReviewsArgs};
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{
    Page, age, bad, bold, count, dim, good, line, name, odd, short, shown,
};

/// Maximum number of uncommitted files and overlaps listed.
const MAX_LISTED: usize = 5;

/// Shows or decides a review.
pub(crate) async fn run(app: &App, verb: ReviewVerb) -> Result<(), CliError> {
    match verb {
        ReviewVerb::Show { name, patch } => {
            let detail = if patch { Detail::Patch } else { Detail::Figures };
            story::show(app, &name, detail).await
        }
        ReviewVerb::Approve { tasks, squash, no_squash } => {
            let squash = (squash || no_squash).then_some(squash);
            decide::approve(app, &tasks, squash).await
        }
        ReviewVerb::RequestChanges { task, feedback } => {
            decide::request_changes(app, &task, feedback).await
        }
        ReviewVerb::Abandon { agent, reason } => decide::abandon(app, &agent, reason).await,
        ReviewVerb::AllowMore { agent, more } => decide::allow_more(app, &agent, more).await,
    }
}

/// All work that waits for a review or an approval, as `--json` prints it.
#[derive(Debug, Serialize)]
struct OpenWork {
    tasks: Vec<Answer<ReviewDeskTask>>,
    reviews: Vec<Answer<ReviewView>>,
    limited: Vec<Answer<CoderView>>,
}

/// Lists the work that waits for a review or an approval.
pub(crate) async fn list(app: &App, args: &ReviewsArgs) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let queue = |cursor| query("/api/tasks/review-queue", [("cursor", cursor)]);
    let tasks = steady.fetch_all::<ReviewDesk>(queue).await?;
    let (mut reviews, mut limited, mut after) = (Vec::new(), Vec::new(), None);
    loop {
        let all = args.all.then(|| "true".to_owned());
        let path = query("/api/reviews", [("all", all), ("after", after)]);
        let mut page: Answer<Reviews> = steady.fetch(&path).await?;
        limited.extend(page.take_list("limited", |page| std::mem::take(&mut page.limited)));
        let (rows, next) = page.into_rows();
        reviews.extend(rows);
        after = next;
        if after.is_none() {
            break;
        }
    }
    let work = OpenWork { tasks, reviews, limited };
    Ok(app.render.answer(&work, || work_text(&work, args))?)
}

fn work_text(work: &OpenWork, args: &ReviewsArgs) -> String {
    let OpenWork { tasks, reviews, limited } = work;
    if tasks.is_empty() && reviews.is_empty() && limited.is_empty() {
        let more = if args.all { "" } else { "; `adjutant reviews --all` lists what was" };
        return format!(
            "Nothing waits to be looked at{more}.\n\
             What an agent changes that you start waits here for your approval when it\n\
             is done. A coder can ask for a review before, with the tool {}.",
            name("request_review")
        );
    }
    let mut page = Page::default();
    if !tasks.is_empty() {
        page.line(bold("Waiting for approval"));
        for task in tasks {
            add_task(&mut page, task);
        }
        let [yes, no] = ["approve TASK", "request-changes TASK TEXT"]
            .map(|rest| name(format!("adjutant review {rest}")));
        page.line(format_args!("{yes}, or {no}\n"));
    }
    if !reviews.is_empty() {
        page.line(bold(if args.all { "Reviews" } else { "Open reviews" }));
        for review in reviews {
            add_review(&mut page, review);
        }
        page.line("");
    }
    if !limited.is_empty() {
        page.line(bold("Agents at their review limit"));
        for coder in limited {
            add_coder(&mut page, coder);
        }
    }
    page.into_text()
}

/// A task that waits for approval, with the state of its branch.
fn add_task(page: &mut Page, answer: &ReviewDeskTask) {
    let reviewed = &answer.task;
    let task = &reviewed.task;
    let (slug, title) = (short(&task.slug, 30), short(&task.title, 34));
    page.line(format_args!("  {} {slug}  {title}", bold(&task.number)));
    let author = shown(&task.assigned_agent_id);
    if let Some(branch) = &reviewed.branch {
        let target = reviewed.target.as_deref().map_or_else(|| "-".to_owned(), line);
        page.line(format_args!("    {} {} {target}", line(branch), dim("→")));
        let fits = match reviewed.merges_cleanly {
            Some(true) => good("merges cleanly"),
            Some(false) => bad("does not merge"),
            None => odd("unknown whether it merges"),
        };
        let (added, removed) = (reviewed.additions, reviewed.deletions);
        let files = usize::try_from(reviewed.changed_files).unwrap_or(usize::MAX);
        let changed = count(files, "file");
        page.line(format_args!("    by {author}: +{added} -{removed} in {changed}, {fits}"));
    } else {
        page.line(format_args!("    by {author}, without a branch of its own"));
    }
    if !answer.missing_variables.is_empty() {
        add_indented(page, &lacking(&answer.missing_variables));
    }
    for place in places(&reviewed.conflicts) {
        page.line(format_args!("      {place}"));
    }
    let left = first_names(&reviewed.uncommitted);
    if !left.is_empty() {
        add_indented(page, &format!("not committed, and no part of it: {left}"));
    }
    for other in reviewed.overlaps.iter().take(MAX_LISTED) {
        let files = first_names(&other.files);
        let mut text = format!("overlaps {} in {files}", line(&other.slug));
        let conflicts = places(other.conflicts.as_deref().unwrap_or_default());
        if !conflicts.is_empty() {
            text = format!("{text}; after it, {} would not fit", conflicts.join(", "));
        }
        add_indented(page, &text);
    }
    add_indented(page, reviewed.problem.as_deref().unwrap_or_default());
    if let Some(pull) = &reviewed.pull_request {
        page.line(format_args!("    {}", line(&pull.url)));
    }
}

/// A text two steps in.
fn add_indented(page: &mut Page, text: &str) {
    let mut lines = Page::default();
    under(&mut lines, text);
    for line in lines.into_text().lines() {
        page.line(format_args!("  {line}"));
    }
}

/// The first few names of a list, on a line.
fn first_names(names: &[String]) -> String {
    let first = names.iter().take(MAX_LISTED).map(|name| line(name));
    let left = names.len().saturating_sub(MAX_LISTED);
    let more = (left > 0).then(|| format!("and {left} more"));
    first.chain(more).collect::<Vec<_>>().join(", ")
}

/// State of a review, in a few words.
fn state_of(review: &ReviewView) -> String {
    match (review.state, &review.feedback) {
        (ReviewState::Feedback, Some(feedback)) => match feedback.kind {
            FeedbackType::NeedsWork => bad("needs work"),
            kind => odd(kind),
        },
        (ReviewState::Approved, _) => good("approved"),
        (ReviewState::TimedOut, _) => bad("took too long"),
        (ReviewState::Silent, _) => bad("came to nothing"),
        (ReviewState::Undone, _) => dim("was not done"),
        (state @ (ReviewState::Feedback | ReviewState::Open), _) => odd(state),
    }
}

/// A review in a few lines.
fn add_review(page: &mut Page, review: &ReviewView) {
    let (coder, reviewer) = (bold(review.coder_id), review.reviewer_id);
    page.line(format_args!("  {coder} by {reviewer}, {}", iteration_of(review)));
    let when = match review.ended_at {
        None => format!("for {}", age(review.created_at, now())),
        Some(ended) => format!("{} ago", age(ended, now())),
    };
    page.line(format_args!("    {} at {}", line(&review.branch), abbreviated(&review.commit)));
    let slug = review.task_slug.as_deref();
    let task = slug.map_or_else(String::new, |slug| format!(", {}", short(slug, 40)));
    page.line(format_args!("    {} {when}{task}", state_of(review)));
    if let (Some(session), None) = (&review.tmux_session, review.ended_at) {
        let watch = name(format!("tmux attach -t {}", line(session)));
        page.line(format_args!("    watch it with {watch}"));
    }
    if let Some(commit) = review.feedback.as_ref().and_then(|feedback| feedback.commit.as_ref()) {
        let delivery = format!("its feedback came by {}", abbreviated(commit));
        page.line(format_args!("    {}", dim(delivery)));
    }
    if let Some(pull) = &review.pull_request {
        page.line(format_args!("    {}", line(&pull.url)));
    }
}

/// Number of the review and the limit.
fn iteration_of(review: &ReviewView) -> String {
    format!("{} of {}", review.iteration, review.max_iterations)
}

/// A coder at its review limit, with suggestions.
fn add_coder(page: &mut Page, coder: &CoderView) {
    let (id, role) = (bold(coder.coder_id), short(&coder.role, 16));
    let slug = coder.task_slug.as_deref();
    let task = slug.map_or_else(String::new, |slug| format!(", {}", short(slug, 30)));
    let (had, limit) = (coder.iterations, coder.max_iterations);
    page.line(format_args!("  {id}  {role}{task}: had {had} of {limit}"));
    add_suggestions(page, coder);
}

/// Suggestions for a coder at its review limit.
fn add_suggestions(page: &mut Page, coder: &CoderView) {
    for suggestion in &coder.suggestions {
        page.line(format_args!("    - {}", line(suggestion)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(review: &serde_json::Value) -> String {
        let review: ReviewView = serde_json::from_value(review.clone()).unwrap();
        let mut page = Page::default();
        add_review(&mut page, &review);
        anstream::adapter::strip_str(&page.into_text()).to_string()
    }

    #[test]
    fn only_an_open_review_can_be_watched() {
        let review = |ended: Option<&str>| {
            json!({
                "coderId": "sp_0000000000000001", "coderRole": "coder", "reviewerId": "sp_0000000000000002",
                "reviewerRole": null, "taskSlug": null, "task": null, "iteration": 2, "maxIterations": 3,
                "state": "open", "failed": false, "branch": "b", "commit": "c", "message": null,
                "instanceStatus": "WAITING_REVIEW", "tmuxSession": "sp_2",
                "createdAt": "2026-01-01T00:00:00.000Z", "endedAt": ended,
            })
        };
        let open = told(&review(None));
        let head = "  sp_0000000000000001 by sp_0000000000000002, 2 of 3\n";
        assert!(open.starts_with(head), "{open}");
        assert!(open.contains("watch it with tmux attach -t sp_2\n"), "{open}");
        assert!(!told(&review(Some("2026-01-01T00:00:01.000Z"))).contains("tmux"));
    }

    #[test]
    fn only_the_first_few_names_of_many_are_told() {
        let names =
            |names: &[&str]| -> Vec<String> { names.iter().map(|&n| n.to_owned()).collect() };
        assert_eq!(first_names(&names(&["a", "b"])), "a, b");
        let many = names(&["a", "b", "c", "d", "e", "f", "g"]);
        assert_eq!(first_names(&many), "a, b, c, d, e, and 2 more");
        assert_eq!(first_names(&[]), "");
    }
}
