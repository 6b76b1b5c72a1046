//! One repository: what kind it is, and how git is asked about it or about one of its working trees.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use super::command::{ConfigCache, GitInvocation, line, os, text};
use super::snapshot::IndexCopy;
use super::{Git, GitError, common_dir, git_dir};
use crate::process::RunError;

/// The first version with `merge-tree --write-tree`.
const MIN_GIT_VERSION: (u32, u32) = (2, 38);
/// The first version that takes attributes from a commit.
const ATTRIBUTES_FROM_COMMIT_VERSION: (u32, u32) = (2, 41);

/// A git repository. Cheap to clone; keep one and clone it, for what it has learned is shared. All its methods block.
#[derive(Debug, Clone)]
pub struct Repo(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    path: OsString,
    limit: Duration,
    version: (u32, u32),
    facts: RepoFacts,
    /// That of the folder it was opened in: `HEAD` means what is checked out there
    git_dir: PathBuf,
    known: Arc<ConfigCache>,
    /// Many may add worktrees at once; who mends what a crash has left must be alone
    pub(super) mending: Arc<RwLock<()>>,
}

/// Properties of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct RepoFacts {
    /// Where its objects and branches are
    pub common_dir: PathBuf,
    /// The top of the working tree that it was opened in; none in a bare repository
    pub top: Option<PathBuf>,
    /// True for a bare repository
    pub bare: bool,
    /// True for a shallow clone
    pub shallow: bool,
    /// True for a sparse checkout
    pub sparse: bool,
    /// True if it has submodules
    pub has_submodules: bool,
}

/// A working tree of a repository.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) top: PathBuf,
    pub(super) git_dir: PathBuf,
    /// True for the main worktree
    pub(super) is_main: bool,
    /// The index to look at instead of its own
    pub(super) index: Option<Arc<IndexCopy>>,
}

impl Tree {
    /// A worktree that was added, by git's notes on it.
    pub(super) fn added(top: &Path, git_dir: &Path) -> Self {
        Self { top: top.to_owned(), git_dir: git_dir.to_owned(), is_main: false, index: None }
    }
}

impl Git {
    /// The repository around `dir`. Each step of git may take as long as `limit` says, here and later.
    pub fn open(&self, dir: &Path, limit: Duration) -> Result<Repo, GitError> {
        let nowhere = || GitError::NotARepository { dir: dir.to_owned() };
        let dir = fs::canonicalize(dir).map_err(|_| nowhere())?;
        if !dir.is_dir() {
            return Err(nowhere());
        }
        let order = || GitInvocation::new(&self.path, &dir, limit);
        let version = version(&order().arg("version").ask_line()?)?;
        // The path comes last: it may have several lines.
        let questions = ["--is-inside-work-tree", "--is-shallow-repository", "--git-common-dir"];
        let asked = order().args(["rev-parse", "--path-format=absolute"]).args(questions);
        let output = asked.run()?;
        if !output.exit.is_success() {
            let none = text(&output.stderr).contains("not a git repository");
            return Err(if none { nowhere() } else { asked.failed(&output) });
        }
        let mut answers = output.stdout.splitn(3, |byte| *byte == b'\n');
        let mut is = || answers.next() == Some(b"true");
        let (inside, shallow) = (is(), is());
        let common = answers.next().map(|rest| rest.strip_suffix(b"\n").unwrap_or(rest));
        let common = fs::canonicalize(os(common.unwrap_or_default())).map_err(|_| nowhere())?;
        let top = dir.ancestors().find(|dir| inside && git_dir(dir).is_some()).map(Path::to_owned);
        let own = top.as_deref().and_then(git_dir).unwrap_or_else(|| common.clone());
        let known = Arc::new(ConfigCache::default());
        let program_settings = known.get(&common, &own, order)?;
        let submodules = top.as_ref().is_some_and(|top| top.join(".gitmodules").exists())
            || common.join("modules").is_dir()
            || (top.is_none() && has_gitmodules(order())?);
        let facts = RepoFacts {
            common_dir: common,
            top,
            bare: program_settings.bare,
            shallow,
            sparse: program_settings.sparse,
            has_submodules: submodules,
        };
        let path = self.path.clone();
        let mending = Arc::default();
        Ok(Repo(Arc::new(Inner { path, limit, version, facts, git_dir: own, known, mending })))
    }
}

/// True if the checked-out commit lists submodules.
fn has_gitmodules(order: GitInvocation) -> Result<bool, RunError> {
    let asked = order.args(["rev-parse", "--quiet", "--verify", "HEAD:.gitmodules"]).run()?;
    Ok(asked.exit.is_success())
}

/// The version, if it is new enough.
fn version(told: &str) -> Result<(u32, u32), GitError> {
    let found = told.strip_prefix("git version ").unwrap_or(told);
    let mut numbers = found.split('.').map(|part| {
        let digits =
            part.find(|c: char| !c.is_ascii_digit()).map_or(part, |end| part.split_at(end).0);
        digits.parse().ok()
    });
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) if (major, minor) >= MIN_GIT_VERSION => Ok((major, minor)),
        _ => Err(GitError::TooOld { found: found.to_owned() }),
    }
}

