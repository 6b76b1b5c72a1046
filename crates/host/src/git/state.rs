//! The state of a working tree, as others are told of it.

use std::path::Path;

use super::repo::Tree;
use super::status::{Entry, Kind};
use super::{GitError, Repo};

/// Files of ours are nobody's work.
pub(super) const OUTSIDE_HOME_PATHS: [&str; 3] =
    ["--", ":(top)", ":(top,exclude,glob)**/.adjutant/**"];
/// Everything.
const ALL_PATHS: [&str; 2] = ["--", ":(top)"];

/// Operations in progress and the git files that reveal them.
const OPERATIONS_IN_PROGRESS: [(&str, &str); 6] = [
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
];

/// A working tree at one moment. Files of `.adjutant` are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeState {
    /// The commit that is checked out; none before the first
    pub head: Option<String>,
    /// The branch that is checked out; none where it is detached or has no commits
    pub branch: Option<String>,
    /// Files that the next commit would change
    pub staged: Vec<String>,
    /// Files that were changed and not staged, or are in conflict
    pub unstaged: Vec<String>,
    /// Files that git knows nothing of and is not told to ignore; a repository inside ends with `/`
    pub untracked: Vec<String>,
    /// `merge`, `rebase`, `cherry-pick`, `revert` or `bisect`, where one waits for its end
    pub in_progress: Option<String>,
}

impl TreeState {
    /// True if nothing is uncommitted.
    pub fn is_clean(&self) -> bool {
        self.staged.is_empty() && self.unstaged.is_empty() && self.untracked.is_empty()
    }
}

impl Repo {
    /// The state of the working tree around `dir`.
    pub fn state(&self, dir: &Path) -> Result<TreeState, GitError> {
        let tree = self.tree(dir)?;
        let status = self.status(&tree, &OUTSIDE_HOME_PATHS)?;
        Ok(TreeState {
            staged: status.names(Entry::is_staged),
            unstaged: status.names(Entry::is_unstaged),
            untracked: status.names(|entry| entry.kind == Kind::Untracked),
            in_progress: in_progress(&tree).map(str::to_owned),
            head: status.head,
            branch: status.branch,
        })
    }
}

/// Operation in progress in a working tree.
pub(super) fn in_progress(tree: &Tree) -> Option<&'static str> {
    OPERATIONS_IN_PROGRESS
        .iter()
        .find(|(file, _)| tree.git_dir.join(file).exists())
        .map(|(_, what)| *what)
}

/// Refuses where something waits for its end.
pub(super) fn nothing_in_progress(tree: &Tree) -> Result<(), GitError> {
    match in_progress(tree) {
        Some(what) => Err(GitError::InProgress { what: what.to_owned(), dir: tree.top.clone() }),
        None => Ok(()),
    }
}

/// Paths to leave out: our own files in the main working tree, none in a worktree.
pub(super) const fn precious(tree: &Tree) -> &'static [&'static str] {
    if tree.is_main { &OUTSIDE_HOME_PATHS } else { &ALL_PATHS }
}

#[cfg(test)]
mod tests;
