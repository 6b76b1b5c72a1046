//! Commits: what is in a working tree, one file, a merge. Names and times are given, so that hashes can be repeated.

use std::ffi::OsString;
use std::path::Path;

use model::Timestamp;

use super::command::NameValue;
use super::repo::Tree;
use super::state::{OUTSIDE_HOME_PATHS, nothing_in_progress};
use super::status::Kind;
use super::{GitError, Repo};

/// Author, committer and time of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitIdentity {
    /// The name
    pub name: String,
    /// The address
    pub email: String,
    /// The time, to the second
    pub at: Timestamp,
}

impl CommitIdentity {
    /// The settings by which git is told.
    pub(super) fn environment(&self) -> Vec<NameValue> {
        let mut pairs = self.committer();
        let author = pairs.clone().into_iter().map(|(name, value)| {
            (name.to_string_lossy().replace("COMMITTER", "AUTHOR").into(), value)
        });
        pairs.extend(author.collect::<Vec<_>>());
        pairs
    }

    /// The same for work with another author.
    pub(super) fn committer(&self) -> Vec<NameValue> {
        // Git leaves these out, and refuses a name of which nothing is left.
        let clean = |text: &str| text.replace(['\0', '\n', '<', '>'], " ").trim().to_owned();
        let name = clean(&self.name);
        let name = if name.chars().any(char::is_alphanumeric) { name } else { "adjutant".into() };
        let seconds = self.at.as_millis().div_euclid(1_000).max(0);
        vec![
            ("GIT_COMMITTER_NAME".into(), name.into()),
            ("GIT_COMMITTER_EMAIL".into(), clean(&self.email).into()),
            ("GIT_COMMITTER_DATE".into(), OsString::from(format!("@{seconds} +0000"))),
        ]
    }
}

impl Repo {
    /// Commits everything uncommitted in the working tree around `dir`, untracked files too, to what is checked out
    /// there. None where there is nothing; refused while a merge or the like is in progress. Repositories inside are
    /// left out.
    pub fn commit_all(
        &self,
        dir: &Path,
        message: &str,
        who: &CommitIdentity,
    ) -> Result<Option<String>, GitError> {
        let tree = self.tree(dir)?;
        nothing_in_progress(&tree)?;
        let status = self.status(&tree, &OUTSIDE_HOME_PATHS)?;
        let unmerged = status.names(|entry| matches!(entry.kind, Kind::Unmerged { .. }));
        if !unmerged.is_empty() {
            return Err(GitError::Dirty(unmerged));
        }
        if status.entries.iter().all(|entry| entry.is_nested()) {
            return Ok(None);
        }
        let add = self.git_in(&tree)?.args(["add", "-A", "--sparse"]).args(OUTSIDE_HOME_PATHS);
        add.args(status.without_nested()).ask()?;
        let options = ["--quiet", "--cleanup=verbatim", "--no-verify", "--allow-empty-message"];
        let commit =
            self.git_in(&tree)?.arg("commit").args(options).args(["--no-gpg-sign", "-F", "-"]);
        let commit = commit.envs(who.environment()).input(clean(message));
        let output = commit.retry_while_locked()?;
        let head = self.head_of(&tree)?;
        if output.exit.is_success() {
            return Ok(head);
        }
        // What was changed and changed back leaves nothing to commit.
        let staged = self.git_in(&tree)?.args(["diff", "--cached", "--quiet", "--no-ext-diff"]);
        if staged.retry_while_locked()?.exit.is_success() {
            Ok(None)
        } else {
            Err(commit.failed(&output))
        }
    }

    /// The commit that is checked out in a working tree.
    pub(super) fn head_of(&self, tree: &Tree) -> Result<Option<String>, GitError> {
        let order = self.git_in(tree)?.args(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]);
        Ok(order.ask_maybe()?.map(|hash| super::command::line(&hash)))
    }

    /// A commit whose tree is its parent's with one file changed, or removed where there is no content. No branch
    /// points at it yet.
    pub fn commit_file(
        &self,
        parent: &str,
        path: &str,
        content: Option<&[u8]>,
        message: &str,
        who: &CommitIdentity,
    ) -> Result<String, GitError> {
        let parent = self.commit(parent)?;
        let tree = self.tree_with(&self.tree_of(&parent)?, path, content)?;
        self.commit_tree(&tree, &[&parent], message, who)
    }

    /// A commit of a tree with these parents. No branch points at it yet.
    pub fn commit_merge(
        &self,
        tree: &str,
        parents: &[&str],
        message: &str,
        who: &CommitIdentity,
    ) -> Result<String, GitError> {
        let parents = parents.iter().map(|parent| self.commit(parent));
        let parents: Vec<String> = parents.collect::<Result<_, _>>()?;
        let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
        self.commit_tree(tree, &parents, message, who)
    }

    pub(super) fn commit_tree(
        &self,
        tree: &str,
        parents: &[&str],
        message: &str,
        who: &CommitIdentity,
    ) -> Result<String, GitError> {
        let parents = parents.iter().flat_map(|parent| ["-p", parent]);
        let order = self.git()?.args(["commit-tree", "--no-gpg-sign", tree]).args(parents);
        let order = order.args(["-F", "-"]).envs(who.environment());
        order.input(clean(message)).ask_line()
    }
}

/// A message that git takes: without zeros, and with something to read from.
fn clean(message: &str) -> String {
    let message = message.replace('\0', "\u{fffd}");
    if message.is_empty() { "\n".to_owned() } else { message }
}

#[cfg(test)]
mod tests;
