//! `adjutant merge-queue`: approved work on its way into branches.

use model::review::MergeState;
use serde_json::json;
use wire::merges::{ConflictView, MergeView, Merges, WatchedMerge};

use crate::app::{App, escaped, now, query};
use crate::cli::{MergeQueueArgs, MergeQueueVerb};
use crate::cli_error::CliError;
use crate::client::{Answer, Client, ClientError, ListPage};
use crate::commands::crew::environment;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{
    Page, age, bad, bold, dim, good, line, name, odd, quoted, short, wrapped,
};

/// Width of text below a heading.
const TEXT_WIDTH: usize = 76;
/// Lines of a check's output shown.
const MAX_OUTPUT_LINES: usize = 20;

/// Selection of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Only open ones
    Open,
    /// Ended ones too
    All,
}

impl Rows {
    /// Message for an empty list.
    pub(crate) const fn or_else(self, more: &str) -> &str {
        match self {
            Self::Open => more,
            Self::All => "",
        }
    }
}

/// Lists the queue, or puts something back into it.
pub(crate) async fn run(app: &App, args: MergeQueueArgs) -> Result<(), CliError> {
    match args.verb {
        None => list(app, if args.all { Rows::All } else { Rows::Open }).await,
        Some(MergeQueueVerb::Retry { merge }) => retry(app, &merge).await,
    }
}

/// Puts a held merge back into the queue.
pub(super) async fn put_back(
    client: &Client,
    merge: &str,
) -> Result<Answer<WatchedMerge>, ClientError> {
    client.post(&format!("/api/merge-queue/{}/retry", escaped(merge)), &json!({})).await
}

async fn list(app: &App, rows: Rows) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let merges = read_rows::<Merges>(&mut steady, "/api/merge-queue", rows).await?;
    let value = json!({ "merges": merges });
    Ok(app.render.answer(&value, || {
        if merges.is_empty() {
            let more = rows.or_else("; `adjutant merge-queue --all` lists what was");
            let how = name("adjutant review approve TASK");
            return format!("Nothing to merge{more}.\nApprove work in review with {how}");
        }
        merges.iter().map(|merge| summary(merge) + "\n").collect()
    })?)
}

async fn retry(app: &App, merge: &str) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let path = format!("/api/merge-queue/{}", escaped(merge));
    let held = steady.fetch::<WatchedMerge>(&path).await?;
    let task = held.merge.task_id.to_string();
    environment::hand_on_to_check(app, steady.client(), &task).await?;
    let answer = put_back(steady.client(), merge).await?;
    Ok(app.render.answer(&answer, || {
        let look = name("adjutant merge-queue");
        format!("{} is queued again.\nCheck its state with {look}", bold(answer.merge.id))
    })?)
}

/// Reads every row of a list that is answered page by page.
pub(crate) async fn read_rows<P: ListPage>(
    steady: &mut Steady<'_>,
    path: &str,
    rows: Rows,
) -> Result<Vec<Answer<P::Row>>, CliError> {
    let all = (rows == Rows::All).then(|| "true".to_owned());
    steady.fetch_all::<P>(|after| query(path, [("all", all.clone()), ("after", after)])).await
}

