//! `adjutant reviews` and `adjutant review`: what waits to be looked at, and what a person decides.

mod decide;
mod story;

use serde_json::{Value, json};

use super::merge_queue::{abbreviated, places, under};
use crate::app::{App, now, query};
use crate::cli::{ReviewVerb, ReviewsArgs};
use crate::cli_error::Trouble;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{
    Page, ago, bad, bold, count, dim, field, good, line, name, odd, short,
};

/// Uncommitted files and overlaps listed.
const NAMED: usize = 5;

/// Does what was asked.
pub(crate) async fn run(app: &App, verb: ReviewVerb) -> Result<(), Trouble> {
    match verb {
        ReviewVerb::Show { name } => story::show(app, &name).await,
        ReviewVerb::Approve { tasks } => decide::approve(app, &tasks).await,
        ReviewVerb::RequestChanges { task, feedback } => {
            decide::request_changes(app, &task, feedback).await
        }
        ReviewVerb::Abandon { agent, reason } => decide::abandon(app, &agent, reason).await,
        ReviewVerb::AllowMore { agent, more } => decide::allow_more(app, &agent, more).await,
    }
}

/// Lists what waits for whom.
pub(crate) async fn list(app: &App, args: &ReviewsArgs) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let tasks = waiting(&mut steady).await?;
    let (mut reviews, mut limited, mut after) = (Vec::new(), Vec::new(), None);
    loop {
        let cursor = after.map(|after: i64| after.to_string());
        let all = args.all.then(|| "true".to_owned());
        let mut page =
            steady.get(&query("/api/reviews", [("all", all), ("after", cursor)])).await?;
        for (key, rows) in [("reviews", &mut reviews), ("limited", &mut limited)] {
            if let Value::Array(more) = page[key].take() {
                rows.extend(more);
            }
        }
        after = page["nextCursor"].as_i64();
        if after.is_none() {
            break;
        }
    }
    let value = json!({ "tasks": tasks, "reviews": reviews, "limited": limited });
    Ok(app.render.answer(&value, || shown(&value, args))?)
}

/// The tasks that wait for approval.
async fn waiting(steady: &mut Steady<'_>) -> Result<Vec<Value>, Trouble> {
    let (mut tasks, mut cursor) = (Vec::new(), None);
    loop {
        let path = query("/api/tasks/review-queue", [("cursor", cursor)]);
        let mut page = steady.get(&path).await?;
        if let Value::Array(more) = page["tasks"].take() {
            tasks.extend(more);
        }
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return Ok(tasks);
        }
    }
}

fn shown(found: &Value, args: &ReviewsArgs) -> String {
    let of = |key: &str| found[key].as_array().map(Vec::as_slice).unwrap_or_default();
    let (tasks, reviews, limited) = (of("tasks"), of("reviews"), of("limited"));
    if tasks.is_empty() && reviews.is_empty() && limited.is_empty() {
        let more = if args.all { "" } else { "; `adjutant reviews --all` lists what was" };
        return format!(
            "Nothing waits to be looked at{more}.\n\
             A coder asks for a review with the tool {}; the work on a task\n\
             of an epic waits for your approval when it is done.",
            name("request_review")
        );
    }
    let mut page = Page::default();
    if !tasks.is_empty() {
        page.line(bold("Waiting for approval"));
        for task in tasks {
            task_told(&mut page, task);
        }
        let [yes, no] = ["approve TASK", "request-changes TASK TEXT"]
            .map(|rest| name(format!("adjutant review {rest}")));
        page.line(format_args!("{yes}, or {no}\n"));
    }
    if !reviews.is_empty() {
        page.line(bold(if args.all { "Reviews" } else { "Open reviews" }));
        for review in reviews {
            review_told(&mut page, review);
        }
        page.line("");
    }
    if !limited.is_empty() {
        page.line(bold("Agents at their review limit"));
        for coder in limited {
            coder_told(&mut page, coder);
        }
    }
    page.into_text()
}

/// A task that waits for approval, with what git says of it.
fn task_told(page: &mut Page, task: &Value) {
    let [number, slug, title] = ["number", "slug", "title"].map(|key| field(task, key));
    page.line(format_args!("  {} {}  {}", bold(number), short(&slug, 30), short(&title, 34)));
    let who = field(task, "assignedAgentId");
    if task["branch"].is_null() {
        page.line(format_args!("    by {who}, without a branch of its own"));
    } else {
        let [branch, target] = ["branch", "target"].map(|key| field(task, key));
        page.line(format_args!("    {branch} {} {target}", dim("→")));
        let files = task["changedFiles"].as_u64().and_then(|files| usize::try_from(files).ok());
        let [added, removed] = ["additions", "deletions"].map(|key| field(task, key));
        let fits = match task["mergesCleanly"].as_bool() {
            Some(true) => good("merges cleanly"),
            Some(false) => bad("does not merge"),
            None => odd("unknown whether it merges"),
        };
        let changed = count(files.unwrap_or_default(), "file");
        page.line(format_args!("    by {who}: +{added} -{removed} in {changed}, {fits}"));
    }
    for place in places(&task["conflicts"]) {
        page.line(format_args!("      {place}"));
    }
    let left = names(&task["uncommitted"]);
    if !left.is_empty() {
        set_in(page, &format!("not committed, and no part of it: {left}"));
    }
    for other in task["overlaps"].as_array().into_iter().flatten().take(NAMED) {
        let mut told = format!("overlaps {} in {}", field(other, "slug"), names(&other["files"]));
        let conflicts = places(&other["conflicts"]);
        if !conflicts.is_empty() {
            told = format!("{told}; after it, {} would not fit", conflicts.join(", "));
        }
        set_in(page, &told);
    }
    set_in(page, task["problem"].as_str().unwrap_or_default());
    if let Some(url) = task["pullRequest"]["url"].as_str() {
        page.line(format_args!("    {}", line(url)));
    }
}

