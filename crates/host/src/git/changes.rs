//! Files changed since a commit, for an agent's result.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use model::Timestamp;

use super::command::{GitInvocation, ProgramSettings, USUAL_PATH, os, readable, split};
use super::error::error_text;
use super::state::OUTSIDE_HOME_PATHS;
use super::{git_dir, hash};
use crate::process::RunError;

/// More changes than this are counted, not listed.
const MAX_FILES_LISTED: usize = 200;

/// Git, as a program.
#[derive(Debug, Clone)]
pub struct Git {
    pub(super) path: OsString,
    /// Untracked files that are older are not counted
    began: Option<Timestamp>,
}

impl Default for Git {
    /// Git in one of the usual places.
    fn default() -> Self {
        Self { path: USUAL_PATH.into(), began: None }
    }
}

/// Changes that could not be found out.
#[derive(Debug, thiserror::Error)]
pub enum ChangesError {
    /// Git did not start or did not end
    #[error(transparent)]
    Run(#[from] RunError),
    /// Git ended with an error
    #[error("git failed: {message}")]
    Failed {
        /// The last line it wrote
        message: String,
    },
    /// The commit to begin from is no commit's hash
    #[error("`{0}` is not the hash of a commit")]
    NoCommit(String),
}

/// Kind of change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Added,
    Changed,
    Deleted,
}

impl Change {
    const fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }
}

impl Git {
    /// Git, where this `PATH` has it; in one of the usual places where it is empty.
    pub fn on_path(path: &OsStr) -> Self {
        if path.is_empty() { Self::default() } else { Self { path: path.to_owned(), began: None } }
    }

    /// Leaves out untracked files that were there before: what nobody has touched since is no change.
    #[must_use]
    pub fn since(self, began: Timestamp) -> Self {
        Self { began: Some(began), ..self }
    }

    /// True if a file was modified since the start, as far as its times tell.
    fn is_new(&self, path: &Path) -> bool {
        let Some(began) = self.began else { return true };
        let touched = path.symlink_metadata().and_then(|meta| meta.modified());
        let touched = touched.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        touched.is_none_or(|at| i64::try_from(at.as_millis()).unwrap_or(0) >= began.as_millis())
    }

    /// The files of the repository around `dir` that changed since the commit `base`: committed or not, untracked
    /// ones too. Without a `base`, the time before the first commit, all files are new. Each is a line such as
    /// `changed src/lib.rs`, at most 200 and then how many more. No repository, no changes. Each of the up to three
    /// steps may take as long as `limit` says. Blocks.
    pub fn changes_since(
        &self,
        dir: &Path,
        base: Option<&str>,
        limit: Duration,
    ) -> Result<Vec<String>, ChangesError> {
        let Some(top) = dir.ancestors().find(|dir| git_dir(dir).is_some()) else {
            return Ok(Vec::new());
        };
        let order = || GitInvocation::new(&self.path, top, limit);
        let asked = RepositoryQuery { order: order().configs(ProgramSettings::ask(order())?.off) };
        let mut changes = Changes::default();
        let Some(base) = base else {
            let listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
            for name in split(&asked.ask(&listing)?) {
                if self.is_new(&top.join(os(name))) {
                    changes.note(name, Change::Added);
                }
            }
            return Ok(changes.told());
        };
        let base = hash(base).ok_or_else(|| ChangesError::NoCommit(base.into()))?;
        let committed = ["diff-tree", "-r", "-z", "--no-renames", "--name-status", &base, "HEAD"];
        let output = asked.ask(&committed)?;
        let mut fields = split(&output);
        while let (Some(&[status, ..]), Some(name)) = (fields.next(), fields.next()) {
            changes.note_status(name, status);
        }
        // It looks into files that only seem changed, and unlike `diff` leaves the index alone.
        let open = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"];
        for entry in split(&asked.ask(&[&open[..], &["--ignore-submodules=dirty"]].concat())?) {
            if let &[index, tree, b' ', ref name @ ..] = entry {
                if tree == b'?' && !self.is_new(&top.join(os(name))) {
                    continue;
                }
                changes.note_status(name, index);
                // Untracked files have two question marks and were added once.
                changes.note_status(name, if tree == b'?' { b' ' } else { tree });
            }
        }
        Ok(changes.told())
    }
}

/// A repository that is asked.
struct RepositoryQuery {
    order: GitInvocation,
}

impl RepositoryQuery {
    /// Runs git and returns its output on success.
    fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, ChangesError> {
        let output = self.order.clone().args(arguments).args(OUTSIDE_HOME_PATHS).run()?;
        if output.exit.is_success() {
            return Ok(output.stdout);
        }
        Err(ChangesError::Failed { message: error_text(&output.stderr) })
    }
}

/// Net changes by file.
#[derive(Debug, Default)]
struct Changes(BTreeMap<Vec<u8>, Change>);

impl Changes {
    /// Notes a change by git's letter for it.
    fn note_status(&mut self, name: &[u8], status: u8) {
        match status {
            b' ' | b'!' => {}
            b'A' | b'?' => self.note(name, Change::Added),
            b'D' => self.note(name, Change::Deleted),
            _ => self.note(name, Change::Changed),
        }
    }

    /// Notes a change that came after those noted before.
    fn note(&mut self, name: &[u8], change: Change) {
        let both = match (self.0.get(name), change) {
            // It came and went.
            (Some(Change::Added), Change::Deleted) => None,
            (Some(Change::Added), _) => Some(Change::Added),
            (Some(_), Change::Added) => Some(Change::Changed),
            (_, change) => Some(change),
        };
        match both {
            Some(change) => self.0.insert(name.to_vec(), change),
            None => self.0.remove(name),
        };
    }

    fn told(&self) -> Vec<String> {
        let line = |(name, change): (&Vec<u8>, &Change)| {
            format!("{} {}", change.word(), readable(&String::from_utf8_lossy(name)))
        };
        let mut lines: Vec<String> = self.0.iter().take(MAX_FILES_LISTED).map(line).collect();
        let more = self.0.len() - lines.len();
        if more > 0 {
            lines.push(format!("and {more} more files"));
        }
        lines
    }
}

#[cfg(test)]
mod tests;
