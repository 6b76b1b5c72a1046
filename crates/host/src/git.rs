//! What git knows, read from its files where that is enough: a call's commit costs no process.
//!
//! What is not in its files, and whatever changes something, is asked of git itself: [`Git`] is the program and
//! [`Repo`] one repository. All of it blocks. The server's own git runs without the hooks, monitors and filters of
//! the repository, see `command.rs`; only `push` is given the surroundings of the user.

mod branch;
mod changes;
mod checkout;
mod command;
mod commit;
mod conflict;
mod discard;
mod error;
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

use std::fs;
use std::path::{Path, PathBuf};

pub use changes::{ChangesError, Git};
pub use checkout::Checkout;
pub use commit::Who;
pub use error::{Conflict, GitError};
pub use look::{Diff, DiffFile};
pub use merge::Merged;
pub use rebase::Rebased;
pub use remote::Push;
pub use repo::{Facts, Repo};
pub use state::TreeState;
pub use worktree::WorktreeEntry;

/// The commit that is checked out in the repository around `dir`, if there is one.
pub fn head(dir: &Path) -> Option<String> {
    let git_dir = dir.ancestors().find_map(git_dir)?;
    let head = fs::read_to_string(git_dir.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return hash(&head) };
    let common = common_dir(&git_dir);
    let loose = fs::read_to_string(common.join(name)).ok().and_then(|text| hash(&text));
    loose.or_else(|| {
        let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
        let line = packed.lines().find(|line| line.split(' ').nth(1) == Some(name))?;
        hash(line.split(' ').next()?)
    })
}

/// The branch and the commit that are checked out in the repository around `dir`, if both can be told from its
/// files.
pub fn checked_out(dir: &Path) -> Option<(String, String)> {
    let git_dir = dir.ancestors().find_map(git_dir)?;
    let name = fs::read_to_string(git_dir.join("HEAD")).ok()?;
    let branch = name.trim().strip_prefix("ref: refs/heads/")?.to_owned();
    // Git's newer store of branches has a HEAD that says nothing.
    (branch != ".invalid").then_some(())?;
    Some((branch, head(dir)?))
}

/// Whether a repository seems to be around `dir`, as its files tell: asking git costs a process.
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
    let text = fs::read(&dot).ok()?;
    Some(dir.join(command::os(text.trim_ascii_end().strip_prefix(b"gitdir: ")?)))
}

/// The repository that a git directory is part of: a worktree keeps its own HEAD and shares the branches.
fn common_dir(git_dir: &Path) -> PathBuf {
    match fs::read(git_dir.join("commondir")) {
        Ok(text) => git_dir.join(command::os(text.trim_ascii_end())),
        Err(_) => git_dir.to_owned(),
    }
}

fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    let hex = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    hex.then(|| text.to_owned())
}
