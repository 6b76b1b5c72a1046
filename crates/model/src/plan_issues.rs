//! Issues in a plan: which sections of a document in Markdown are still to be done.

use crate::markdown::{self, Line, field, is_done};

/// An issue that a plan asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedIssue {
    /// The heading
    pub title: String,
    /// Text below the heading
    pub body: String,
    /// Labels of a line `Labels: a, b`
    pub labels: Vec<String>,
}

/// The issues that a plan asks for, in its order. Each section under `##` is one; where there is a heading
/// `## Issues`, only each section under `###` below it. What is marked as done is left out.
pub fn planned_issues(plan: &str) -> Vec<PlannedIssue> {
    let lines: Vec<Line<'_>> = markdown::lines(plan).collect();
    let names = |line: &Line<'_>| line.heading.is_some_and(|(rank, says)| names_issues(rank, says));
    let has_chapter = lines.iter().any(names);
    let own_rank = if has_chapter { 3 } else { 2 };
    let mut inside = !has_chapter;
    let (mut issues, mut open) = (Vec::new(), None);
    for line in lines {
        match line.heading {
            Some((rank, says)) if rank <= own_rank => {
                issues.extend(open.take().map(finished));
                if has_chapter && rank < own_rank {
                    inside = names_issues(rank, says);
                }
                open = (inside && rank == own_rank).then(|| begun(says)).flatten();
            }
            _ => {
                if let Some(issue) = &mut open {
                    add(issue, line);
                }
            }
        }
    }
    issues.extend(open.map(finished));
    issues
}

fn names_issues(rank: usize, says: &str) -> bool {
    rank == 2 && says.trim_end_matches(':').eq_ignore_ascii_case("issues")
}

/// An issue with that heading, unless it is done or says nothing.
fn begun(says: &str) -> Option<PlannedIssue> {
    if is_done(says) {
        return None;
    }
    let says = says.strip_prefix("[ ]").unwrap_or(says);
    let title = says.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then(|| PlannedIssue { title, ..PlannedIssue::default() })
}

fn add(issue: &mut PlannedIssue, line: Line<'_>) {
    let Some(labels) = labels(line.text).filter(|_| !line.is_code) else {
        issue.body.extend([line.text, "\n"]);
        return;
    };
    for label in labels {
        if !issue.labels.iter().any(|known| known == label) {
            issue.labels.push(label.to_owned());
        }
    }
}

fn finished(issue: PlannedIssue) -> PlannedIssue {
    let body = issue.body.trim_end().trim_start_matches('\n').to_owned();
    PlannedIssue { body, ..issue }
}

/// The labels that a line names, if that is what it is for.
fn labels(line: &str) -> Option<impl Iterator<Item = &str>> {
    let named = field(line, "labels")?;
    let labels = named.split(',').map(|label| label.trim().trim_matches('`').trim());
    Some(labels.filter(|label| !label.is_empty()))
}

#[cfg(test)]
mod tests;
