//! Files that git ignores: which of them match patterns, and which paths would be ignored.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::command::{os, split};
use super::repo::Tree;
use super::{GitError, Repo};

/// An ignored file or folder, relative to the top of its working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredEntry {
    /// Relative path
    pub path: PathBuf,
    /// True for a folder in which nothing is tracked
    pub is_folder: bool,
}

impl Repo {
    /// Lists what lies below `dir`, matches one of the patterns and is ignored by git. Patterns have the syntax of
    /// `.gitignore` and count from `dir`. A folder in which nothing is tracked is one entry.
    pub fn ignored_matching(
        &self,
        dir: &Path,
        patterns: &[String],
    ) -> Result<Vec<IgnoredEntry>, GitError> {
        if patterns.is_empty() {
            return Ok(Vec::new());
        }
        let tree = self.tree(dir)?;
        let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let below = dir.strip_prefix(&tree.top).unwrap_or_else(|_| Path::new("")).to_owned();
        let order = self.git_in(&tree)?;
        let order = order.args(["ls-files", "-z", "--others", "--ignored", "--directory"]);
        let order = patterns.iter().fold(order, |order, pattern| {
            order.arg(format!("--exclude={}", anchored(pattern, &below)))
        });
        let mut place = OsString::from(":(top,literal)");
        place.push(&below);
        let found = order.arg("--").arg(place).ask()?;
        let entry = |name: &[u8]| {
            let folder = name.strip_suffix(b"/");
            let path = PathBuf::from(os(folder.unwrap_or(name)));
            IgnoredEntry { path, is_folder: folder.is_some() }
        };
        let matching: Vec<IgnoredEntry> = split(&found).map(entry).collect();
        let ignored = self.ignored_among(&tree, &matching)?;
        let ours = |entry: &IgnoredEntry| {
            entry.path.components().any(|part| part.as_os_str() == ".adjutant")
        };
        Ok(matching
            .into_iter()
            .zip(ignored)
            .filter(|(entry, is_ignored)| *is_ignored && !ours(entry))
            .map(|(entry, _)| entry)
            .collect())
    }

    /// Returns for each entry whether the working tree around `dir` ignores it. The entries need not exist there.
    pub fn ignores(&self, dir: &Path, entries: &[IgnoredEntry]) -> Result<Vec<bool>, GitError> {
        self.ignored_among(&self.tree(dir)?, entries)
    }

    fn ignored_among(&self, tree: &Tree, entries: &[IgnoredEntry]) -> Result<Vec<bool>, GitError> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<Vec<u8>> = entries
            .iter()
            .map(|entry| {
                let mut name = entry.path.as_os_str().as_bytes().to_vec();
                name.extend(entry.is_folder.then_some(b'/'));
                name
            })
            .collect();
        let mut input = names.join(&0);
        input.push(0);
        let order = self.git_in(tree)?.args(["check-ignore", "-z", "--stdin"]).input(input);
        // Nothing ignored is an exit code of its own.
        let answer = order.ask_maybe()?.unwrap_or_default();
        let ignored: HashSet<&[u8]> = split(&answer).collect();
        Ok(names.iter().map(|name| ignored.contains(name.as_slice())).collect())
    }
}

/// A pattern as git reads it at the top of the working tree, for one that counts from a folder below it.
fn anchored(pattern: &str, below: &Path) -> String {
    let (not, rest) = pattern.strip_prefix('!').map_or(("", pattern), |rest| ("!", rest));
    let is_anchored = rest.trim_end_matches('/').contains('/');
    if !is_anchored || below.as_os_str().is_empty() {
        return pattern.to_owned();
    }
    format!("{not}/{}/{}", below.display(), rest.trim_start_matches('/'))
}

#[cfg(test)]
mod tests;
