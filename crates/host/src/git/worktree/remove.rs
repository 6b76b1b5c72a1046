//! Removing worktrees: only when all that is in them is somewhere else too.

use std::fs;
use std::path::Path;
use std::sync::PoisonError;

use super::{Registration, is_there, settled};
use crate::git::discard::{going, remove, set_aside};
use crate::git::repo::Tree;
use crate::git::state::precious;
use crate::git::status::Entry;
use crate::git::{GitError, Repo, git_dir};

impl Repo {
    /// Removes a worktree and has git forget it. Refused where something in it is neither committed nor rescued
    /// (ignored files do not count), where commits in it are on no branch, and where a submodule or a repository
    /// inside has something that is nowhere else. Gone already is fine. Scratch worktrees go in any case.
    pub fn worktree_remove(&self, path: &Path) -> Result<(), GitError> {
        let path = settled(path);
        let there = is_there(&path)?;
        match self.registration(&path) {
            None if there => self.remove_unknown(&path)?,
            None => {}
            Some(registration) => {
                if there && !registration.is_scratch() && !registration.is_half_made() {
                    self.check_nothing_lost(&registration, &path)?;
                }
                let _alone = self.0.mending.write().unwrap_or_else(PoisonError::into_inner);
                set_aside(&path)?;
                // What was looked at is on a branch; what was removed by hand was not looked at.
                if there { remove(&registration.admin)? } else { self.forget(&registration)? }
            }
        }
        // Last and without the lock: it may take long, and an earlier call may not have come to its end.
        Ok(remove(&going(&path))?)
    }

    /// A folder that git knows nothing of: it goes if nothing is in it.
    fn remove_unknown(&self, path: &Path) -> Result<(), GitError> {
        let is_main =
            self.facts().top.as_deref() == Some(path) || self.common() == path.join(".git");
        let what = if is_main { "the main working tree" } else { "no worktree of this repository" };
        let occupied = || GitError::Occupied { path: path.to_owned(), what: what.to_owned() };
        let is_dangling = git_dir(path).is_none_or(|dir| !dir.exists());
        let mut entries = fs::read_dir(path).map_err(|_| occupied())?;
        let is_empty = entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == ".git"));
        if is_main || !is_dangling || !is_empty || path.join(".git").is_dir() {
            return Err(occupied());
        }
        Ok(remove(path)?)
    }

    fn check_nothing_lost(&self, registration: &Registration, path: &Path) -> Result<(), GitError> {
        if let Some(reason) = registration.lock_reason() {
            return Err(GitError::Locked { path: path.to_owned(), reason });
        }
        let tree = self.unhidden(Tree::added(path, &registration.admin))?;
        let status = self.status(&tree, precious(&tree))?;
        let nested = status.names(Entry::is_nested);
        if !nested.is_empty() {
            return Err(GitError::Submodules(nested));
        }
        if !status.entries.is_empty() && !self.is_rescued(&tree, &status)? {
            return Err(GitError::Dirty(status.names(|_| true)));
        }
        let loose = self.loose_commits(&tree, &status)?;
        if !loose.is_empty() {
            return Err(GitError::Unreachable(loose));
        }
        let submodules = self.submodules_at_risk(&tree)?;
        if submodules.is_empty() { Ok(()) } else { Err(GitError::Submodules(submodules)) }
    }
}
