//! Which files changed, asked of git itself: without the hooks, monitors and filters of the repository.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use model::Timestamp;

use super::{git_dir, hash};
use crate::process::{self, Launch, RunError};
use crate::program;

/// More changes than this are counted, not listed.
const LISTED: usize = 200;
/// Where programs usually are, for those who do not know better.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";
/// What a repository's own configuration could have us run or fetch.
const CALM: [&str; 4] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "protocol.allow=never",
];
/// Files of ours are nobody's work.
const NOT_OURS: [&str; 3] = ["--", ":(top)", ":(top,exclude,glob)**/.adjutant/**"];

/// Git, as a program.
#[derive(Debug, Clone)]
pub struct Git {
    path: OsString,
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
    #[error("git failed: {said}")]
    Failed {
        /// The last line it wrote
        said: String,
    },
    /// The commit to begin from is no commit's hash
    #[error("`{0}` is not the hash of a commit")]
    NoCommit(String),
}

/// What happened to a file.
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

    /// Whether a file was touched since the beginning, as far as anybody can tell.
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
        let asked = Asked { git: self, top, limit, calm: self.filters(top, limit)? };
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

    /// Every filter that the repository's configuration names, so that it can be put out of action.
    fn filters(&self, top: &Path, limit: Duration) -> Result<Vec<(OsString, OsString)>, RunError> {
        let asked = Asked { git: self, top, limit, calm: Vec::new() };
        let list = ["config", "-z", "--name-only", "--get-regexp", "^filter\\."];
        // It also fails where there is none; if the configuration cannot be read, so fails what follows.
        let output = asked.run(&list)?.stdout;
        let mut calm: Vec<(OsString, OsString)> = Vec::new();
        for (index, name) in split(&output).enumerate() {
            calm.push((format!("GIT_CONFIG_KEY_{index}").into(), os(name)));
            let off = if name.ends_with(b".required") { "false" } else { "" };
            calm.push((format!("GIT_CONFIG_VALUE_{index}").into(), off.into()));
        }
        calm.push(("GIT_CONFIG_COUNT".into(), (calm.len() / 2).to_string().into()));
        Ok(calm)
    }
}

/// A repository that is asked.
struct Asked<'a> {
    git: &'a Git,
    top: &'a Path,
    limit: Duration,
    calm: Vec<(OsString, OsString)>,
}

impl Asked<'_> {
    /// What git answers, if it is content.
    fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, ChangesError> {
        let output = self.run(&[arguments, &NOT_OURS].concat())?;
        if output.exit.is_success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(ChangesError::Failed { said: readable(said.lines().last().unwrap_or("no word")) })
    }

    fn run(&self, arguments: &[&str]) -> Result<process::Output, RunError> {
        let mut all: Vec<OsString> = vec!["--no-optional-locks".into(), "--no-pager".into()];
        all.extend(CALM.iter().flat_map(|setting| ["-c".into(), OsString::from(setting)]));
        all.extend(arguments.iter().map(OsString::from));
        let plain = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let mut environment = vec![
            ("PATH".into(), self.git.path.clone()),
            plain("LC_ALL", "C"),
            plain("GIT_CONFIG_NOSYSTEM", "1"),
            plain("GIT_CONFIG_GLOBAL", "/dev/null"),
            plain("GIT_NO_LAZY_FETCH", "1"),
            plain("GIT_TERMINAL_PROMPT", "0"),
        ];
        environment.extend(self.calm.iter().cloned());
        let directory = self.top.to_owned();
        // By its path: with a name to look for, starting it costs a copy of our whole process.
        let path = self.git.path.to_string_lossy();
        let program = program::find("git", &path, self.top).unwrap_or_else(|| PathBuf::from("git"));
        process::run(&Launch { program, arguments: all, environment, directory }, self.limit)
    }
}

/// The fields of a list that zeros end.
fn split(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|field| !field.is_empty())
}

fn os(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt as _;
    OsStr::from_bytes(bytes).to_owned()
}

/// What happened to which file in the end.
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
        let mut lines: Vec<String> = self.0.iter().take(LISTED).map(line).collect();
        let more = self.0.len() - lines.len();
        if more > 0 {
            lines.push(format!("and {more} more files"));
        }
        lines
    }
}

/// One line, whatever is in it.
fn readable(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, c| {
        if c.is_control() {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
        text
    })
}

#[cfg(test)]
mod tests;
