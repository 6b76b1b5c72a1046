//! Snapshots a working tree as a git tree, through a copy of the index, so that nothing is touched.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::command::{os, split};
use super::repo::Tree;
use super::state::precious;
use super::status::{Kind, Status};
use super::{GitError, Repo, hash, read_small};
use crate::files::{self, at};

/// Where git notes commits that something in progress still needs, in each line a hash.
const PENDING_COMMIT_FILES: [&str; 10] = [
    "MERGE_HEAD",
    "MERGE_AUTOSTASH",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_START",
    "rebase-merge/orig-head",
    "rebase-merge/stopped-sha",
    "rebase-merge/autostash",
    "rebase-apply/orig-head",
    "rebase-apply/autostash",
];

static INDEX_COPY_COUNTER: AtomicU64 = AtomicU64::new(0);

/// A copy of an index, removed when it is dropped.
#[derive(Debug)]
pub(super) struct IndexCopy(PathBuf);

impl IndexCopy {
    pub(super) fn of(tree: &Tree) -> Result<Self, GitError> {
        let number = INDEX_COPY_COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("adjutant-{}-{number}.index", std::process::id());
        let copy = Self(tree.git_dir.join(name));
        // An older process of our number may have left one.
        files::remove(&copy.0)?;
        let index =
            tree.index.as_ref().map_or_else(|| tree.git_dir.join("index"), |copy| copy.0.clone());
        match copy_dated(&index, &copy.0) {
            // Before the first `git add` there is none, and git makes one.
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(at("copy", &index)(error).into())
            }
            _ => Ok(copy),
        }
    }

    pub(super) fn path(&self) -> &PathBuf {
        &self.0
    }
}

/// Copies an index with its time. Git reads a file that is as old as the index, for it may have been changed within the same
/// second; from a copy that is younger it would believe that nothing has changed.
fn copy_dated(index: &Path, copy: &Path) -> io::Result<()> {
    let mut from = files::open_regular(index)?;
    let time = from.metadata()?.modified()?;
    let mut to = fs::File::create(copy)?;
    io::copy(&mut from, &mut to)?;
    to.set_modified(time)
}

impl Drop for IndexCopy {
    fn drop(&mut self) {
        // Best effort: a copy that stays harms nobody.
        drop(fs::remove_file(&self.0));
        drop(fs::remove_file(self.0.with_extension("index.lock")));
    }
}

/// Everything in a working tree that git would not ignore.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// The files as they are
    pub(super) tree: String,
    /// Tree of staged content that is neither committed nor in the files
    pub(super) staged: Option<String>,
}

impl Repo {
    /// The working tree with an index in which no file is hidden. Git can be told not to look at a file, and then its
    /// changes would be overlooked until they are lost.
    pub(super) fn unhidden(&self, tree: Tree) -> Result<Tree, GitError> {
        let listed = self.git_in(&tree)?.args(["ls-files", "-v", "-z"]).ask()?;
        let (mut skipped, mut assumed) = (Vec::new(), Vec::new());
        for entry in split(&listed) {
            let Some((&[tag, _], name)) = entry.split_first_chunk::<2>() else { continue };
            // What a sparse checkout leaves out is skipped, too, and not there.
            let is_there = || tree.top.join(os(name)).symlink_metadata().is_ok();
            if tag.eq_ignore_ascii_case(&b'S') && is_there() {
                skipped.extend([name, b"\0"].concat());
            }
            if tag.is_ascii_lowercase() {
                assumed.extend([name, b"\0"].concat());
            }
        }
        if skipped.is_empty() && assumed.is_empty() {
            return Ok(tree);
        }
        let tree = Tree { index: Some(Arc::new(IndexCopy::of(&tree)?)), ..tree };
        for (flag, names) in [("--no-skip-worktree", skipped), ("--no-assume-unchanged", assumed)] {
            if !names.is_empty() {
                let order = self.git_in(&tree)?.args(["update-index", flag, "-z", "--stdin"]);
                order.input(names).ask()?;
            }
        }
        Ok(tree)
    }

    /// Takes a snapshot of what `status` was seen to be.
    pub(super) fn snapshot(&self, tree: &Tree, status: &Status) -> Result<Snapshot, GitError> {
        let copy = IndexCopy::of(tree)?;
        let mut pathspecs: Vec<OsString> = precious(tree).iter().map(OsString::from).collect();
        pathspecs.extend(status.without_nested());
        let git = || Ok::<_, GitError>(self.git_in(tree)?.env("GIT_INDEX_FILE", copy.path()));
        git()?.args(["add", "-A", "--sparse"]).args(pathspecs).ask()?;
        let files = git()?.arg("write-tree").ask_line()?;
        let staged_only = status.entries.iter().any(|entry| entry.is_staged_only());
        let staged = if staged_only { Some(self.staged(tree, status)?) } else { None };
        Ok(Snapshot { tree: files, staged })
    }

    /// Tree of the staged content without conflicted files: both their sides are committed.
    fn staged(&self, tree: &Tree, status: &Status) -> Result<String, GitError> {
        let copy = IndexCopy::of(tree)?;
        let git = || Ok::<_, GitError>(self.git_in(tree)?.env("GIT_INDEX_FILE", copy.path()));
        let mut unmerged = Vec::new();
        for entry in &status.entries {
            if matches!(entry.kind, Kind::Unmerged { .. }) {
                unmerged.extend_from_slice(&entry.path);
                unmerged.push(0);
            }
        }
        if !unmerged.is_empty() {
            let order = git()?.args(["update-index", "--force-remove", "-z", "--stdin"]);
            order.input(unmerged).ask()?;
        }
        git()?.arg("write-tree").ask_line()
    }

    /// The commits that only this working tree knows of: where it is detached, and what something in progress needs.
    pub(super) fn loose_commits(
        &self,
        tree: &Tree,
        status: &Status,
    ) -> Result<Vec<String>, GitError> {
        let mut commits: Vec<String> = Vec::new();
        if status.branch.is_none() {
            commits.extend(status.head.clone());
        }
        for file in PENDING_COMMIT_FILES {
            let text = read_small(&tree.git_dir.join(file)).unwrap_or_default();
            commits.extend(text.lines().filter_map(hash));
        }
        commits.dedup();
        self.unreachable_from_branches(&commits)
    }
}
