//! Differences between commits, or between a commit and a working tree.

use std::path::Path;

use model::Timestamp;

use super::branch::is_plain;
use super::command::{GitInvocation, split, text};
use super::repo::Tree;
use super::snapshot::IndexCopy;
use super::state::OUTSIDE_HOME_PATHS;
use super::status::Status;
use super::{GitError, Repo};

/// Larger files are told of and not shown: nobody reads that much, and it has to go through memory.
const BIG_FILE_THRESHOLD: &str = "8m";
/// Options for diffs, whatever the repository configures.
const DIFF_OPTIONS: [&str; 16] = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--find-renames",
    "--submodule=short",
    "--ignore-submodules=dirty",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--unified=3",
    "--inter-hunk-context=0",
    "-O/dev/null",
    "-z",
    "--raw",
    "--numstat",
    "--patch",
];

/// A diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// As a patch, no longer than was asked for
    pub text: String,
    /// True if the patch was truncated
    pub cut: bool,
    /// Every file that differs
    pub files: Vec<DiffFile>,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffFile {
    /// Its name, the new one where it was renamed
    pub path: String,
    /// Its old name, where it was renamed or copied
    pub old: Option<String>,
    /// Number of added lines; `None` for binary files
    pub added: Option<u64>,
    /// Number of removed lines; `None` for binary files
    pub removed: Option<u64>,
    /// `added`, `changed`, `deleted`, `renamed`, `copied`, `retyped` or `unmerged`
    pub status: &'static str,
}

impl Repo {
    /// Diff from the merge base to `to`, as a pull request shows it.
    pub fn diff(&self, from: &str, to: &str, max_bytes: usize) -> Result<Diff, GitError> {
        let to = self.commit(to)?;
        let order = self.between(from, &to)?.args(DIFF_OPTIONS);
        let order = order.configs([("core.bigFileThreshold".into(), BIG_FILE_THRESHOLD.into())]);
        Ok(read(&self.attributes_of(order, &to).ask()?, max_bytes))
    }

    /// Diff of uncommitted changes in the working tree of `dir`, including new files.
    pub fn uncommitted_diff(&self, dir: &Path, max_bytes: usize) -> Result<Diff, GitError> {
        let tree = self.tree(dir)?;
        let status = self.status(&tree, &OUTSIDE_HOME_PATHS)?;
        let base = match &status.head {
            Some(head) => head.clone(),
            None => self.make_tree(Vec::new())?,
        };
        self.files_against(&tree, &status, &base, max_bytes)
    }

    /// Diff from a commit to the working tree of `dir`: commits since, and uncommitted
    /// committed yet. Says whether anything is not.
    pub fn work_diff(
        &self,
        dir: &Path,
        base: &str,
        max_bytes: usize,
    ) -> Result<(Diff, bool), GitError> {
        let tree = self.tree(dir)?;
        let status = self.status(&tree, &OUTSIDE_HOME_PATHS)?;
        let base = self.commit(base)?;
        let is_open = !status.entries.is_empty();
        Ok((self.files_against(&tree, &status, &base, max_bytes)?, is_open))
    }

    /// Compares a working tree with a commit or a tree.
    fn files_against(
        &self,
        tree: &Tree,
        status: &Status,
        base: &str,
        max_bytes: usize,
    ) -> Result<Diff, GitError> {
        let copy = IndexCopy::of(tree)?;
        let git = || Ok::<_, GitError>(self.git_in(tree)?.env("GIT_INDEX_FILE", copy.path()));
        // Announced, new files are shown; they are not stored.
        let add = git()?.args(["add", "--intent-to-add", "--sparse"]).args(OUTSIDE_HOME_PATHS);
        add.args(status.without_nested()).ask()?;
        let order = git()?.arg("diff").args(DIFF_OPTIONS).arg(base).args(OUTSIDE_HOME_PATHS);
        let order = order.configs([("core.bigFileThreshold".into(), BIG_FILE_THRESHOLD.into())]);
        Ok(read(&order.ask()?, max_bytes))
    }

    /// The newest commit that both have, if they have one.
    pub fn common_ancestor(&self, a: &str, b: &str) -> Result<Option<String>, GitError> {
        let (a, b) = (self.commit(a)?, self.commit(b)?);
        let base = self.git()?.args(["merge-base", &a, &b]).ask_maybe()?;
        Ok(base.map(|base| super::command::line(&base)))
    }

    /// The commits that `to` has and `from` lacks, the newest first, each with its time and the first line of its
    /// message.
    pub fn history(
        &self,
        from: &str,
        to: &str,
        max: usize,
    ) -> Result<Vec<(String, Timestamp, String)>, GitError> {
        let (from, to) = (self.commit(from)?, self.commit(to)?);
        let order = self.git()?.args(["log", "-z", "--no-color", "--topo-order"]);
        let order = order.arg("--format=%H %ct %s");
        let order = order.arg(format!("--max-count={max}")).arg(format!("{from}..{to}"));
        let output = order.args(["--"]).ask()?;
        let commit = |entry: &[u8]| {
            let entry = text(entry);
            let mut words = entry.splitn(3, ' ');
            let (hash, seconds) = (words.next()?.to_owned(), words.next()?.parse::<i64>().ok()?);
            let at = Timestamp::from_millis(seconds.saturating_mul(1000));
            Some((hash, at, words.next().unwrap_or_default().to_owned()))
        };
        Ok(split(&output).filter_map(commit).collect())
    }

