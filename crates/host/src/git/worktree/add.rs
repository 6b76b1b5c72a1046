//! Adding worktrees. It can be repeated after a crash at any point: what is half-made is mended first.
//!
//! In the usual case it takes one start of git. Nothing that may be work is ever removed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use model::Timestamp;

use super::{Registration, SCRATCH_LOCK_REASON, is_there, settled};
use crate::clock::Clock;
use crate::files::{self, at};
use crate::git::branch::{check_name, full, is_plain};
use crate::git::command::{GitInvocation, text};
use crate::git::discard::{beside, discard, going, remove};
use crate::git::repo::Tree;
use crate::git::{GitError, Repo, git_dir, hash};
use crate::process::Output;

/// Retries after a concurrent change.
const MAX_ADD_ATTEMPTS: u32 = 5;
/// Branch for commits that only a worktree had whose folder was removed.
const RESCUE_BRANCH_PREFIX: &str = "adjutant/rescue/";

/// Checkout of a new worktree.
#[derive(Debug, Clone, Copy)]
enum WantedCheckout<'a> {
    /// A branch: a new one at this commit, or the one of that name wherever it stands
    Branch { name: &'a str, commit: &'a str },
    /// A commit without a branch
    Scratch { commit: &'a str },
}

impl<'a> WantedCheckout<'a> {
    const fn commit(self) -> &'a str {
        let (Self::Branch { commit, .. } | Self::Scratch { commit }) = self;
        commit
    }
}

/// State of a worktree's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathState {
    /// It stands
    Stands,
    /// There is room for it
    Free,
}

impl Repo {
    /// Adds a worktree at `path` with a branch: a new one at `commit`, or the one of that name wherever it stands.
    /// Where it was added before, nothing happens. What a crash has left half-made is mended; a folder at `path` that
    /// is no worktree is moved aside, to `path.before`.
    pub fn worktree_add(&self, path: &Path, branch: &str, commit: &str) -> Result<(), GitError> {
        check_name(branch)?;
        self.add(path, WantedCheckout::Branch { name: branch, commit })
    }

    /// Adds a worktree at `path` without a branch, for the server's own work. One that was added so before is reset
    /// to `commit` and cleaned; ignored files stay, they are caches.
    pub fn worktree_add_detached(&self, path: &Path, commit: &str) -> Result<(), GitError> {
        self.add(path, WantedCheckout::Scratch { commit })
    }

    fn add(&self, path: &Path, wanted: WantedCheckout<'_>) -> Result<(), GitError> {
        if !is_plain(wanted.commit()) {
            return Err(GitError::NoSuchRevision(wanted.commit().to_owned()));
        }
        let path = settled(path);
        for _ in 0..MAX_ADD_ATTEMPTS {
            let registration = self.registration(&path);
            let there = is_there(&path)?;
            if let (WantedCheckout::Scratch { commit }, Some(scratch), true) =
                (wanted, &registration, there)
                && scratch.is_scratch()
                && self.reset(scratch, commit).is_ok()
            {
                return Ok(());
            }
            let is_new = !there && registration.is_none();
            if !is_new && self.repair(&path, wanted)? == PathState::Stands {
                return Ok(());
            }
            if self.add_here(&path, wanted)? {
                return Ok(());
            }
        }
        Err(GitError::Busy(format!("`{}` keeps changing", path.display())))
    }

    /// Has git add it; says whether it is there, or has to be looked at again.
    fn add_here(&self, path: &Path, wanted: WantedCheckout<'_>) -> Result<bool, GitError> {
        let (order, output) = self.have_added(path, wanted)?;
        if output.exit.is_success() {
            return Ok(true);
        }
        if says(&output, "already used by worktree") || says(&output, "already checked out at") {
            return self.give_way(path, wanted, &output).map(|()| false);
        }
        if says(&output, "already registered") || says(&output, "already exists") {
            return Ok(false);
        }
        // Perhaps there is no such commit: then that is what to say.
        self.commit(wanted.commit())?;
        Err(order.failed(&output))
    }

