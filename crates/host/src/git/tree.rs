//! Trees and files of commits, read and made without a working tree.

use std::ffi::OsString;

use super::branch::is_plain;
use super::command::{os, split, text};
use super::{GitError, Repo};

/// A blob or a tree and its name in the tree above it.
#[derive(Debug)]
struct Item<'a> {
    mode: &'a [u8],
    kind: &'a [u8],
    hash: &'a [u8],
    name: &'a [u8],
}

impl<'a> Item<'a> {
    /// Reads a line such as `100644 blob 8ab6… tab name`.
    fn of(entry: &'a [u8]) -> Option<Self> {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let (facts, name) = entry.split_at(tab);
        let mut facts = facts.split(|byte| *byte == b' ');
        let (mode, kind, hash) = (facts.next()?, facts.next()?, facts.next()?);
        Some(Self { mode, kind, hash, name: name.get(1..)? })
    }

    fn write(&self, to: &mut Vec<u8>) {
        to.extend([self.mode, b" ", self.kind, b" ", self.hash, b"\t", self.name, b"\0"].concat());
    }
}

impl Repo {
    /// A tree like this one with one file changed, or removed where there is no content.
    pub fn tree_with(
        &self,
        tree: &str,
        path: &str,
        content: Option<&[u8]>,
    ) -> Result<String, GitError> {
        let parts = parts(path)?;
        let blob = match content {
            Some(content) => {
                let order = self.git()?.args(["hash-object", "-w", "--stdin"]);
                Some(order.input(content).ask_line()?)
            }
            None => None,
        };
        let tree = self.tree_of(tree)?;
        match self.put(Some(&tree), path, &parts, blob.as_deref())? {
            Some(changed) => Ok(changed),
            None => self.make_tree(Vec::new()),
        }
    }

    /// Puts a blob into a tree, or takes one out; none where nothing is left.
    fn put(
        &self,
        tree: Option<&str>,
        path: &str,
        parts: &[&str],
        blob: Option<&str>,
    ) -> Result<Option<String>, GitError> {
        let bad = || GitError::BadPath(path.to_owned());
        let (name, below) = parts.split_first().ok_or_else(bad)?;
        let listed = match tree {
            Some(tree) => self.git()?.args(["ls-tree", "-z", tree]).ask()?,
            None => Vec::new(),
        };
        let items: Vec<Item<'_>> = split(&listed).filter_map(Item::of).collect();
        let old = items.iter().find(|item| item.name == name.as_bytes());
        let is_tree = old.is_some_and(|old| old.kind == b"tree");
        let child = if below.is_empty() {
            if is_tree {
                return Err(bad());
            }
            blob.map(str::to_owned)
        } else {
            if old.is_some() && !is_tree {
                // A file is where the folder would be: there is nothing to take out, and no room to put in.
                return if blob.is_some() { Err(bad()) } else { Ok(tree.map(str::to_owned)) };
            }
            let old = old.map(|old| text(old.hash));
            self.put(old.as_deref(), path, below, blob)?
        };
        let mut lines = Vec::new();
        items
            .iter()
            .filter(|item| item.name != name.as_bytes())
            .for_each(|one| one.write(&mut lines));
        if let Some(child) = &child {
            let mode: &[u8] = match old {
                _ if !below.is_empty() => b"040000",
                Some(old) if old.mode == b"100755" => b"100755",
                _ => b"100644",
            };
            let kind: &[u8] = if below.is_empty() { b"blob" } else { b"tree" };
            Item { mode, kind, hash: child.as_bytes(), name: name.as_bytes() }.write(&mut lines);
        }
        if lines.is_empty() { Ok(None) } else { self.make_tree(lines).map(Some) }
    }

    /// Makes a tree of lines as `ls-tree -z` gives them.
    pub(super) fn make_tree(&self, lines: Vec<u8>) -> Result<String, GitError> {
        // Submodules, and files that a partial clone left out, are not here.
        self.git()?.args(["mktree", "-z", "--missing"]).input(lines).ask_line()
    }

    /// The tree of a commit.
    pub(super) fn tree_of(&self, commit: &str) -> Result<String, GitError> {
        let none = || GitError::NoSuchRevision(commit.to_owned());
        if !is_plain(commit) {
            return Err(none());
        }
        let order = self.git()?.args(["rev-parse", "--quiet", "--verify"]);
        let output = order.arg(format!("{commit}^{{tree}}")).run()?;
        if output.exit.is_success() {
            Ok(super::command::line(&output.stdout))
        } else {
            Err(none())
        }
    }

    /// Content of a file in a commit, if present.
    pub fn file_at(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        parts(path)?;
        let commit = self.commit(commit)?;
        let found = self.contents(&[os(format!("{commit}:{path}").as_bytes())])?;
        Ok(found.into_iter().next().flatten())
    }

    /// Contents of blobs by names such as `commit:path`; `None` for missing ones and non-files.
    pub(super) fn contents(&self, names: &[OsString]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        use std::os::unix::ffi::OsStrExt as _;
        let mut input = Vec::new();
        for name in names {
            input.extend_from_slice(name.as_bytes());
            input.push(0);
        }
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let order = self.git()?.args(["cat-file", "--batch", "-z"]).input(input);
        let answer = order.ask()?;
        let mut rest: &[u8] = &answer;
        let mut found = Vec::new();
        for name in names {
            let odd =
                || GitError::Failed { command: "cat-file".into(), message: "odd answer".into() };
            let (content, after) = content(rest, name.as_bytes()).ok_or_else(odd)?;
            found.push(content);
            rest = after;
        }
        Ok(found)
    }
}

/// The first object of an answer, and what comes after it.
fn content<'a>(answer: &'a [u8], name: &[u8]) -> Option<(Option<Vec<u8>>, &'a [u8])> {
    // The name is repeated as it is, and may have several lines.
    for suffix in [&b" missing\n"[..], b" ambiguous\n"] {
        if let Some(after) = answer.strip_prefix(name).and_then(|rest| rest.strip_prefix(suffix)) {
            return Some((None, after));
        }
    }
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let (header, rest) = answer.split_at(end);
    let header = text(header);
    let mut words = header.split(' ').skip(1);
    let kind = words.next()?;
    let Some(size) = words.next() else {
        // Newer versions say `submodule` and no more.
        return Some((None, rest.get(1..)?));
    };
    let size: usize = size.parse().ok()?;
    let content = rest.get(1..=size)?;
    let after = rest.get(size + 2..)?;
    Some(((kind == "blob").then(|| content.to_owned()), after))
}

/// The parts of a path inside of a repository.
fn parts(path: &str) -> Result<Vec<&str>, GitError> {
    let parts: Vec<&str> = path.split('/').collect();
    let is_bad = |part: &str| {
        matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git") || part.contains('\0')
    };
    if parts.iter().any(|part| is_bad(part)) {
        return Err(GitError::BadPath(path.to_owned()));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests;