    /// The files that differ between `to` and its common ancestor with `from`, under their old and their new names.
    pub fn changed_files(&self, from: &str, to: &str) -> Result<Vec<String>, GitError> {
        let to = self.commit(to)?;
        let order = self.between(from, &to)?.args(["--name-only", "-z", "--no-renames"]);
        let order = order.args(["--no-ext-diff", "--no-relative", "-O/dev/null"]);
        Ok(split(&order.ask()?).map(text).collect())
    }

    /// Compares a commit with its common ancestor with another one.
    fn between(&self, from: &str, to: &str) -> Result<GitInvocation, GitError> {
        let from = self.commit(from)?;
        let base = self.git()?.args(["merge-base", &from, to]).ask_maybe()?;
        let base = base.ok_or_else(|| self.unrelated(&from, to))?;
        Ok(self.git()?.args(["diff", &super::command::line(&base), to]))
    }

    /// The commits that `to` has and `from` lacks, the newest first, each with the first line of its message.
    pub fn log(&self, from: &str, to: &str, max: usize) -> Result<Vec<(String, String)>, GitError> {
        let (from, to) = (self.commit(from)?, self.commit(to)?);
        let order = self.git()?.args(["log", "-z", "--no-color", "--format=%H %s"]);
        let order = order.arg(format!("--max-count={max}")).arg(format!("{from}..{to}"));
        let output = order.args(["--"]).ask()?;
        let commit = |entry: &[u8]| {
            let entry = text(entry);
            let (hash, subject) = entry.split_once(' ')?;
            Some((hash.to_owned(), subject.to_owned()))
        };
        Ok(split(&output).filter_map(commit).collect())
    }

    /// Counts the commits that `head` has and `target` lacks, and the other way round.
    pub fn ahead_behind(&self, target: &str, head: &str) -> Result<(usize, usize), GitError> {
        for rev in [target, head] {
            if !is_plain(rev) {
                return Err(GitError::NoSuchRevision(rev.to_owned()));
            }
        }
        let order = self.git()?.args(["rev-list", "--left-right", "--count"]);
        let order = order.arg(format!("{target}...{head}")).arg("--");
        let answer = match order.ask() {
            Ok(answer) => text(&answer),
            Err(error) => {
                // Perhaps there is no such commit: then that is what to say.
                self.commit(target)?;
                self.commit(head)?;
                return Err(error);
            }
        };
        let mut counts = answer.split_whitespace().filter_map(|count| count.parse().ok());
        let behind = counts.next().unwrap_or_default();
        Ok((counts.next().unwrap_or_default(), behind))
    }

    /// The whole message of a commit.
    pub fn message(&self, commit: &str) -> Result<String, GitError> {
        let commit = self.commit(commit)?;
        let order = self.git()?.args(["log", "-1", "--no-color", "--format=%B"]).arg(commit);
        Ok(text(&order.args(["--"]).ask()?).trim_end().to_owned())
    }
}

/// Reads an answer: the files, their numbers, and behind an empty field the patch.
fn read(output: &[u8], max_bytes: usize) -> Diff {
    let mut rest = output;
    let mut files = Vec::new();
    while rest.starts_with(b":") {
        let letter = field(&mut rest).rsplit(|byte| *byte == b' ').next().unwrap_or_default();
        let letter = letter.first().copied().unwrap_or_default();
        let mut path = field(&mut rest);
        let mut old = None;
        if matches!(letter, b'R' | b'C') {
            old = Some(text(path));
            path = field(&mut rest);
        }
        let status = word(letter);
        files.push(DiffFile { path: text(path), old, added: None, removed: None, status });
    }
    for file in &mut files {
        let numbers = text(field(&mut rest));
        let mut parts = numbers.splitn(3, '\t');
        let mut number = || parts.next().and_then(|number| number.parse().ok());
        (file.added, file.removed) = (number(), number());
        if parts.next() == Some("") {
            // The old and the new name stand in fields of their own.
            field(&mut rest);
            field(&mut rest);
        }
    }
    let patch = rest.strip_prefix(b"\0").unwrap_or(rest);
    let (text, cut) = head(patch, max_bytes);
    Diff { text, cut, files }
}

/// Takes the next field off.
fn field<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
    let (field, after) = rest.split_at(end);
    *rest = after.get(1..).unwrap_or_default();
    field
}

const fn word(letter: u8) -> &'static str {
    match letter {
        b'A' => "added",
        b'D' => "deleted",
        b'R' => "renamed",
        b'C' => "copied",
        b'T' => "retyped",
        b'U' => "unmerged",
        _ => "changed",
    }
}

/// The beginning of a text, cut between two characters, and whether there is more.
fn head(patch: &[u8], max_bytes: usize) -> (String, bool) {
    // What is not text grows when it is made readable, so it is cut afterwards.
    let more = patch.len() > max_bytes;
    let mut told = text(patch.get(..max_bytes.saturating_add(4)).unwrap_or(patch));
    let mut end = max_bytes.min(told.len());
    while !told.is_char_boundary(end) {
        end -= 1;
    }
    let cut = more || end < told.len();
    told.truncate(end);
    (told, cut)
}

#[cfg(test)]
mod tests;