    fn have_added(
        &self,
        path: &Path,
        wanted: WantedCheckout<'_>,
    ) -> Result<(GitInvocation, Output), GitError> {
        let _others_too = self.0.mending.read().unwrap_or_else(PoisonError::into_inner);
        if let WantedCheckout::Branch { name, .. } = wanted {
            // Only we make this branch.
            self.wait_for_another(&self.common().join(format!("{}.lock", full(name))))?;
        }
        let git = || Ok::<_, GitError>(self.git()?.args(["worktree", "add", "--quiet"]));
        let first = match wanted {
            WantedCheckout::Branch { name, .. } => git()?.args(["--no-track", "-b", name]),
            WantedCheckout::Scratch { .. } => {
                git()?.args(["--detach", "--lock", "--reason", SCRATCH_LOCK_REASON])
            }
        };
        let order = first.arg("--").args([path.as_os_str(), wanted.commit().as_ref()]);
        let output = order.retry_while_locked()?;
        let WantedCheckout::Branch { name, .. } = wanted else { return Ok((order, output)) };
        if !says(&output, "a branch named") {
            return Ok((order, output));
        }
        let order = git()?.arg("--").args([path.as_os_str(), name.as_ref()]);
        let output = order.retry_while_locked()?;
        Ok((order, output))
    }

    /// Forgets a worktree that has the branch and whose folder is gone; one that is there is in the way.
    fn give_way(
        &self,
        path: &Path,
        wanted: WantedCheckout<'_>,
        output: &Output,
    ) -> Result<(), GitError> {
        let WantedCheckout::Branch { name, .. } = wanted else { return Ok(()) };
        // One that is in the middle of a rebase has it, too; then only git's words tell where.
        let message = text(&output.stderr);
        let message = message.rsplit_once(" at '").and_then(|(_, rest)| rest.rsplit_once('\''));
        let message = message.map(|(path, _)| PathBuf::from(path));
        let Some(holder) = self.checked_out_at(name)?.or(message) else { return Ok(()) };
        let in_use = || GitError::BranchInUse { branch: name.to_owned(), at: holder.clone() };
        let _alone = self.0.mending.write().unwrap_or_else(PoisonError::into_inner);
        let registration = self.registration(&settled(&holder)).ok_or_else(in_use)?;
        let is_ours = settled(&holder) == path;
        if is_there(&holder)? && !is_ours {
            return Err(in_use());
        }
        if is_ours { Ok(()) } else { self.forget(&registration) }
    }

    /// Looks at what is there, and makes room unless it is the worktree that is wanted.
    fn repair(&self, path: &Path, wanted: WantedCheckout<'_>) -> Result<PathState, GitError> {
        let _alone = self.0.mending.write().unwrap_or_else(PoisonError::into_inner);
        remove(&going(path))?;
        let there = is_there(path)?;
        match self.registration(path) {
            Some(registration) if there => self.repair_registered(&registration, path, wanted),
            Some(registration) => self.forget(&registration).map(|()| PathState::Free),
            None if there => make_room(path).map(|()| PathState::Free),
            None => Ok(PathState::Free),
        }
    }

    fn repair_registered(
        &self,
        registration: &Registration,
        path: &Path,
        wanted: WantedCheckout<'_>,
    ) -> Result<PathState, GitError> {
        let occupied = |what: &str| GitError::Occupied { path: path.to_owned(), what: what.into() };
        let tree = Tree::added(path, &registration.admin);
        if registration.is_half_made() {
            self.wait_for_another(&registration.admin.join("index.lock"))?;
            discard(path)?;
            remove(&registration.admin)?;
            return Ok(PathState::Free);
        }
        match wanted {
            WantedCheckout::Scratch { commit } => {
                if !registration.is_scratch() {
                    return Err(occupied("a worktree in use"));
                }
                // It could not be reset. Nobody works in it, so it can as well be made anew.
                self.commit(commit)?;
                self.wait_for_another(&registration.admin.join("index.lock"))?;
                discard(path)?;
                remove(&registration.admin)?;
                Ok(PathState::Free)
            }
            WantedCheckout::Branch { name, .. } => {
                if registration.is_scratch() {
                    return Err(occupied("a worktree for scratch"));
                }
                if self.branch_in(&tree)?.as_deref() != Some(name) {
                    return Err(occupied("a worktree with something else checked out"));
                }
                let dot = path.join(".git");
                if !is_there(&dot)? {
                    let admin = registration.admin.display();
                    files::write(&dot, &format!("gitdir: {admin}\n"), files::Mode::Shared)?;
                }
                Ok(PathState::Stands)
            }
        }
    }

