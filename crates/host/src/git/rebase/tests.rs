//! Rebases in real working trees.

use std::fs;

use super::*;
use crate::git::support::{Repository, any, commit, head, plain, read, who, write};

fn two() -> (Repository, std::path::PathBuf) {
    let repository = Repository::with_commit();
    let worktree = repository.worktree("w");
    (repository, worktree)
}

#[test]
fn commits_are_put_on_top() {
    let (repository, worktree) = two();
    write(&worktree, "mine", "x");
    commit(&worktree, "mine");
    repository.write("ours", "x");
    let ours = repository.commit("ours");
    write(&worktree, "untracked", "stays");
    let repo = repository.repo();
    let RebaseOutcome { head: now, moved } = repo.rebase(&worktree, "main", &who()).unwrap();
    assert!(moved);
    assert_eq!((repo.resolve("w").unwrap(), head(&worktree)), (Some(now.clone()), now.clone()));
    assert_eq!(repo.resolve("w~1").unwrap(), Some(ours));
    assert_eq!(read(&worktree, "untracked"), "stays");
    let told = plain(&worktree, &["log", "-1", "--format=%an %cn %ct %s"]);
    assert_eq!(told, "x Ada 1750000000 mine", "the author stays");
    // Again there is nothing to do.
    let again = repo.rebase(&worktree, "main", &who()).unwrap();
    assert_eq!(again, RebaseOutcome { head: now, moved: false });
}

#[test]
fn a_conflict_is_told_and_called_off() {
    let (repository, worktree) = two();
    write(&worktree, "fine", "x");
    commit(&worktree, "fine");
    write(&worktree, "a.txt", "mine\n");
    write(&worktree, "bin", "a\u{0}mine");
    write(&worktree, "two\nlines", "mine\n");
    fs::remove_file(worktree.join("b.txt")).unwrap();
    let mine = commit(&worktree, "mine");
    repository.write("a.txt", "ours\n");
    repository.write("bin", "a\u{0}ours");
    repository.write("two\nlines", "ours\n");
    repository.write("b.txt", "ours\n");
    repository.commit("ours");
    let before = crate::git::support::files(&worktree);
    let repo = repository.repo();
    let error = repo.rebase(&worktree, "main", &who()).unwrap_err();
    let GitError::Conflict(found) = error else { panic!("{error}") };
    let conflict = |path: &str, lines: &[(u32, u32)], kind: &str| Conflict {
        path: path.into(),
        lines: lines.to_vec(),
        kind: kind.into(),
    };
    let wanted = [
        conflict("a.txt", &[(1, 5)], "content"),
        conflict("b.txt", &[], "modify/delete"),
        conflict("bin", &[], "add/add"),
        conflict("two\nlines", &[(1, 5)], "add/add"),
    ];
    assert_eq!(found, wanted);
    assert_eq!((head(&worktree), repo.resolve("w").unwrap()), (mine.clone(), Some(mine)));
    assert_eq!(crate::git::support::files(&worktree), before);
    let state = repo.state(&worktree).unwrap();
    assert!(state.is_clean() && state.in_progress.is_none(), "{state:?}");
    assert_eq!(state.branch.as_deref(), Some("w"));
}

#[test]
fn what_is_not_committed_is_in_the_way() {
    let (repository, worktree) = two();
    repository.write("new", "ours");
    repository.commit("ours");
    write(&worktree, "mine", "x");
    let mine = commit(&worktree, "mine");
    let repo = repository.repo();
    write(&worktree, "a.txt", "changed");
    let error = repo.rebase(&worktree, "main", &who()).unwrap_err();
    assert!(matches!(&error, GitError::Dirty(files) if files[..] == ["a.txt"]), "{error}");
    plain(&worktree, &["checkout", "-q", "--", "a.txt"]);
    // An untracked file, where a commit brings one.
    write(&worktree, "new", "mine");
    let error = repo.rebase(&worktree, "main", &who()).unwrap_err();
    assert!(matches!(&error, GitError::Dirty(files) if files[..] == ["new"]), "{error}");
    assert_eq!((head(&worktree), read(&worktree, "new")), (mine, "mine".into()));
    assert_eq!(repo.state(&worktree).unwrap().in_progress, None);
    assert_eq!(repo.current_branch(&worktree).unwrap().as_deref(), Some("w"));
}

#[test]
fn an_interrupted_one_of_ours_is_called_off_first() {
    let (repository, worktree) = two();
    write(&worktree, "a.txt", "mine\n");
    let mine = commit(&worktree, "mine");
    repository.write("a.txt", "ours\n");
    repository.commit("ours");
    any(&worktree, &["rebase", "main"]);
    let repo = repository.repo();
    // Somebody else's is theirs.
    let error = repo.rebase(&worktree, "main~1", &who()).unwrap_err();
    assert!(matches!(error, GitError::InProgress { .. }), "{error}");
    fs::write(repository.top().join(".git/worktrees/w").join(REBASE_MARKER_FILE), "").unwrap();
    let done = repo.rebase(&worktree, "main~1", &who()).unwrap();
    assert_eq!(done, RebaseOutcome { head: mine, moved: false });
    assert_eq!(repo.state(&worktree).unwrap().in_progress, None);
}

#[test]
fn other_branches_stay_where_they_are() {
    let (repository, worktree) = two();
    repository.git(&["config", "rebase.updateRefs", "true"]);
    write(&worktree, "one", "x");
    let one = commit(&worktree, "one");
    plain(&worktree, &["branch", "stacked"]);
    write(&worktree, "two", "x");
    commit(&worktree, "two");
    repository.write("ours", "x");
    repository.commit("ours");
    let repo = repository.repo();
    assert!(repo.rebase(&worktree, "main", &who()).unwrap().moved);
    assert_eq!(repo.resolve("stacked").unwrap(), Some(one));
}

#[test]
fn without_commits_there_is_nothing_to_rebase() {
    let repository = Repository::new();
    let error = repository.repo().rebase(repository.top(), "HEAD", &who()).unwrap_err();
    assert!(matches!(error, GitError::NoCommits), "{error}");
}
