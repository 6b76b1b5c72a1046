//! Errors of git, each with advice.

use std::path::PathBuf;

use super::command::{is_busy, readable, text};
use crate::files::FileError;
use crate::process::RunError;

/// Number of files named in an error.
const MAX_FILES_NAMED: usize = 10;

/// A file that two sides changed in ways that do not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The file
    pub path: String,
    /// The lines of the merged text that are in conflict, from and to, counted from 1
    pub lines: Vec<(u32, u32)>,
    /// `content`, `add/add`, `modify/delete`, `binary`, …
    pub kind: String,
}

/// Something that git could not do.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// No repository is around the folder, or not this one
    #[error("`{}` is not in a working tree of this git repository; check the path, or run `git init` there", dir.display())]
    NotARepository {
        /// The folder
        dir: PathBuf,
    },
    /// Nothing was ever committed
    #[error("the repository has no commits yet; make a first one with `git commit`")]
    NoCommits,
    /// Nothing of that name is a commit
    #[error("`{0}` names no commit of this repository; check the name, or fetch it first")]
    NoSuchRevision(String),
    /// Git allows no such branch
    #[error("`{0}` is no name for a branch; use letters, digits, `-`, `_` and `/`")]
    BadName(String),
    /// No file of a repository can be called that
    #[error("`{0}` is no path of a file inside the repository; use a relative path without `..`")]
    BadPath(String),
    /// There is a branch of that name, at another commit
    #[error(
        "the branch `{branch}` exists already, at {at}; choose another name or delete it first"
    )]
    BranchExists {
        /// The branch
        branch: String,
        /// Where it stands
        at: String,
    },
    /// The branch is checked out somewhere
    #[error("the branch `{branch}` is checked out at `{}`; switch or remove that worktree first", at.display())]
    BranchInUse {
        /// The branch
        branch: String,
        /// Where it is checked out
        at: PathBuf,
    },
    /// The branch is not where it was thought to be
    #[error("the branch `{branch}` has moved meanwhile, to {}; look at it again", now.as_deref().unwrap_or("nowhere: it was deleted"))]
    Moved {
        /// The branch
        branch: String,
        /// Where it is now, if it is anywhere
        now: Option<String>,
    },
    /// Both sides have commits that the other lacks
    #[error(
        "`{to}` does not contain what is checked out, so it is no mere step forward; merge or rebase instead"
    )]
    Diverged {
        /// Where it was to go
        to: String,
    },
    /// The two have no common beginning
    #[error("`{ours}` and `{theirs}` have no common history; they cannot be merged or compared")]
    Unrelated {
        /// One
        ours: String,
        /// The other
        theirs: String,
    },
    /// The sides do not fit together
    #[error("merge conflict in {}; resolve it in the working tree and commit", conflicts(.0))]
    Conflict(Vec<Conflict>),
    /// Uncommitted changes are in the way
    #[error("uncommitted changes are in the way: {}; commit or remove them first", names(.0))]
    Dirty(Vec<String>),
    /// A merge, a rebase or the like waits for its end
    #[error("a {what} is in progress in `{}`; finish it, or end it with `git {what} --abort`", dir.display())]
    InProgress {
        /// Operation in progress
        what: String,
        /// Where
        dir: PathBuf,
    },
    /// Another process holds a lock at the moment
    #[error(
        "another git process is at work ({0}); try again in a moment, and remove the lock file if no git runs"
    )]
    Busy(String),
    /// Removal would lose submodules or nested repositories
    #[error("{} would lose commits or changes that are nowhere else; push or move them away first", names(.0))]
    Submodules(Vec<String>),
    /// Commits that no branch has would be lost
    #[error("{} on no branch and would be lost; make a branch of it with `git branch NAME COMMIT`", on_no_branch(.0))]
    Unreachable(Vec<String>),
    /// Something else is where a worktree was to be
    #[error("`{}` is {what}; choose another path or remove it", path.display())]
    Occupied {
        /// Where
        path: PathBuf,
        /// Description
        what: String,
    },
    /// The worktree is locked
    #[error("the worktree `{}` is locked ({reason}); unlock it with `git worktree unlock`", path.display())]
    Locked {
        /// Where it is
        path: PathBuf,
        /// Why it was locked
        reason: String,
    },
    /// Git lacks what we need
    #[error("git {found} is too old; install git 2.38 or newer")]
    TooOld {
        /// The version there is
        found: String,
    },
    /// The history was cut off when the repository was cloned
    #[error(
        "this clone is shallow and lacks the history that is needed; run `git fetch --unshallow`"
    )]
    Shallow,
    /// Files were left out when the repository was cloned
    #[error(
        "this is a partial clone and lacks files that are needed ({0}); run `git fetch --refetch --no-filter`"
    )]
    Partial(String),
    /// The remote has commits that we lack
    #[error(
        "`{remote}` has commits on `{branch}` that are not here; fetch them, then merge or rebase, and push again"
    )]
    Rejected {
        /// The remote
        remote: String,
        /// The branch
        branch: String,
    },
    /// The remote does not want it
    #[error("`{remote}` refused the branch `{branch}`: {message}; look at its rules for branches")]
    Refused {
        /// The remote
        remote: String,
        /// The branch
        branch: String,
        /// Its reason
        message: String,
    },
    /// The remote does not know us
    #[error(
        "`{remote}` did not let us in: {message}; check the token, the key or the credential helper"
    )]
    Denied {
        /// The remote
        remote: String,
        /// Git's message
        message: String,
    },
    /// The remote does not answer
    #[error("`{remote}` could not be reached: {message}; check the network and try again")]
    Offline {
        /// The remote
        remote: String,
        /// Git's message
        message: String,
    },
    /// There is no remote of that name
    #[error("there is no remote `{0}`; add it with `git remote add {0} URL`")]
    NoRemote(String),
    /// Git did not start or did not end
    #[error(transparent)]
    Run(#[from] RunError),
    /// A file or folder could not be read or written
    #[error(transparent)]
    File(#[from] FileError),
    /// Git ended with an error that we know nothing of
    #[error("`git {command}` failed: {message}")]
    Failed {
        /// Command
        command: String,
        /// Message of the command
        message: String,
    },
}

impl GitError {
    /// True if a retry may succeed.
    pub fn is_transient(&self) -> bool {
        let is_slow = matches!(self, Self::Run(RunError::TooSlow { .. }));
        is_slow || matches!(self, Self::Busy(_) | Self::Offline { .. })
    }

    /// Classifies the error output of a failed command.
    pub(super) fn of(command: String, stderr: &[u8]) -> Self {
        let words = text(stderr);
        let reason = error_text(stderr);
        if is_busy(stderr) {
            Self::Busy(reason)
        } else if words.contains("lazy fetching disabled") || words.contains("promisor remote") {
            Self::Partial(reason)
        } else {
            Self::Failed { command, message: reason }
        }
    }
}

/// Git's message in one line, without secrets: its first error, else its last line.
pub(super) fn error_text(stderr: &[u8]) -> String {
    let words = text(stderr);
    let complaint = |line: &&str| line.starts_with("fatal: ") || line.starts_with("error: ");
    let line = words.lines().find(complaint);
    let line = line.or_else(|| words.lines().rfind(|line| !line.trim().is_empty()));
    let line = line.unwrap_or("no word").trim();
    let line =
        line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")).unwrap_or(line);
    without_secrets(&readable(line))
}

/// Takes out what stands before the host in addresses: it may be a password.
pub(super) fn without_secrets(line: &str) -> String {
    let mut parts = line.split("://");
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        clean.push_str("://");
        let end = part.find(['/', ' ', '\'', '"', '`']).unwrap_or(part.len());
        let (host, rest) = part.split_at(end);
        clean.push_str(host.rsplit('@').next().unwrap_or(host));
        clean.push_str(rest);
    }
    clean
}

