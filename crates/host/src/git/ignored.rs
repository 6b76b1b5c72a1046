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

/// Patterns with the syntax of `.gitignore`, and the folder that they count from and match below.
#[derive(Debug, Clone, Copy)]
pub struct IgnorePatterns<'a> {
    /// A folder of the working tree
    pub dir: &'a Path,
    /// One pattern each, without comments
    pub patterns: &'a [String],
}

impl Repo {
    /// Lists what matches one of the patterns and is ignored by git. The lists belong to one working tree, and the last
    /// pattern that matches decides. A folder in which nothing is tracked is one entry.
    pub fn ignored_matching(
        &self,
        lists: &[IgnorePatterns<'_>],
    ) -> Result<Vec<IgnoredEntry>, GitError> {
        let lists = lists.iter().filter(|list| !list.patterns.is_empty());
        let lists: Vec<&IgnorePatterns<'_>> = lists.collect();
        let Some(first) = lists.first() else { return Ok(Vec::new()) };
        let tree = self.tree(first.dir)?;
        let mut order = self.git_in(&tree)?;
        order = order.args(["ls-files", "-z", "--others", "--ignored", "--directory"]);
        let mut places = Vec::new();
        for list in lists {
            let dir = list.dir.canonicalize().unwrap_or_else(|_| list.dir.to_owned());
            let below = dir.strip_prefix(&tree.top).unwrap_or_else(|_| Path::new(""));
            for pattern in list.patterns {
                order = order.arg(format!("--exclude={}", anchored(pattern, below)));
            }
            let mut place = OsString::from(":(top,literal)");
            place.push(below);
            places.push(place);
        }
        let found = order.arg("--").args(places).ask()?;
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

/// The patterns of a file with the syntax of `.gitignore`, read as git reads it: without comments, empty lines and
/// spaces at the end of a line that no backslash protects.
pub fn ignore_patterns(text: &str) -> Vec<String> {
    let text = text.trim_start_matches('\u{feff}');
    let lines = text.lines().map(|line| without_last_spaces(line.trim_end_matches('\r')));
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

fn without_last_spaces(line: &str) -> &str {
    let mut end = 0;
    let mut is_escaped = false;
    for (at, letter) in line.char_indices() {
        if is_escaped || letter != ' ' {
            end = at + letter.len_utf8();
        }
        is_escaped = !is_escaped && letter == '\\';
    }
    line.get(..end).unwrap_or(line)
}

/// A pattern as git reads it at the top of the working tree, for one that counts from a folder below it.
fn anchored(pattern: &str, below: &Path) -> String {
    if below.as_os_str().is_empty() {
        return pattern.to_owned();
    }
    let (not, rest) = pattern.strip_prefix('!').map_or(("", pattern), |rest| ("!", rest));
    let is_anchored = rest.trim_end_matches('/').contains('/');
    // One without a slash matches at any depth, and still nowhere but below its own folder.
    let depth = if is_anchored { "" } else { "**/" };
    format!("{not}/{}/{depth}{}", below.display(), rest.trim_start_matches('/'))
}

#[cfg(test)]
mod tests;
