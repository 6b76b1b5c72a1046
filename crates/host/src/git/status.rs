//! Parses `git status` of a working tree.

use std::ffi::OsString;

use super::command::{os, split, text};
use super::repo::Tree;
use super::{GitError, Repo, hash};

/// A working tree at one moment.
#[derive(Debug, Default)]
pub(super) struct Status {
    pub(super) head: Option<String>,
    /// None where it is detached or has no commits
    pub(super) branch: Option<String>,
    pub(super) entries: Vec<Entry>,
}

/// A file that is not as in the commit.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) path: Vec<u8>,
    pub(super) kind: Kind,
}

/// In which way it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Git's letters for the index and for the working tree, `.` for unchanged
    Tracked {
        index: u8,
        tree: u8,
    },
    /// Git's letters for our side and theirs
    Unmerged {
        ours: u8,
        theirs: u8,
    },
    Untracked,
    /// Told only to who asks for it
    Ignored,
}

impl Entry {
    /// True for a nested repository that is not a submodule.
    pub(super) fn is_nested(&self) -> bool {
        self.kind == Kind::Untracked && self.path.ends_with(b"/")
    }

    pub(super) fn is_staged(&self) -> bool {
        matches!(self.kind, Kind::Tracked { index, .. } if index != b'.')
    }

    pub(super) fn is_unstaged(&self) -> bool {
        match self.kind {
            Kind::Tracked { tree, .. } => tree != b'.',
            Kind::Unmerged { .. } => true,
            Kind::Untracked | Kind::Ignored => false,
        }
    }

    /// True if staged content is neither in the commit nor in the working tree.
    pub(super) fn is_staged_only(&self) -> bool {
        self.is_staged() && self.is_unstaged()
    }
}

impl Status {
    /// The files of one sort, as people read them.
    pub(super) fn names(&self, sort: impl Fn(&Entry) -> bool) -> Vec<String> {
        self.entries.iter().filter(|entry| sort(entry)).map(|entry| text(&entry.path)).collect()
    }

    /// Path arguments that exclude nested repositories.
    pub(super) fn without_nested(&self) -> Vec<OsString> {
        let nested = self.entries.iter().filter(|entry| entry.is_nested());
        let exclude = |entry: &Entry| {
            let mut pathspec = OsString::from(":(top,exclude,literal)");
            pathspec.push(os(&entry.path));
            pathspec
        };
        nested.map(exclude).collect()
    }

    fn note(&mut self, record: &[u8]) {
        let after = |prefix: &[u8]| record.strip_prefix(prefix).map(text);
        if let Some(head) = after(b"# branch.oid ") {
            self.head = hash(&head);
        } else if let Some(name) = after(b"# branch.head ") {
            self.branch = (name != "(detached)").then_some(name);
        } else if let Some(path) = record.strip_prefix(b"? ") {
            self.entries.push(Entry { path: path.to_owned(), kind: Kind::Untracked });
        } else if let Some(path) = record.strip_prefix(b"! ") {
            self.entries.push(Entry { path: path.to_owned(), kind: Kind::Ignored });
        } else {
            self.entries.extend(entry(record));
        }
    }
}

/// A tracked file: its kind, its letters, things we do not need, and its name.
fn entry(record: &[u8]) -> Option<Entry> {
    let fields = if record.starts_with(b"u ") { 11 } else { 9 };
    let mut parts = record.splitn(fields, |byte| *byte == b' ');
    let sort = parts.next()?;
    let &[first, second] = parts.next()? else { return None };
    let path = parts.nth(fields - 3)?.to_owned();
    let kind = match sort {
        b"1" => Kind::Tracked { index: first, tree: second },
        b"u" => Kind::Unmerged { ours: first, theirs: second },
        _ => return None,
    };
    Some(Entry { path, kind })
}

impl Repo {
    /// Looks at a working tree, as far as the pathspecs reach.
    pub(super) fn status<S: AsRef<std::ffi::OsStr>>(
        &self,
        tree: &Tree,
        pathspecs: &[S],
    ) -> Result<Status, GitError> {
        let options = ["--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames"];
        // What is inside of submodules is looked at there, without the programs that they name.
        let order = self.git_in(tree)?.arg("status").args(options).arg("--ignore-submodules=dirty");
        let output = order.args(pathspecs).ask()?;
        let mut status = Status::default();
        for record in split(&output) {
            status.note(record);
        }
        if status.head.is_none() {
            status.branch = None;
        }
        Ok(status)
    }
}
