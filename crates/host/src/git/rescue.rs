//! Rescue: what is uncommitted in a working tree becomes a commit on a branch, and nothing in the tree is touched.

use std::path::Path;

use super::branch::{check_name, full};
use super::command::text;
use super::commit::CommitIdentity;
use super::repo::Tree;
use super::snapshot::Snapshot;
use super::state::precious;
use super::status::Status;
use super::{GitError, Repo};

/// Maximum number of rescue branches of one name.
const MAX_RESCUE_BRANCHES: u32 = 10_000;

impl Repo {
    /// Commits everything uncommitted, whatever state the working tree around `dir` is in, and has a branch point at
    /// it: `branch`, or `branch-2` and so on where that is taken. The commit's first parent is what is checked out.
    /// None where there is nothing that is not on a branch already. Index, HEAD and files stay as they are. A second
    /// rescue of the same finds the first.
    ///
    /// Staged content that differs from the files goes into a parent commit. Nested repositories are left
    /// out: they cannot be part of a commit.
    pub fn rescue(
        &self,
        dir: &Path,
        branch: &str,
        message: &str,
        who: &CommitIdentity,
    ) -> Result<Option<String>, GitError> {
        check_name(branch)?;
        let tree = self.unhidden(self.tree(dir)?)?;
        let status = self.status(&tree, precious(&tree))?;
        let loose = self.loose_commits(&tree, &status)?;
        let base = self.base(&status)?;
        let snapshot = if status.entries.is_empty() {
            Snapshot { tree: base.clone(), staged: None }
        } else {
            self.snapshot(&tree, &status)?
        };
        let is_clean = snapshot.tree == base && snapshot.staged.is_none();
        if loose.is_empty() {
            if is_clean {
                return self.rescued_head(branch, &status);
            }
            if let Some(found) = self.rescue_of(&status, &snapshot, Some(branch))? {
                return Ok(Some(found));
            }
        }
        let commit = match (&status.head, &loose[..]) {
            // The commit itself is all there is.
            (Some(head), [one]) if is_clean && one == head => head.clone(),
            _ => {
                let (status, snapshot, loose) = (&status, &snapshot, &loose);
                self.rescue_commit(&RescuedWork { status, snapshot, loose, message, who })?
            }
        };
        self.branch_numbered(branch, &commit)?;
        Ok(Some(commit))
    }

    /// The tree of the commit that is checked out, or an empty one.
    fn base(&self, status: &Status) -> Result<String, GitError> {
        match &status.head {
            Some(head) => self.tree_of(head),
            None => self.make_tree(Vec::new()),
        }
    }

    /// The commit that is checked out, where it was rescued as it is.
    fn rescued_head(&self, branch: &str, status: &Status) -> Result<Option<String>, GitError> {
        let (Some(head), None) = (&status.head, &status.branch) else { return Ok(None) };
        let mut rescues = self.rescues(Some(branch))?.into_iter();
        Ok(rescues.any(|rescue| rescue.commit == *head).then(|| head.clone()))
    }

    fn rescue_commit(&self, rescued: &RescuedWork<'_>) -> Result<String, GitError> {
        let RescuedWork { status, snapshot, loose, message, who } = *rescued;
        let mut parents: Vec<String> = status.head.iter().cloned().collect();
        if let Some(staged) = &snapshot.staged {
            let parent: Vec<&str> = status.head.iter().map(String::as_str).collect();
            let message = format!("What was staged for: {message}");
            parents.push(self.commit_tree(staged, &parent, &message, who)?);
        }
        for commit in loose {
            if !parents.contains(commit) {
                parents.push(commit.clone());
            }
        }
        let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
        self.commit_tree(&snapshot.tree, &parents, message, who)
    }

    /// Makes a branch of this name, or of the name with the next number that is free.
    pub(super) fn branch_numbered(&self, name: &str, commit: &str) -> Result<(), GitError> {
        let mut number = 1;
        loop {
            let numbered = if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
            match self.branch_create(&numbered, commit) {
                Err(GitError::BranchExists { .. }) if number < MAX_RESCUE_BRANCHES => number += 1,
                done => return done,
            }
        }
    }

    /// True if all uncommitted work of a working tree is on some branch.
    pub(super) fn is_rescued(&self, tree: &Tree, status: &Status) -> Result<bool, GitError> {
        let snapshot = self.snapshot(tree, status)?;
        // What was changed and changed back is no loss.
        let is_clean = snapshot.staged.is_none() && snapshot.tree == self.base(status)?;
        Ok(is_clean || self.rescue_of(status, &snapshot, None)?.is_some())
    }

    /// The commit by which this very snapshot was rescued, on branches of that name or on any.
    fn rescue_of(
        &self,
        status: &Status,
        snapshot: &Snapshot,
        branch: Option<&str>,
    ) -> Result<Option<String>, GitError> {
        for rescue in self.rescues(branch)? {
            if rescue.tree != snapshot.tree || rescue.parents.first() != status.head.as_ref() {
                continue;
            }
            let staged =
                match (&snapshot.staged, rescue.parents.get(usize::from(status.head.is_some()))) {
                    (None, _) => true,
                    (Some(staged), Some(parent)) => self.tree_of(parent)? == *staged,
                    (Some(_), None) => false,
                };
            if staged {
                return Ok(Some(rescue.commit));
            }
        }
        Ok(None)
    }

    /// The commits at the heads of branches: of this name and its numbers, or of all.
    fn rescues(&self, branch: Option<&str>) -> Result<Vec<Rescue>, GitError> {
        let format = "--format=%(objectname) %(tree) %(refname) %(parent)";
        let order = self.git()?.args(["for-each-ref", format]);
        let name = branch.map(full);
        let order = match &name {
            Some(name) => order.args([name.clone(), format!("{name}-*")]),
            None => order.arg("refs/heads/"),
        };
        let listed = text(&order.ask()?);
        let rescue = |line: &str| {
            let mut words = line.split(' ');
            let (commit, tree, reference) = (words.next()?, words.next()?, words.next()?);
            if name.as_deref().is_some_and(|name| !is_numbered(reference, name)) {
                return None;
            }
            let parents = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
            Some(Rescue { commit: commit.to_owned(), tree: tree.to_owned(), parents })
        };
        Ok(listed.lines().filter_map(rescue).collect())
    }
}

/// Content of a rescue commit.
struct RescuedWork<'a> {
    status: &'a Status,
    snapshot: &'a Snapshot,
    /// Commits that only the working tree knew
    loose: &'a [String],
    message: &'a str,
    who: &'a CommitIdentity,
}

/// A commit that may be a rescue.
#[derive(Debug)]
struct Rescue {
    commit: String,
    tree: String,
    parents: Vec<String>,
}

/// True if a reference is the name, or the name with a number.
fn is_numbered(reference: &str, name: &str) -> bool {
    let Some(rest) = reference.strip_prefix(name) else { return false };
    let number = rest.strip_prefix('-');
    rest.is_empty()
        || number.is_some_and(|digits| {
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests;
