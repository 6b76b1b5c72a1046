//! Worktrees: which there are, and how git remembers them.

mod add;
mod remove;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::branch::full;
use super::command::{os, split, text};
use super::{GitError, MAX_SMALL_FILE, Repo, hash};
use crate::files::{self, at};

/// The reason in git's lock by which we know a worktree that nobody works in.
const SCRATCH_LOCK_REASON: &str = "adjutant scratch";
/// The reason in git's lock while it makes a worktree.
const INITIALIZING_LOCK_REASON: &str = "initializing";

/// A working tree of a repository, as git lists it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorktreeEntry {
    /// Where it is
    pub path: PathBuf,
    /// The commit that is checked out
    pub head: Option<String>,
    /// The branch that is checked out
    pub branch: Option<String>,
    /// True if it is locked
    pub locked: bool,
    /// True if git would prune it: its folder is gone
    pub prunable: bool,
}

/// Git's registration of a worktree.
#[derive(Debug, Clone)]
pub(super) struct Registration {
    /// The folder of the notes
    pub(super) admin: PathBuf,
    /// Where the worktree is
    pub(super) path: PathBuf,
}

impl Registration {
    fn lock_reason(&self) -> Option<String> {
        let reason = files::read_bytes(&self.admin.join("locked"), MAX_SMALL_FILE).ok()?;
        Some(text(reason.trim_ascii()))
    }

    fn is_scratch(&self) -> bool {
        self.lock_reason().as_deref() == Some(SCRATCH_LOCK_REASON)
    }

    /// True if git was interrupted while creating it; it holds no work yet.
    fn is_half_made(&self) -> bool {
        self.lock_reason().as_deref() == Some(INITIALIZING_LOCK_REASON)
    }
}

impl Repo {
    /// All working trees, the main one first.
    pub fn worktrees(&self) -> Result<Vec<WorktreeEntry>, GitError> {
        let output = self.git()?.args(["worktree", "list", "--porcelain", "-z"]).ask()?;
        let mut all: Vec<WorktreeEntry> = Vec::new();
        for line in split(&output) {
            if let Some(path) = line.strip_prefix(b"worktree ") {
                all.push(WorktreeEntry { path: os(path).into(), ..WorktreeEntry::default() });
                continue;
            }
            let Some(entry) = all.last_mut() else { continue };
            let line = text(line);
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match word {
                // Before the first commit it is all zeros.
                "HEAD" => entry.head = hash(rest).filter(|hash| hash.bytes().any(|c| c != b'0')),
                "branch" => entry.branch = rest.strip_prefix("refs/heads/").map(str::to_owned),
                "locked" => entry.locked = true,
                "prunable" => entry.prunable = true,
                _ => {}
            }
        }
        Ok(all)
    }

    /// Lists git's registrations of worktrees, read from its files.
    pub(super) fn registrations(&self) -> Vec<Registration> {
        let Ok(all) = fs::read_dir(self.common().join("worktrees")) else { return Vec::new() };
        let read = |admin: PathBuf| {
            let noted = files::read_bytes(&admin.join("gitdir"), MAX_SMALL_FILE).ok()?;
            let dot = admin.join(os(noted.trim_ascii_end()));
            let path = dot.parent()?.to_owned();
            Some(Registration { admin, path })
        };
        all.filter_map(|entry| read(entry.ok()?.path())).collect()
    }

    fn registration(&self, path: &Path) -> Option<Registration> {
        self.registrations().into_iter().find(|one| settled(&one.path) == path)
    }

    /// Where a branch is checked out.
    pub(super) fn checked_out_at(&self, branch: &str) -> Result<Option<PathBuf>, GitError> {
        let order = self.git()?.args(["for-each-ref", "--format=%(worktreepath)", &full(branch)]);
        let answer = order.ask()?;
        let path = answer.strip_suffix(b"\n").unwrap_or(&answer);
        Ok((!path.is_empty()).then(|| os(path).into()))
    }
}

/// The real path of what is there or would be there: as git writes it down. A link at its end is not followed.
fn settled(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut rest: Vec<OsString> = Vec::new();
    for above in path.ancestors() {
        if let (false, Ok(real)) = (rest.is_empty(), fs::canonicalize(above)) {
            return rest.iter().rev().fold(real, |path, part| path.join(part));
        }
        rest.extend(above.file_name().map(OsString::from));
    }
    path
}

/// True if the path exists, even as a broken link.
fn is_there(path: &Path) -> Result<bool, GitError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(at("look at", path)(error).into()),
    }
}

#[cfg(test)]
mod tests;
