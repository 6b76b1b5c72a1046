//! Rebasing: the commits of a working tree are put on top of another commit, or everything stays as it was.

use std::path::Path;

use super::command::{os, text};
use super::conflict::lines;
use super::error::Conflict;
use super::repo::Tree;
use super::state::{OUTSIDE_HOME_PATHS, in_progress, nothing_in_progress};
use super::status::{Entry, Kind, Status};
use super::{CommitIdentity, GitError, Repo};
use crate::files;

/// A larger file in conflict is named without its lines.
const MAX_CONFLICT_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The file by which we know that a rebase in progress is one of ours that a crash interrupted.
const REBASE_MARKER_FILE: &str = "adjutant-rebase";

/// Where a rebase has led.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebaseOutcome {
    /// The commit that is checked out now
    pub head: String,
    /// True if the branch moved
    pub moved: bool,
}

impl Repo {
    /// Puts the commits of the working tree around `dir` on top of `onto`. Who made them stays, `who` is the
    /// committer. Where they do not fit it is called off and nothing has changed. Merges among them are made
    /// straight. Untracked files are no hindrance unless they are in the way.
    pub fn rebase(
        &self,
        dir: &Path,
        onto: &str,
        who: &CommitIdentity,
    ) -> Result<RebaseOutcome, GitError> {
        let tree = self.tree(dir)?;
        let ours = tree.git_dir.join(REBASE_MARKER_FILE);
        if ours.exists() {
            if in_progress(&tree) == Some("rebase") {
                self.call_off(&tree)?;
            }
            files::remove(&ours)?;
        }
        nothing_in_progress(&tree)?;
        let onto = self.commit(onto)?;
        let before = self.head_of(&tree)?.ok_or(GitError::NoCommits)?;
        let status = self.status(&tree, &OUTSIDE_HOME_PATHS)?;
        let changed = status.names(|entry| entry.kind != Kind::Untracked);
        if !changed.is_empty() {
            return Err(GitError::Dirty(changed));
        }
        if self.git()?.args(["merge-base", &before, &onto]).ask_maybe()?.is_none() {
            return Err(self.unrelated(&before, &onto));
        }
        files::write_quickly(&ours, "", files::Mode::Shared)?;
        let done = self.rebase_onto(&tree, &onto, who);
        files::remove(&ours)?;
        done?;
        let head = self.head_of(&tree)?.ok_or(GitError::NoCommits)?;
        Ok(RebaseOutcome { moved: head != before, head })
    }

    fn rebase_onto(&self, tree: &Tree, onto: &str, who: &CommitIdentity) -> Result<(), GitError> {
        let options = [
            "--merge",
            "--quiet",
            "--no-autostash",
            "--no-autosquash",
            "--no-fork-point",
            "--no-gpg-sign",
            "--no-rebase-merges",
            "--no-stat",
            "--no-update-refs",
            "--no-verify",
            "--empty=drop",
        ];
        let order = self.git_in(tree)?.arg("rebase").args(options).arg(onto).envs(who.committer());
        // Not patiently: what has begun is looked at before it is tried again.
        let output = order.run()?;
        if output.exit.is_success() {
            return Ok(());
        }
        let failed = order.failed(&output);
        if in_progress(tree).is_none() {
            let in_the_way = self.in_the_way(tree, onto)?;
            let dirty = !failed.is_transient() && !in_the_way.is_empty();
            return Err(if dirty { GitError::Dirty(in_the_way) } else { failed });
        }
        // Looked at before it is called off: then the marks are gone.
        let conflicts = conflicts(tree, &self.status(tree, &OUTSIDE_HOME_PATHS)?);
        self.call_off(tree)?;
        if !conflicts.is_empty() {
            return Err(GitError::Conflict(conflicts));
        }
        let in_the_way = self.in_the_way(tree, onto)?;
        Err(if in_the_way.is_empty() { failed } else { GitError::Dirty(in_the_way) })
    }

    fn call_off(&self, tree: &Tree) -> Result<(), GitError> {
        self.git_in(tree)?.args(["rebase", "--abort"]).ask()?;
        Ok(())
    }
}

/// The files in conflict in a working tree, with the lines that are marked in them.
fn conflicts(tree: &Tree, status: &Status) -> Vec<Conflict> {
    let conflict = |entry: &Entry| {
        let Kind::Unmerged { ours, theirs } = entry.kind else { return None };
        let path = tree.top.join(os(&entry.path));
        let content = files::read_bytes(&path, MAX_CONFLICT_FILE_BYTES).unwrap_or_default();
        let lines = lines(&content);
        let kind = match (ours, theirs) {
            (b'U', b'U') if lines.is_empty() => "binary",
            (b'U', b'U') => "content",
            (b'A', b'A') => "add/add",
            (b'D', b'U') | (b'U', b'D') => "modify/delete",
            _ => "rename",
        };
        Some(Conflict { path: text(&entry.path), lines, kind: kind.to_owned() })
    };
    status.entries.iter().filter_map(conflict).collect()
}

#[cfg(test)]
mod tests;
