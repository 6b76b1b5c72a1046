//! Changes of an agent, for people: its branch, its commits and the lines of each file.

use wire::agents::{AgentDiff, ChangedFileView};

use super::merge_queue::abbreviated;
use crate::terminal::render::{Page, bold, count, dim, line, odd};

/// Files and commits listed.
const LISTED: usize = 20;

/// Adds the branch and the figures of a change to a page; nothing where nothing was changed.
pub(crate) fn add_change(page: &mut Page, diff: &AgentDiff) {
    let Some(branch) = diff.branch.as_deref() else { return };
    let target = diff
        .target
        .as_deref()
        .map_or_else(String::new, |target| format!(" {} {}", dim("→"), line(target)));
    let commits = count(diff.commits.len(), "commit");
    page.line(format_args!("  {}{target}, {commits}", bold(line(branch))));
    if diff.uncommitted {
        page.line(format_args!("  {}", odd("some of it is not committed yet")));
    }
    add_files(page, &diff.files);
    if let Some(rescued) = diff.rescued.as_deref() {
        page.line(format_args!("  what was not committed is on {}", line(rescued)));
    }
}

fn add_files(page: &mut Page, files: &[ChangedFileView]) {
    let shown: Vec<(String, String)> = files.iter().take(LISTED).map(of_file).collect();
    let width = shown.iter().map(|(path, _)| path.chars().count()).max().unwrap_or_default();
    for (path, figures) in &shown {
        page.line(format_args!("    {path:width$}  {figures}"));
    }
    let more = files.len().saturating_sub(LISTED);
    if more > 0 {
        page.line(format_args!("    and {} more", count(more, "file")));
    }
    if files.is_empty() {
        return;
    }
    let sum = |of: fn(&ChangedFileView) -> u64| files.iter().map(of).sum::<u64>();
    let figures = figures(sum(|file| file.added), sum(|file| file.removed));
    page.line(format_args!("    {} changed{figures}", count(files.len(), "file")));
}

fn of_file(file: &ChangedFileView) -> (String, String) {
    let path = match &file.old_path {
        Some(old) => format!("{} → {}", line(old), line(&file.path)),
        None => line(&file.path),
    };
    let figures = if file.binary {
        "binary".to_owned()
    } else {
        format!("+{} -{}", file.added, file.removed)
    };
    (path, figures)
}

fn figures(added: u64, removed: u64) -> String {
    format!(", +{added} -{removed}")
}

/// The commits of a change, oldest first.
pub(crate) fn add_commits(page: &mut Page, diff: &AgentDiff) {
    let more = diff.commits.len().saturating_sub(LISTED);
    if more > 0 {
        page.line(format_args!("    {} before", count(more, "commit")));
    }
    for commit in diff.commits.iter().take(LISTED).rev() {
        let (hash, subject) = (abbreviated(&commit.hash), line(&commit.subject));
        page.line(format_args!("    {} {subject}", dim(hash)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, added: u64, removed: u64) -> ChangedFileView {
        ChangedFileView {
            path: path.to_owned(),
            old_path: None,
            status: "changed".to_owned(),
            added,
            removed,
            binary: false,
        }
    }

    fn shown(diff: &AgentDiff) -> String {
        let mut page = Page::default();
        add_change(&mut page, diff);
        anstream::adapter::strip_str(&page.into_text()).to_string()
    }

    #[test]
    fn a_change_has_its_branch_and_its_figures() {
        let diff = AgentDiff {
            branch: Some("adjutant/sp_1".to_owned()),
            target: Some("main".to_owned()),
            files: vec![file("price.py", 3, 1), file("tests/test_price.py", 12, 0)],
            ..AgentDiff::default()
        };
        insta::assert_snapshot!(shown(&diff), @r"
          adjutant/sp_1 → main, 0 commits
            price.py             +3 -1
            tests/test_price.py  +12 -0
            2 files changed, +15 -1
        ");
    }

    #[test]
    fn of_many_files_the_first_are_listed_and_all_are_counted() {
        let files = (0..30).map(|n| file(&format!("f{n}"), 1, 0)).collect();
        let diff = AgentDiff { branch: Some("b".to_owned()), files, ..AgentDiff::default() };
        let text = shown(&diff);
        assert!(text.contains("    and 10 files more\n"), "{text}");
        assert!(text.contains("    30 files changed, +30 -0\n"), "{text}");
    }

    #[test]
    fn work_without_a_branch_is_not_told() {
        assert_eq!(shown(&AgentDiff::default()), "");
    }
}