    /// Makes a scratch worktree like a commit.
    fn reset(&self, scratch: &Registration, commit: &str) -> Result<(), GitError> {
        let commit = self.commit(commit)?;
        let tree = Tree::added(&scratch.path, &scratch.admin);
        for begun in ["rebase-merge", "rebase-apply"] {
            remove(&tree.git_dir.join(begun))?;
        }
        let checkout = self.git_in(&tree)?.args(["checkout", "--quiet", "--force", "--detach"]);
        checkout.args([&commit, "--"]).ask()?;
        // Twice, for repositories inside.
        self.git_in(&tree)?.args(["clean", "-ffdq"]).ask()?;
        Ok(())
    }

    /// Waits for a git that a killed server may have left at work. What is older than any of ours is a leftover.
    fn wait_for_another(&self, lock: &Path) -> Result<(), GitError> {
        let Ok(written) = fs::metadata(lock).and_then(|meta| meta.modified()) else {
            return Ok(());
        };
        let since = written.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let since = Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(0));
        let age = Clock::System.now().millis_since(since);
        if age < i64::try_from(self.limit().as_millis()).unwrap_or(i64::MAX) {
            return Err(GitError::Busy(format!("`{}` exists", lock.display())));
        }
        Ok(files::remove(lock)?)
    }

    /// Has git forget a worktree whose folder is gone. Commits that only it knew get a branch.
    pub(super) fn forget(&self, registration: &Registration) -> Result<(), GitError> {
        if !registration.is_scratch() {
            let head = files::read(&registration.admin.join("HEAD"))?;
            let detached: Vec<String> = head.as_deref().and_then(hash).into_iter().collect();
            for commit in self.unreachable_from_branches(&detached)? {
                // What is no longer here cannot be kept.
                if self.resolve(&commit)?.is_some() {
                    self.branch_numbered(&rescue_name(&registration.path), &commit)?;
                }
            }
        }
        Ok(remove(&registration.admin)?)
    }
}

/// Moves away what is where a worktree is to be and is none.
fn make_room(path: &Path) -> Result<(), GitError> {
    let occupied = |what: &str| GitError::Occupied { path: path.to_owned(), what: what.into() };
    if path.is_dir() && !path.is_symlink() {
        let dot = path.join(".git");
        if dot.is_dir() || git_dir(path).is_some_and(|dir| dir.exists()) {
            return Err(occupied("a repository or a worktree of its own"));
        }
        let only_dot = fs::read_dir(path)
            .map_err(at("list", path))?
            .all(|entry| entry.is_ok_and(|entry| entry.file_name() == ".git"));
        if only_dot {
            // Git takes an empty folder.
            files::remove(&dot)?;
            return Ok(());
        }
    }
    let mut aside: PathBuf = beside(path, ".before");
    let mut number = 2;
    while is_there(&aside)? {
        aside = beside(path, &format!(".before-{number}"));
        number += 1;
    }
    Ok(fs::rename(path, &aside).map_err(at("move aside", path))?)
}

fn says(output: &Output, words: &str) -> bool {
    !output.exit.is_success() && text(&output.stderr).contains(words)
}

/// The branch for commits of a worktree that is gone.
fn rescue_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let branch = format!("{RESCUE_BRANCH_PREFIX}{name}");
    if Repo::is_valid_branch_name(&branch) {
        branch
    } else {
        format!("{RESCUE_BRANCH_PREFIX}worktree")
    }
}