/// A text two steps in.
fn set_in(page: &mut Page, text: &str) {
    let mut lines = Page::default();
    under(&mut lines, text);
    for line in lines.into_text().lines() {
        page.line(format_args!("  {line}"));
    }
}

/// The first few items of a list, on a line.
fn names(list: &Value) -> String {
    let all = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let first = all.iter().take(NAMED).map(|item| line(item.as_str().unwrap_or_default()));
    let more = (all.len() > NAMED).then(|| format!("and {} more", all.len() - NAMED));
    first.chain(more).collect::<Vec<_>>().join(", ")
}

/// State of a review, one word.
fn state_of(review: &Value) -> String {
    let state = field(review, "state");
    match (state.as_str(), review["feedback"]["type"].as_str()) {
        ("feedback", Some("needs_work")) => bad("needs work"),
        ("feedback", Some(kind)) => odd(line(kind)),
        ("approved", _) => good("approved"),
        ("timed_out", _) => bad("took too long"),
        ("silent", _) => bad("came to nothing"),
        ("undone", _) => dim("was not done"),
        _ => odd(&state),
    }
}

/// A review in a few lines.
fn review_told(page: &mut Page, review: &Value) {
    let [coder, reviewer] = ["coderId", "reviewerId"].map(|key| field(review, key));
    page.line(format_args!("  {} by {reviewer}, {}", bold(coder), times(review)));
    let commit = abbreviated(review["commit"].as_str().unwrap_or_default());
    let open = review["endedAt"].is_null();
    let when = if open {
        format!("for {}", ago(&review["createdAt"], now()))
    } else {
        format!("{} ago", ago(&review["endedAt"], now()))
    };
    page.line(format_args!("    {} at {commit}", field(review, "branch")));
    let task = review["taskSlug"]
        .as_str()
        .map_or_else(String::new, |slug| format!(", {}", short(slug, 40)));
    page.line(format_args!("    {} {when}{task}", state_of(review)));
    if let Some(session) = review["tmuxSession"].as_str().filter(|_| open) {
        let watch = name(format!("tmux attach -t {}", line(session)));
        page.line(format_args!("    watch it with {watch}"));
    }
    if let Some(commit) = review["feedback"]["commit"].as_str() {
        page.line(format_args!(
            "    {}",
            dim(format!("its feedback came by {}", abbreviated(commit)))
        ));
    }
    if let Some(url) = review["pullRequest"]["url"].as_str() {
        page.line(format_args!("    {}", line(url)));
    }
}

/// Number of the review and the limit.
fn times(review: &Value) -> String {
    format!("{} of {}", field(review, "iteration"), field(review, "maxIterations"))
}

/// A coder that has had all its reviews, and what can be done.
fn coder_told(page: &mut Page, coder: &Value) {
    let [id, role, had] = ["coderId", "role", "iterations"].map(|key| field(coder, key));
    let task = coder["taskSlug"]
        .as_str()
        .map_or_else(String::new, |slug| format!(", {}", short(slug, 30)));
    page.line(format_args!(
        "  {}  {}{task}: had {had} of {}",
        bold(id),
        short(&role, 16),
        field(coder, "maxIterations")
    ));
    suggested(page, coder);
}

/// Advice for a coder at its review limit.
fn suggested(page: &mut Page, coder: &Value) {
    for advice in coder["suggestions"].as_array().into_iter().flatten() {
        page.line(format_args!("    - {}", line(advice.as_str().unwrap_or_default())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(review: &Value) -> String {
        let mut page = Page::default();
        review_told(&mut page, review);
        anstream::adapter::strip_str(&page.into_text()).to_string()
    }

    #[test]
    fn only_an_open_review_can_be_watched() {
        let mut review = json!({
            "coderId": "sp_1", "reviewerId": "sp_2", "state": "open", "iteration": 2,
            "maxIterations": 3, "branch": "b", "commit": "c", "tmuxSession": "sp_2",
            "createdAt": "2026-01-01T00:00:00.000Z", "endedAt": null,
        });
        let open = told(&review);
        assert!(open.starts_with("  sp_1 by sp_2, 2 of 3\n"), "{open}");
        assert!(open.contains("watch it with tmux attach -t sp_2\n"), "{open}");
        review["endedAt"] = json!("2026-01-01T00:00:01.000Z");
        assert!(!told(&review).contains("tmux"));
    }

    #[test]
    fn only_the_first_few_names_of_many_are_told() {
        assert_eq!(names(&json!(["a", "b"])), "a, b");
        assert_eq!(names(&json!(["a", "b", "c", "d", "e", "f", "g"])), "a, b, c, d, e, and 2 more");
        assert_eq!(names(&Value::Null), "");
    }
}