/// A few names, and how many more.
fn names(all: &[String]) -> String {
    let mut told: Vec<String> =
        all.iter().take(MAX_FILES_NAMED).map(|name| format!("`{}`", readable(name))).collect();
    if all.len() > MAX_FILES_NAMED {
        told.push(format!("{} more", all.len() - MAX_FILES_NAMED));
    }
    told.join(", ")
}

fn on_no_branch(all: &[String]) -> String {
    format!("{} {}", names(all), if all.len() == 1 { "is" } else { "are" })
}

/// The files in conflict with their lines.
fn conflicts(all: &[Conflict]) -> String {
    let tell = |conflict: &Conflict| {
        let path = readable(&conflict.path);
        if conflict.lines.is_empty() {
            return format!("`{path}` ({})", conflict.kind);
        }
        let lines =
            conflict.lines.iter().take(MAX_FILES_NAMED).map(|(from, to)| format!("{from}-{to}"));
        format!("`{path}` ({}, lines {})", conflict.kind, lines.collect::<Vec<_>>().join(", "))
    };
    let mut told: Vec<String> = all.iter().take(MAX_FILES_NAMED).map(tell).collect();
    if all.len() > MAX_FILES_NAMED {
        told.push(format!("{} more", all.len() - MAX_FILES_NAMED));
    }
    told.join(", ")
}

#[cfg(test)]
mod tests;
