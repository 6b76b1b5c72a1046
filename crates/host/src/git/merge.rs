//! Merging: two commits without a working tree, and a branch that is checked out taken forward.

use std::collections::BTreeSet;
use std::path::Path;

use super::command::{split, text};
use super::conflict::ConflictReport;
use super::error::Conflict;
use super::repo::Tree;
use super::state::nothing_in_progress;
use super::{GitError, Repo};
use crate::process::Exit;

/// Outcome of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The sides fit together
    Clean {
        /// The merged tree, to be committed
        tree: String,
    },
    /// They do not
    Conflicts(Vec<Conflict>),
    /// They have no common history
    Unrelated,
}

impl Repo {
    /// Merges two commits into a tree. Neither a branch nor a working tree is touched. The attributes of files are
    /// those of `ours`, as far as git can do that.
    pub fn merge_trees(&self, ours: &str, theirs: &str) -> Result<MergeOutcome, GitError> {
        let (ours, theirs) = (self.commit(ours)?, self.commit(theirs)?);
        let order = self.git()?.args(["merge-tree", "--write-tree", "-z", "--messages"]);
        let order = self.attributes_of(order.args([&ours, &theirs]), &ours);
        let output = order.retry_while_locked()?;
        match output.exit {
            Exit::Code(0) => {
                Ok(MergeOutcome::Clean { tree: ConflictReport::of(&output.stdout).tree })
            }
            Exit::Code(1) => {
                Ok(MergeOutcome::Conflicts(self.conflicts(&ConflictReport::of(&output.stdout))?))
            }
            _ if text(&output.stderr).contains("unrelated histories") => {
                if self.is_shallow() {
                    Err(GitError::Shallow)
                } else {
                    Ok(MergeOutcome::Unrelated)
                }
            }
            _ => Err(order.failed(&output)),
        }
    }

    /// Takes what is checked out in `dir`, branch and files, forward to a commit that contains it. Where it is there
    /// already, nothing happens. Local changes stay; where they are in the way nothing is done.
    pub fn fast_forward(&self, dir: &Path, to: &str) -> Result<(), GitError> {
        let tree = self.tree(dir)?;
        nothing_in_progress(&tree)?;
        let commit = self.commit(to)?;
        let options = ["--ff-only", "--commit", "--no-squash", "--no-autostash", "--no-verify"];
        let quiet = ["--quiet", "--no-stat", "--no-overwrite-ignore"];
        let order = self.git_in(&tree)?.arg("merge").args(options).args(quiet).arg(&commit);
        let output = order.retry_while_locked()?;
        if output.exit.is_success() {
            return Ok(());
        }
        let failed = order.failed(&output);
        if failed.is_transient() {
            return Err(failed);
        }
        let words = text(&output.stderr);
        if words.contains("ot possible to fast-forward") || words.contains("unrelated histories") {
            let head = self.head_of(&tree)?.unwrap_or_default();
            let common = self.git()?.args(["merge-base", &head, &commit]).ask_maybe()?;
            return Err(match common {
                Some(_) => GitError::Diverged { to: to.to_owned() },
                None => self.unrelated(&head, to),
            });
        }
        let in_the_way = self.in_the_way(&tree, &commit)?;
        Err(if in_the_way.is_empty() { failed } else { GitError::Dirty(in_the_way) })
    }

    /// The uncommitted files that going to a commit would touch.
    pub(super) fn in_the_way(&self, tree: &Tree, commit: &str) -> Result<Vec<String>, GitError> {
        let Some(head) = self.head_of(tree)? else {
            let listed = self.git()?.args(["ls-tree", "-r", "-z", "--name-only", commit]).ask()?;
            let there =
                |name: &&[u8]| tree.top.join(super::command::os(name)).symlink_metadata().is_ok();
            return Ok(split(&listed).filter(there).map(text).collect());
        };
        let order = self.git()?.args(["diff-tree", "-r", "-z", "--no-renames", "--name-only"]);
        let output = order.args([&head, commit]).ask()?;
        let touched: BTreeSet<&[u8]> = split(&output).collect();
        // A folder's place may be taken by a file, and the other way round.
        let meets = |path: &[u8]| {
            let below = |one: &[u8], other: &[u8]| {
                one.strip_prefix(other).is_some_and(|rest| rest.first().is_none_or(|c| *c == b'/'))
            };
            touched.iter().any(|one| below(one, path) || below(path, one))
        };
        let status = self.status(tree, &["--ignored=matching", "--", ":(top)"])?;
        Ok(status.names(|entry| meets(entry.path.strip_suffix(b"/").unwrap_or(&entry.path))))
    }
}

#[cfg(test)]
mod tests;
