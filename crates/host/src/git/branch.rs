//! Branches: found, made, moved and deleted, never by guess and never so that a commit is lost.

use std::collections::BTreeSet;

use super::command::{GitInvocation, line, text};
use super::{GitError, Repo, hash};

/// Retries of a deletion after a concurrent change.
const MAX_DELETE_ATTEMPTS: u32 = 20;

impl Repo {
    /// The full hash of the commit that a revision means, if it means one.
    pub fn resolve(&self, rev: &str) -> Result<Option<String>, GitError> {
        if !is_plain(rev) {
            return Ok(None);
        }
        let order = self.git()?.args(["rev-parse", "--quiet", "--verify"]);
        let output = order.arg(format!("{rev}^{{commit}}")).run()?;
        // Whatever git has against it: then it means no commit.
        Ok(output.exit.is_success().then(|| line(&output.stdout)).and_then(|line| hash(&line)))
    }

    /// The branch that is checked out in a working tree; none where it is detached or has no commits.
    pub fn current_branch(&self, dir: &std::path::Path) -> Result<Option<String>, GitError> {
        self.branch_in(&self.tree(dir)?)
    }

    pub(super) fn branch_in(&self, tree: &super::repo::Tree) -> Result<Option<String>, GitError> {
        let order = self.git_in(tree)?.args(["rev-parse", "--quiet", "--verify"]);
        let answer = order.args(["--symbolic-full-name", "HEAD"]).ask_maybe()?;
        let name = answer.map(|name| line(&name));
        Ok(name.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned)))
    }

    /// The branch that a remote calls its default, as far as it is known here.
    pub fn default_branch(&self, remote: &str) -> Result<Option<String>, GitError> {
        if !is_plain(remote) {
            return Ok(None);
        }
        let prefix = format!("refs/remotes/{remote}/");
        let order = self.git()?.args(["symbolic-ref", "--quiet", &format!("{prefix}HEAD")]);
        let output = order.retry_while_locked()?;
        let name = output.exit.is_success().then(|| line(&output.stdout));
        Ok(name.and_then(|name| name.strip_prefix(&prefix).map(str::to_owned)))
    }

    /// Makes a branch. One that stands there already is as good; one elsewhere is an error.
    pub fn branch_create(&self, name: &str, commit: &str) -> Result<(), GitError> {
        check_name(name)?;
        let commit = match hash(commit) {
            // Git refuses one that it does not have.
            Some(hash) => hash,
            None => self.commit(commit)?,
        };
        let reference = full(name);
        let none = "0".repeat(commit.len());
        let order = self.git()?.args(["update-ref", &reference, &commit, &none]);
        let output = order.retry_while_locked()?;
        if output.exit.is_success() {
            return Ok(());
        }
        match self.branch(name)? {
            Some(at) if at == commit => Ok(()),
            Some(at) => Err(GitError::BranchExists { branch: name.to_owned(), at }),
            None => {
                self.commit(&commit)?;
                Err(order.failed(&output))
            }
        }
    }

    /// Moves a branch if it stands where it is thought to; where it is checked out, files stay as they are.
    pub fn branch_move(&self, name: &str, to: &str, from: &str) -> Result<(), GitError> {
        check_name(name)?;
        let (to, from) = (self.commit(to)?, self.commit(from)?);
        let order = self.git()?.args(["update-ref", &full(name), &to, &from]);
        let output = order.retry_while_locked()?;
        if output.exit.is_success() {
            return Ok(());
        }
        match self.branch(name)? {
            Some(now) if now == to => Ok(()),
            Some(now) if now == from => Err(order.failed(&output)),
            now => Err(GitError::Moved { branch: name.to_owned(), now }),
        }
    }

    /// Deletes a branch whose commits another branch, a remote's branch or a tag has too. Says whether it is gone.
    pub fn branch_delete_if_reachable(&self, name: &str) -> Result<bool, GitError> {
        check_name(name)?;
        let mut last = None;
        for _ in 0..MAX_DELETE_ATTEMPTS {
            let Some(at) = self.branch(name)? else { return Ok(true) };
            if let Some(place) = self.checked_out_at(name)? {
                return Err(GitError::BranchInUse { branch: name.to_owned(), at: place });
            }
            let Some((other, its)) = self.also_in(name, &at)? else { return Ok(false) };
            // Both in one step: if the other goes in this moment, this one stays.
            let steps = format!("verify {other}\0{its}\0delete {}\0{at}\0", full(name));
            let order = self.git()?.args(["update-ref", "-z", "--stdin"]).input(steps);
            let output = order.retry_while_locked()?;
            if output.exit.is_success() {
                return Ok(true);
            }
            last = Some(order.failed(&output));
        }
        Err(last.unwrap_or_else(|| GitError::Busy(format!("`{name}` keeps moving"))))
    }

    /// Returns whether a branch could be deleted without a commit being lost: it is not checked out, and another
    /// reference has its head.
    pub fn branch_is_deletable(&self, name: &str) -> Result<bool, GitError> {
        check_name(name)?;
        let Some(at) = self.branch(name)? else { return Ok(false) };
        Ok(self.checked_out_at(name)?.is_none() && self.also_in(name, &at)?.is_some())
    }

    /// A reference other than this branch, and no mere alias, that has the commit; with what it is.
    fn also_in(&self, name: &str, commit: &str) -> Result<Option<(String, String)>, GitError> {
        let format = "--format=%(objectname) %(refname) %(symref)";
        let order = self.git()?.args(["for-each-ref", format, "--contains", commit]);
        let listed = text(&order.args(["refs/heads/", "refs/remotes/", "refs/tags/"]).ask()?);
        let own = full(name);
        let other = listed.lines().find_map(|line| {
            let mut parts = line.splitn(3, ' ');
            let (hash, reference, alias) = (parts.next()?, parts.next()?, parts.next()?);
            (reference != own && alias.is_empty()).then(|| (reference.to_owned(), hash.to_owned()))
        });
        Ok(other)
    }

    /// The branches whose names begin like this, and where they stand.
    pub fn branches(&self, prefix: &str) -> Result<Vec<(String, String)>, GitError> {
        let order = self.git()?.args(["for-each-ref", "--format=%(objectname) %(refname)"]);
        let listed = text(&order.arg("refs/heads/").ask()?);
        let branch = |line: &str| {
            let (hash, name) = line.split_once(" refs/heads/")?;
            name.starts_with(prefix).then(|| (name.to_owned(), hash.to_owned()))
        };
        Ok(listed.lines().filter_map(branch).collect())
    }

    /// Where a branch stands.
    pub(super) fn branch(&self, name: &str) -> Result<Option<String>, GitError> {
        let order = self.git()?.args(["rev-parse", "--quiet", "--verify", &full(name)]);
        Ok(order.ask_maybe()?.map(|hash| line(&hash)))
    }

    /// True if `a` is `b` or an ancestor of it.
    pub fn is_ancestor(&self, a: &str, b: &str) -> Result<bool, GitError> {
        // Whole hashes need not be looked up first: git says itself if one of them is no commit.
        let full = |rev: &str| match hash(rev) {
            Some(hash) => Ok(hash),
            None => self.commit(rev),
        };
        let order = self.git()?.args(["merge-base", "--is-ancestor", &full(a)?, &full(b)?]);
        match order.ask_maybe() {
            Ok(answer) => Ok(answer.is_some()),
            Err(error) => {
                self.commit(a)?;
                self.commit(b)?;
                Err(error)
            }
        }
    }

    /// Commits that no branch, tag or remote branch reaches, including missing ones.
    pub fn unreachable_from_branches(&self, commits: &[String]) -> Result<Vec<String>, GitError> {
        unreachable(&self.git()?, commits, &["--branches", "--tags", "--remotes"])
    }

    /// True for a valid branch name.
    pub fn is_valid_branch_name(name: &str) -> bool {
        let bad = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
        let part_is_bad = |part: &str| {
            part.is_empty() || part.starts_with('.') || part.strip_suffix(".lock").is_some()
        };
        !name.starts_with('-')
            && !matches!(name, "@" | "HEAD")
            && !name.ends_with('.')
            && !name.contains("..")
            && !name.contains("@{")
            && !name.contains(bad)
            && !name.split('/').any(part_is_bad)
    }
}

