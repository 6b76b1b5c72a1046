//! The newest commit's message. Older ones stay as they are.

use std::path::Path;

use crate::commit_message::{changed_lines, problems};
use crate::run;
use crate::tidy::Findings;
use crate::tree::Tree;

pub(super) fn check(tree: &Tree, findings: &mut Findings) {
    let git = |arguments: &[&str]| run::output(Path::new("git"), arguments, &tree.root);
    let Ok(message) = git(&["log", "-1", "--format=%B"]) else {
        return; // No history: a tarball, or a repository before its first commit.
    };
    // In a shallow clone the newest commit may lack its parent, so its size is not known.
    let size = git(&["diff", "--numstat", "-M", "HEAD~1", "HEAD"]);
    let lines = size.map_or(0, |numstat| changed_lines(&numstat));
    for problem in problems(&message, lines) {
        findings.wrong(format!("the newest commit: {problem} (mend it with `git commit --amend`)"));
    }
}
