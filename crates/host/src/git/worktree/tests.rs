//! Worktrees: added from every half-made state, many at once, and removed only when nothing is lost.

mod add;
mod remove;

use super::*;
use crate::git::support::{Repository, head, plain};

#[test]
fn all_are_listed() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let first = head(repository.top());
    let (one, two, gone) = (
        repository.worktree("one\ntwo"),
        repository.beside("scratch"),
        repository.worktree("gone"),
    );
    repo.worktree_add_detached(&two, "HEAD").unwrap();
    fs::remove_dir_all(&gone).unwrap();
    let mut all = repo.worktrees().unwrap();
    assert_eq!(all[0].path, repository.top());
    all.sort_by(|a, b| a.path.cmp(&b.path));
    let entry = |path: &Path, branch: Option<&str>| WorktreeEntry {
        path: path.to_owned(),
        head: Some(first.clone()),
        branch: branch.map(str::to_owned),
        ..WorktreeEntry::default()
    };
    let wanted = [
        WorktreeEntry { prunable: true, ..entry(&gone, Some("gone")) },
        entry(&one, Some("one-two")),
        entry(repository.top(), Some("main")),
        WorktreeEntry { locked: true, ..entry(&two, None) },
    ];
    assert_eq!(all, wanted);
}

#[test]
fn before_the_first_commit_there_is_no_head() {
    let repository = Repository::new();
    let all = repository.repo().worktrees().unwrap();
    assert_eq!(all[0].head, None);
    let error = repository.repo().worktree_add(&repository.beside("w"), "w", "HEAD").unwrap_err();
    assert!(matches!(error, GitError::NoCommits), "{error}");
    assert!(!repository.beside("w").exists());
}

#[test]
fn a_path_is_settled_as_far_as_it_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let real = fs::canonicalize(dir.path()).unwrap();
    fs::create_dir(real.join("a")).unwrap();
    std::os::unix::fs::symlink(real.join("a"), real.join("link")).unwrap();
    assert_eq!(settled(&real.join("link/b/c")), real.join("a/b/c"));
    assert_eq!(settled(&real.join("link")), real.join("link"), "what a link is, is not followed");
    assert_eq!(settled(&real.join("a")), real.join("a"));
}

/// A worktree that is as it should be.
fn assert_stands(repository: &Repository, path: &Path, branch: &str) {
    let repo = repository.repo();
    let state = repo.state(path).unwrap();
    assert!(state.is_clean(), "{state:?}");
    assert_eq!(state.branch.as_deref(), Some(branch));
    assert_eq!(crate::git::support::read(path, "sub/c.txt"), "sub/c.txt\n");
    let here = |entry: &&WorktreeEntry| entry.path == path;
    let all = repo.worktrees().unwrap();
    assert_eq!(all.iter().filter(here).count(), 1, "{all:?}");
    assert!(all.iter().find(here).is_some_and(|entry| !entry.locked && !entry.prunable), "{all:?}");
    plain(path, &["fsck", "--no-progress"]);
}
