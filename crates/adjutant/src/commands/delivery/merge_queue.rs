//! `adjutant merge-queue`: approved work on its way into branches.

use serde_json::{Value, json};

use crate::app::{App, escaped, now, query};
use crate::cli::{MergeQueueArgs, MergeQueueVerb};
use crate::cli_error::Trouble;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{
    Page, ago, bad, bold, dim, field, good, line, name, odd, quoted, short, wrapped,
};

/// Width of text below a heading.
const WIDE: usize = 76;
/// Lines of a check's output shown.
const LAST_LINES: usize = 20;

/// Selection of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Those that are not over
    Open,
    /// All there ever were
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
pub(crate) async fn run(app: &App, args: MergeQueueArgs) -> Result<(), Trouble> {
    match args.verb {
        None => list(app, if args.all { Rows::All } else { Rows::Open }).await,
        Some(MergeQueueVerb::Retry { merge }) => retry(app, &merge).await,
    }
}

async fn list(app: &App, rows: Rows) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let merges = pages(&mut steady, ("/api/merge-queue", "merges"), rows).await?;
    let value = json!({ "merges": merges });
    Ok(app.render.answer(&value, || {
        if merges.is_empty() {
            let more = rows.or_else("; `adjutant merge-queue --all` lists what was");
            let how = name("adjutant review approve TASK");
            return format!("Nothing to merge{more}.\nApprove work in review with {how}");
        }
        merges.iter().map(|merge| told(merge) + "\n").collect()
    })?)
}

async fn retry(app: &App, merge: &str) -> Result<(), Trouble> {
    let client = app.client().await?;
    let path = format!("/api/merge-queue/{}/retry", escaped(merge));
    let merge = client.post_json(&path, &json!({})).await?;
    Ok(app.render.answer(&merge, || {
        format!(
            "{} is queued again.\nCheck its state with {}",
            bold(field(&merge, "id")),
            name("adjutant merge-queue")
        )
    })?)
}

/// Every row of a list that comes in pages.
pub(crate) async fn pages(
    steady: &mut Steady<'_>,
    (path, key): (&str, &str),
    which: Rows,
) -> Result<Vec<Value>, Trouble> {
    let (mut rows, mut after) = (Vec::new(), None);
    loop {
        let cursor = after.map(|after: i64| after.to_string());
        let all = (which == Rows::All).then(|| "true".to_owned());
        let path = query(path, [("all", all), ("after", cursor)]);
        let mut page = steady.get(&path).await?;
        if let Value::Array(more) = page[key].take() {
            rows.extend(more);
        }
        after = page["nextCursor"].as_i64();
        if after.is_none() {
            return Ok(rows);
        }
    }
}

/// One merge: where it stands, and why it is not in.
pub(crate) fn told(merge: &Value) -> String {
    let mut page = Page::default();
    let state = field(merge, "state");
    let shown = match state.as_str() {
        "merged" => good("merged"),
        "sent_back" => bad("sent back"),
        "held" => bad("held"),
        _ => odd(&state),
    };
    let place = match merge["position"].as_u64() {
        Some(place) => format!(", number {place} in the queue"),
        None => String::new(),
    };
    let [number, slug] = ["number", "slug"].map(|key| field(merge, key));
    page.line(format_args!("{} {}  {shown}{place}", bold(number), short(&slug, 40)));
    let [branch, target] = ["branch", "target"].map(|key| field(merge, key));
    page.line(format_args!("  {branch} {} {target}", dim("→")));
    let ended = if merge["endedAt"].is_null() { &merge["createdAt"] } else { &merge["endedAt"] };
    let commit = match merge["mergedCommit"].as_str() {
        Some(commit) => format!(" as {}", abbreviated(commit)),
        None => String::new(),
    };
    let when = format!("{}{commit}, {} ago", field(merge, "id"), ago(ended, now()));
    page.line(format_args!("  {}", dim(when)));
    under(&mut page, merge["reason"].as_str().unwrap_or_default());
    for place in places(&merge["conflicts"]) {
        page.line(format_args!("    {place}"));
    }
    for file in merge["files"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        page.line(format_args!("    {}", line(file)));
    }
    if let Some(said) = merge["checkOutput"].as_str() {
        let lines: Vec<&str> = said.lines().collect();
        let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
        page.line(dim("  The check ended with:"));
        page.text(&quoted(&last.join("\n")));
    }
    if state == "held" {
        let again = format!("adjutant merge-queue retry {}", field(merge, "id"));
        page.line(format_args!("  {} {}", dim("When you have fixed this:"), name(again)));
    }
    page.into_text()
}

/// A text under a heading, in lines that fit.
pub(crate) fn under(page: &mut Page, text: &str) {
    for line in wrapped(text, WIDE).iter().filter(|line| !line.is_empty()) {
        page.line(format_args!("  {line}"));
    }
}

/// Conflicts as `file:from-to (kind)`.
pub(crate) fn places(conflicts: &Value) -> Vec<String> {
    let place = |conflict: &Value| {
        let lines: Vec<String> = conflict["lines"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|range| format!("{}-{}", field(range, "from"), field(range, "to")))
            .collect();
        let at = if lines.is_empty() { String::new() } else { format!(":{}", lines.join(",")) };
        format!("{}{at} ({})", field(conflict, "file"), field(conflict, "kind"))
    };
    conflicts.as_array().into_iter().flatten().map(place).collect()
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
        let conflicts = json!([
            { "file": "a.rs", "kind": "content", "lines": [{ "from": 3, "to": 5 }, { "from": 9, "to": 9 }] },
            { "file": "b.bin", "kind": "binary", "lines": [] },
        ]);
        assert_eq!(places(&conflicts), ["a.rs:3-5,9-9 (content)", "b.bin (binary)"]);
        assert!(places(&Value::Null).is_empty());
    }

    #[test]
    fn only_the_end_of_a_long_check_is_shown() {
        let said: Vec<String> = (1..=50).map(|n| format!("line {n}")).collect();
        let merge = json!({ "state": "sent_back", "checkOutput": said.join("\n") });
        let text = told(&merge);
        assert!(text.contains("line 50") && text.contains("line 31"), "{text}");
        assert!(!text.contains("line 30"), "{text}");
    }
}