/// Commits that the given references do not reach, in one repository.
pub(super) fn unreachable(
    order: &GitInvocation,
    commits: &[String],
    references: &[&str],
) -> Result<Vec<String>, GitError> {
    let hashes: Vec<String> = commits.iter().filter_map(|commit| hash(commit)).collect();
    if commits.is_empty() {
        return Ok(Vec::new());
    }
    let lines = hashes.iter().fold(String::new(), |lines, hash| lines + hash + "\n");
    let check = order.clone().args(["cat-file", "--batch-check=%(objectname) %(objecttype)"]);
    let there = text(&check.input(lines).ask()?);
    let there: BTreeSet<&str> =
        there.lines().filter_map(|line| line.strip_suffix(" commit")).collect();
    let lines = there.iter().fold(String::new(), |lines, hash| lines + hash + "\n");
    let walk = order.clone().args(["rev-list", "--stdin", "--not"]).args(references);
    let walked = if there.is_empty() { Vec::new() } else { walk.input(lines).ask()? };
    let walked = text(&walked);
    let lost: BTreeSet<&str> = walked.lines().collect();
    let is_safe = |commit: &str| {
        let commit = commit.trim();
        there.contains(commit) && !lost.contains(commit)
    };
    Ok(commits.iter().filter(|commit| !is_safe(commit)).cloned().collect())
}

/// The whole name of a branch.
pub(super) fn full(name: &str) -> String {
    format!("refs/heads/{name}")
}

pub(super) fn check_name(name: &str) -> Result<(), GitError> {
    if Repo::is_valid_branch_name(name) { Ok(()) } else { Err(GitError::BadName(name.to_owned())) }
}

/// True if a revision is safe to pass to git: no option and no line break.
pub(super) fn is_plain(rev: &str) -> bool {
    !rev.is_empty() && !rev.starts_with('-') && !rev.contains(|c: char| c.is_control())
}

#[cfg(test)]
mod tests;
