//! Issues in a plan: which sections of a document in Markdown are still to be done.

/// An issue that a plan asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedIssue {
    /// The heading
    pub title: String,
    /// What stands below it
    pub body: String,
    /// What a line `Labels: a, b` names
    pub labels: Vec<String>,
}

/// A line as far as it matters here.
#[derive(Debug, Clone, Copy)]
struct Read<'a> {
    text: &'a str,
    /// The heading that it is: its rank, and what it says
    heading: Option<(usize, &'a str)>,
    is_code: bool,
}

/// The issues that a plan asks for, in its order. Each section under `##` is one; where there is a heading
/// `## Issues`, only each section under `###` below it. What is marked as done is left out.
pub fn planned_issues(plan: &str) -> Vec<PlannedIssue> {
    let mut fence = None;
    let lines: Vec<Read<'_>> = plan.lines().map(|line| Read::of(line, &mut fence)).collect();
    let names = |line: &Read<'_>| line.heading.is_some_and(|(rank, says)| names_issues(rank, says));
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

/// Whether a heading says that its section is done. A mark in the middle may be part of what it is about.
fn is_done(says: &str) -> bool {
    let folded = says.to_lowercase();
    let marked = |mark: &str| folded.starts_with(mark) || folded.ends_with(mark);
    says.contains('✅') || marked("[x]") || marked("(done)")
}

fn add(issue: &mut PlannedIssue, line: Read<'_>) {
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

/// The labels that a line names, if that is what it is for: `Labels: a, b`, perhaps in a list or in bold.
fn labels(line: &str) -> Option<impl Iterator<Item = &str>> {
    const WORD: &str = "labels";
    let line = line.trim().trim_start_matches(['-', '*', '+', '_', ' ']);
    let (word, rest) = line.split_at_checked(WORD.len())?;
    let rest = rest.trim_start_matches(['*', '_']).strip_prefix(':')?;
    word.eq_ignore_ascii_case(WORD).then(|| {
        let rest = rest.trim_start_matches(['*', '_']);
        let labels = rest.split(',').map(|label| label.trim().trim_matches('`').trim());
        labels.filter(|label| !label.is_empty())
    })
}

impl<'a> Read<'a> {
    /// Reads a line. Lines must be given in order: `fence` is the fence of the code that they are in.
    fn of(text: &'a str, fence: &mut Option<(u8, usize)>) -> Self {
        let line = text.trim();
        let first = line.bytes().next().unwrap_or_default();
        let length = line.bytes().take_while(|byte| *byte == first).count();
        let is_fence = matches!(first, b'`' | b'~') && length >= 3;
        match *fence {
            None if is_fence => *fence = Some((first, length)),
            None => return Self { text, heading: heading(text), is_code: false },
            Some((own, least)) => {
                if is_fence && first == own && length >= least && length == line.len() {
                    *fence = None;
                }
            }
        }
        Self { text, heading: None, is_code: true }
    }
}

/// The rank and the words of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches(' ');
    // What stands further in is code.
    if line.len() - text.len() > 3 {
        return None;
    }
    let rank = text.bytes().take_while(|byte| *byte == b'#').count();
    let says = text.get(rank..)?;
    if !(1..=6).contains(&rank) || !(says.is_empty() || says.starts_with([' ', '\t'])) {
        return None;
    }
    let says = says.trim();
    // Some close a heading as they opened it.
    let bare = says.trim_end_matches('#');
    Some((
        rank,
        if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim_end() } else { says },
    ))
}

#[cfg(test)]
mod tests;
