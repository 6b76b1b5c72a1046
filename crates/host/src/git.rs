//! Access to git. Reads git's files where that is enough, so that a call's commit costs no process.
//!
//! Everything else, and every change, goes through git itself: [`Git`] is the program and
//! [`Repo`] one repository. All of it blocks. The server's own git runs without the hooks, monitors and filters of
//! the repository, see `command.rs`; only `push` is given the surroundings of the user.

mod branch;
mod changes;
mod checkout;
mod command;
mod commit;
mod conflict;
mod discard;
mod divergence;
mod error;
mod ignored;
mod look;
mod merge;
mod rebase;
mod remote;
mod repo;
mod rescue;
mod snapshot;
mod state;
mod status;
mod submodule;
mod tree;
mod worktree;

#[cfg(test)]
mod support;

use std::path::{Component, Path, PathBuf};

pub use changes::{ChangesError, Git};
pub use checkout::Checkout;
pub use commit::CommitIdentity;
pub use discard::going;
pub use error::{Conflict, GitError};
pub use ignored::{IgnorePatterns, IgnoredEntry, ignore_patterns};
pub use look::{Diff, DiffFile};
pub use merge::MergeOutcome;
pub use rebase::RebaseOutcome;
pub use remote::Push;
pub use repo::{Repo, RepoFacts};
pub use state::TreeState;
pub use worktree::WorktreeEntry;

use crate::files;

/// Upper bound on the small files of git: HEAD, a branch, where a worktree's git directory is.
const MAX_SMALL_FILE: u64 = 64 * 1024;
/// Upper bound on the list of packed branches; a longer one is not searched.
const MAX_PACKED_REFS: u64 = 64 * 1024 * 1024;

/// The commit that is checked out in the repository around `dir`, if there is one.
///
/// Blocks while it reads files that agents can write: not for a tokio worker, the writer thread or a place under a
/// lock. It never waits for a pipe, and never reads more than a limit.
pub fn head(dir: &Path) -> Option<String> {
    let git_dir = dir.ancestors().find_map(git_dir)?;
    let head = read_small(&git_dir.join("HEAD"))?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return hash(&head) };
    let name = Some(name).filter(|name| is_ref(name))?;
    let common = common_dir(&git_dir);
    let loose = read_small(&common.join(name)).and_then(|text| hash(&text));
    loose.or_else(|| {
        let packed = files::read_bytes(&common.join("packed-refs"), MAX_PACKED_REFS).ok()?;
        let mut lines = packed.split(|byte| *byte == b'\n');
        lines.find_map(|line| {
            let (commit, found) = std::str::from_utf8(line).ok()?.split_once(' ')?;
            (found == name).then(|| hash(commit)).flatten()
        })
    })
}

/// A small file of git's that is text.
fn read_small(path: &Path) -> Option<String> {
    String::from_utf8(files::read_bytes(path, MAX_SMALL_FILE).ok()?).ok()
}

/// Returns whether HEAD may name this: something below `refs`, and nothing that leads out of it.
fn is_ref(name: &str) -> bool {
    let is_inside = |part| matches!(part, Component::Normal(_));
    name.starts_with("refs/") && Path::new(name).components().all(is_inside)
}

/// The branch and the commit that are checked out in the repository around `dir`, if both can be told from its
/// files.
pub fn checked_out(dir: &Path) -> Option<(String, String)> {
    let git_dir = dir.ancestors().find_map(git_dir)?;
    let name = read_small(&git_dir.join("HEAD"))?;
    let branch = name.trim().strip_prefix("ref: refs/heads/")?.to_owned();
    // Git's newer store of branches has a HEAD that says nothing.
    (branch != ".invalid").then_some(())?;
    Some((branch, head(dir)?))
}

/// True if `dir` appears to be inside a repository, judged by files, without a process.
pub fn is_around(dir: &Path) -> bool {
    let is_bare = |dir: &Path| {
        dir.join("HEAD").is_file() && dir.join("objects").is_dir() && dir.join("refs").is_dir()
    };
    dir.ancestors().any(|dir| git_dir(dir).is_some() || is_bare(dir))
}

fn git_dir(dir: &Path) -> Option<PathBuf> {
    let dot = dir.join(".git");
    if dot.is_dir() {
        return Some(dot);
    }
    let text = files::read_bytes(&dot, MAX_SMALL_FILE).ok()?;
    Some(dir.join(command::os(text.trim_ascii_end().strip_prefix(b"gitdir: ")?)))
}

/// The repository that a git directory is part of: a worktree keeps its own HEAD and shares the branches.
fn common_dir(git_dir: &Path) -> PathBuf {
    match files::read_bytes(&git_dir.join("commondir"), MAX_SMALL_FILE) {
        Ok(text) => git_dir.join(command::os(text.trim_ascii_end())),
        Err(_) => git_dir.to_owned(),
    }
}

fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    let hex = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    hex.then(|| text.to_owned())
}