/// One merge: its state, and what keeps it out.
pub(crate) fn summary(merge: &MergeView) -> String {
    let mut page = Page::default();
    let state = match merge.state {
        MergeState::Merged => good("merged"),
        MergeState::SentBack => bad("sent back"),
        MergeState::Held => bad("held"),
        MergeState::Queued | MergeState::Merging => odd(merge.state),
    };
    let place = match merge.position {
        Some(place) => format!(", number {place} in the queue"),
        None => String::new(),
    };
    let number = bold(&merge.number);
    page.line(format_args!("{number} {}  {state}{place}", short(&merge.slug, 40)));
    page.line(format_args!("  {} {} {}", line(&merge.branch), dim("→"), line(&merge.target)));
    let changed = merge.ended_at.unwrap_or(merge.created_at);
    let commit = match &merge.merged_commit {
        Some(commit) => format!(" as {}", abbreviated(commit)),
        None => String::new(),
    };
    let when = format!("{}{commit}, {} ago", merge.id, age(changed, now()));
    page.line(format_args!("  {}", dim(when)));
    under(&mut page, merge.reason.as_deref().unwrap_or_default());
    for place in places(&merge.conflicts) {
        page.line(format_args!("    {place}"));
    }
    for file in &merge.files {
        page.line(format_args!("    {}", line(file)));
    }
    for (program, output) in [("set-up", &merge.setup_output), ("check", &merge.check_output)] {
        let Some(output) = output.as_deref().filter(|output| !output.trim().is_empty()) else {
            continue;
        };
        let lines: Vec<&str> = output.lines().collect();
        let last = lines.get(lines.len().saturating_sub(MAX_OUTPUT_LINES)..).unwrap_or_default();
        page.line(dim(format!("  The {program} ended with:")));
        page.text(&quoted(&last.join("\n")));
    }
    if merge.state == MergeState::SentBack {
        let again = format!("adjutant run --role ROLE --task {} 'Go on'", merge.number);
        page.line(dim("  Its author has this by mail. If it has ended, another goes on with:"));
        page.line(format_args!("  {}", name(again)));
    }
    if merge.state == MergeState::Held {
        let again = format!("adjutant merge-queue retry {}", merge.id);
        page.line(format_args!("  {} {}", dim("When you have fixed this:"), name(again)));
    }
    page.into_text()
}

/// Says which variables a check would lack that the shell of the author's person had; nothing where it lacks none.
pub(crate) fn lacking(missing: &[String]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let names: Vec<String> = missing.iter().map(|name| format!("`{}`", line(name))).collect();
    format!(
        "The check needs {} of the shell that started the author, and the server that had it has ended: approve in a \
         shell that has it.",
        names.join(" and ")
    )
}

/// A text under a heading, in lines that fit.
pub(crate) fn under(page: &mut Page, text: &str) {
    for line in wrapped(text, TEXT_WIDTH).iter().filter(|line| !line.is_empty()) {
        page.line(format_args!("  {line}"));
    }
}

/// Conflicts as `file:from-to (kind)`.
pub(crate) fn places(conflicts: &[ConflictView]) -> Vec<String> {
    let place = |conflict: &ConflictView| {
        let ranges = conflict.lines.iter().map(|range| format!("{}-{}", range.from, range.to));
        let lines: Vec<String> = ranges.collect();
        let at = if lines.is_empty() { String::new() } else { format!(":{}", lines.join(",")) };
        format!("{}{at} ({})", line(&conflict.file), line(&conflict.kind))
    };
    conflicts.iter().map(place).collect()
}

/// The beginning of a commit's hash, as people write it.
pub(crate) fn abbreviated(commit: &str) -> String {
    line(commit).chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_is_told_with_its_lines() {
        let conflicts: Vec<ConflictView> = serde_json::from_value(json!([
            { "file": "a.rs", "kind": "content", "lines": [{ "from": 3, "to": 5 }, { "from": 9, "to": 9 }] },
            { "file": "b.bin", "kind": "binary", "lines": [] },
        ]))
        .unwrap();
        assert_eq!(places(&conflicts), ["a.rs:3-5,9-9 (content)", "b.bin (binary)"]);
        assert!(places(&[]).is_empty());
    }

    #[test]
    fn only_the_end_of_a_long_check_is_shown() {
        let output: Vec<String> = (1..=50).map(|n| format!("line {n}")).collect();
        let merge: MergeView = serde_json::from_value(json!({
            "id": "merge_0000000000000001", "taskId": "task_0000000000000001", "slug": "a-task",
            "number": "TAS-1", "title": "A task", "branch": "work", "target": "main",
            "commit": "abc", "mergedCommit": null, "state": "sent_back", "position": null,
            "reason": null, "conflicts": [], "checkOutput": output.join("\n"), "setupOutput": null,
            "files": [],
            "agentId": null, "approvedBy": null, "createdAt": "2026-01-01T00:00:00.000Z",
            "endedAt": null,
        }))
        .unwrap();
        let text = summary(&merge);
        assert!(text.contains("line 50") && text.contains("line 31"), "{text}");
        assert!(!text.contains("line 30"), "{text}");
    }
}