impl Repo {
    /// Properties of the repository when it was opened.
    pub fn facts(&self) -> &RepoFacts {
        &self.0.facts
    }

    /// The same repository, with another limit for each step of git.
    #[must_use]
    pub fn with_limit(&self, limit: Duration) -> Self {
        let Inner { path, version, facts, git_dir, known, mending, .. } = &*self.0;
        Self(Arc::new(Inner {
            path: path.clone(),
            limit,
            version: *version,
            facts: facts.clone(),
            git_dir: git_dir.clone(),
            known: Arc::clone(known),
            mending: Arc::clone(mending),
        }))
    }

    pub(super) fn common(&self) -> &Path {
        &self.0.facts.common_dir
    }

    pub(super) fn limit(&self) -> Duration {
        self.0.limit
    }

    pub(super) fn path(&self) -> &OsString {
        &self.0.path
    }

    /// Git, asked about the repository as a whole.
    pub(super) fn git(&self) -> Result<GitInvocation, GitError> {
        let top = self.0.facts.top.as_deref();
        let order = self.order(top.unwrap_or(self.common()), &self.0.git_dir)?;
        // With a working tree git looks at the attributes in it.
        Ok(match top {
            Some(top) => order.env("GIT_WORK_TREE", top),
            None => order,
        })
    }

    /// Git, asked about one working tree.
    pub(super) fn git_in(&self, tree: &Tree) -> Result<GitInvocation, GitError> {
        let order = self.order(&tree.top, &tree.git_dir)?.env("GIT_WORK_TREE", &tree.top);
        Ok(match &tree.index {
            Some(copy) => order.env("GIT_INDEX_FILE", copy.path()),
            None => order,
        })
    }

    /// Git, asked about a git directory. It is named, so that git does not look for another one further up.
    pub(super) fn order(
        &self,
        directory: &Path,
        git_dir: &Path,
    ) -> Result<GitInvocation, GitError> {
        // Named too, since a worktree's note of where the repository is can be changed after it was checked.
        let order = || {
            GitInvocation::new(&self.0.path, directory, self.0.limit)
                .env("GIT_DIR", git_dir)
                .env("GIT_COMMON_DIR", self.common())
        };
        let program_settings = self.0.known.get(self.common(), git_dir, order)?;
        Ok(order().configs(program_settings.off))
    }

    /// Takes the attributes of files from a commit and not from whatever is checked out, where git can.
    pub(super) fn attributes_of(&self, order: GitInvocation, commit: &str) -> GitInvocation {
        if self.0.version < ATTRIBUTES_FROM_COMMIT_VERSION {
            order
        } else {
            order.env("GIT_ATTR_SOURCE", commit)
        }
    }

    /// The working tree around a folder, if it is one of this repository.
    pub(super) fn tree(&self, dir: &Path) -> Result<Tree, GitError> {
        let nowhere = || GitError::NotARepository { dir: dir.to_owned() };
        let dir = fs::canonicalize(dir).map_err(|_| nowhere())?;
        let found = dir.ancestors().find_map(|top| Some((top, git_dir(top)?)));
        let (top, git_dir) = found.ok_or_else(nowhere)?;
        let git_dir = fs::canonicalize(git_dir).map_err(|_| nowhere())?;
        let common = fs::canonicalize(common_dir(&git_dir)).map_err(|_| nowhere())?;
        if common != self.common() {
            return Err(nowhere());
        }
        let is_main = git_dir == common;
        if is_main && dir != top && self.is_lost(top, &dir) {
            return Err(nowhere());
        }
        Ok(Tree { top: top.to_owned(), git_dir, is_main, index: None })
    }

    /// True for a folder that should be a worktree of its own; commands must not fall through to the repository around it.
    fn is_lost(&self, top: &Path, dir: &Path) -> bool {
        let ours = dir.strip_prefix(top).unwrap_or(dir).components();
        let mut ours = ours.map(|part| part.as_os_str());
        ours.any(|part| part == ".adjutant")
            || self.registrations().iter().any(|one| dir.starts_with(&one.path))
    }

    /// The full hash of the commit that is meant, or why there is none.
    pub(super) fn commit(&self, rev: &str) -> Result<String, GitError> {
        if let Some(hash) = self.resolve(rev)? {
            return Ok(hash);
        }
        let order = self.git()?.args(["rev-list", "--all", "--max-count=1"]);
        let is_empty = line(&order.ask()?).is_empty();
        Err(if is_empty { GitError::NoCommits } else { GitError::NoSuchRevision(rev.to_owned()) })
    }

    /// An error for two commits without a common ancestor: perhaps it was only cut off.
    pub(super) fn unrelated(&self, ours: &str, theirs: &str) -> GitError {
        if self.is_shallow() {
            return GitError::Shallow;
        }
        GitError::Unrelated { ours: ours.to_owned(), theirs: theirs.to_owned() }
    }

    /// True if the history is shallow now; a fetch may have completed it.
    pub(super) fn is_shallow(&self) -> bool {
        self.common().join("shallow").exists()
    }
}

#[cfg(test)]
mod tests;
