//! The state of real working trees.

use super::*;
use crate::git::support::{ODD_FILE_NAMES, Repository, any, head, plain, write};

#[test]
fn each_file_is_where_it_belongs() {
    let repository = Repository::with_commit();
    repository.write("a.txt", "staged");
    repository.git(&["add", "a.txt"]);
    repository.write("a.txt", "and changed again");
    repository.write("b.txt", "changed");
    std::fs::remove_file(repository.top().join("sub/c.txt")).unwrap();
    repository.write("new/file", "x");
    repository.write(".gitignore", "*.o\n");
    repository.write("x.o", "x");
    repository.write(".adjutant/state.db", "x");
    repository.write("sub/.adjutant/x", "x");
    let state = repository.repo().state(&repository.top().join("sub")).unwrap();
    assert_eq!(state.staged, ["a.txt"]);
    assert_eq!(state.unstaged, ["a.txt", "b.txt", "sub/c.txt"]);
    assert_eq!(state.untracked, [".gitignore", "new/file"]);
    assert_eq!(state.branch.as_deref(), Some("main"));
    assert_eq!(state.head, Some(head(repository.top())));
    assert!(state.in_progress.is_none() && !state.is_clean());
}

#[test]
fn odd_names_are_told_as_they_are() {
    let repository = Repository::with_commit();
    for name in ODD_FILE_NAMES {
        repository.write(name, "x");
    }
    let repo = repository.repo();
    let mut untracked = repo.state(repository.top()).unwrap().untracked;
    let mut wanted = ODD_FILE_NAMES.map(str::to_owned).to_vec();
    untracked.sort();
    wanted.sort();
    assert_eq!(untracked, wanted);
    repository.commit("odd");
    assert!(repo.state(repository.top()).unwrap().is_clean());
}

#[test]
fn what_waits_for_its_end_is_named() {
    let repository = Repository::with_commit();
    let worktree = repository.worktree("w");
    write(&worktree, "a.txt", "theirs");
    let theirs = crate::git::support::commit(&worktree, "theirs");
    repository.write("a.txt", "ours");
    repository.commit("ours");
    let repo = repository.repo();
    let begin = |command: &[&str], word: &str, end: &[&str]| {
        any(repository.top(), command);
        let state = repo.state(repository.top()).unwrap();
        assert_eq!(state.in_progress.as_deref(), Some(word));
        assert!(state.unstaged.contains(&"a.txt".to_owned()), "{state:?}");
        repository.git(end);
        assert_eq!(repo.state(repository.top()).unwrap().in_progress, None);
    };
    begin(&["merge", "w"], "merge", &["merge", "--abort"]);
    begin(&["cherry-pick", &theirs], "cherry-pick", &["cherry-pick", "--abort"]);
    begin(&["rebase", "w"], "rebase", &["rebase", "--abort"]);
    begin(&["revert", "--no-commit", "HEAD~1", "HEAD"], "revert", &["revert", "--abort"]);
}

#[test]
fn before_the_first_commit_there_is_neither_head_nor_branch() {
    let repository = Repository::new();
    repository.write("a", "x");
    let state = repository.repo().state(repository.top()).unwrap();
    assert_eq!(state, TreeState { untracked: vec!["a".into()], ..TreeState::default() });
}

#[test]
fn in_a_sparse_checkout_what_is_left_out_is_not_missing() {
    let repository = Repository::with_commit();
    repository.git(&["sparse-checkout", "set", "elsewhere"]);
    let repo = repository.repo();
    assert!(repo.state(repository.top()).unwrap().is_clean());
    let worktree = repository.worktree("w");
    assert!(!worktree.join("sub").exists(), "the worktree is sparse, too");
    assert!(repo.state(&worktree).unwrap().is_clean());
    plain(&worktree, &["status"]);
}
