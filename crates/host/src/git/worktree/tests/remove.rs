//! Removing: what would be lost keeps a worktree where it is.

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::git::support::{any, commit, read, who, write};

/// A file, and what is done to it.
type Deed<'a> = (&'a str, &'a dyn Fn());

#[test]
fn a_clean_worktree_goes_and_its_branch_stays() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    write(&path, "mine", "x");
    write(&path, ".gitignore", "build/\n");
    let mine = commit(&path, "mine");
    write(&path, "build/out", "x");
    repo.worktree_remove(&path).unwrap();
    assert!(!path.exists());
    assert_eq!(repo.worktrees().unwrap().len(), 1);
    assert_eq!(repo.resolve("w").unwrap(), Some(mine));
    // Gone already is fine.
    repo.worktree_remove(&path).unwrap();
    repo.worktree_remove(&repository.beside("never")).unwrap();
}

#[test]
fn whatever_is_uncommitted_keeps_it() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    let deeds: [Deed<'_>; 6] = [
        ("new\nfile", &|| write(&path, "new\nfile", "x")),
        ("a.txt", &|| write(&path, "a.txt", "x")),
        ("b.txt", &|| fs::remove_file(path.join("b.txt")).unwrap()),
        ("staged", &|| {
            write(&path, "staged", "x");
            plain(&path, &["add", "staged"]);
            fs::remove_file(path.join("staged")).unwrap();
        }),
        ("a.txt", &|| {
            fs::set_permissions(path.join("a.txt"), fs::Permissions::from_mode(0o755)).unwrap();
        }),
        (".adjutant/roles/new.md", &|| write(&path, ".adjutant/roles/new.md", "x")),
    ];
    for (name, deed) in deeds {
        deed();
        let error = repo.worktree_remove(&path).unwrap_err();
        assert!(matches!(&error, GitError::Dirty(files) if files[..] == [name]), "{error}");
        assert!(path.join("sub/c.txt").exists());
        plain(&path, &["reset", "-q", "--hard"]);
        plain(&path, &["clean", "-fdq"]);
    }
    repo.worktree_remove(&path).unwrap();
}

#[test]
fn what_was_rescued_may_go() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    write(&path, "a.txt", "staged");
    plain(&path, &["add", "a.txt"]);
    write(&path, "a.txt", "and changed");
    write(&path, "new", "x");
    let rescued = repo.rescue(&path, "r", "m", &who()).unwrap().unwrap();
    // Not if it has changed since.
    write(&path, "new", "y");
    let error = repo.worktree_remove(&path).unwrap_err();
    assert!(matches!(error, GitError::Dirty(_)), "{error}");
    write(&path, "new", "x");
    // Not if the rescue is gone, or only a part of it is there.
    repository.git(&["update-ref", "refs/heads/r", &format!("{rescued}^2")]);
    repo.worktree_remove(&path).unwrap_err();
    repository.git(&["update-ref", "refs/heads/r", &rescued]);
    repo.worktree_remove(&path).unwrap();
    assert!(!path.exists());
    assert_eq!(repo.file_at("r", "a.txt").unwrap().as_deref(), Some(&b"and changed"[..]));
    assert_eq!(repo.file_at("r^2", "a.txt").unwrap().as_deref(), Some(&b"staged"[..]));
}

#[test]
fn commits_on_no_branch_keep_it() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    plain(&path, &["checkout", "-q", "--detach"]);
    repo.branch_delete_if_reachable("w").unwrap();
    let loose = commit(&path, "loose");
    let error = repo.worktree_remove(&path).unwrap_err();
    assert!(matches!(&error, GitError::Unreachable(all) if all[..] == [loose.clone()]), "{error}");
    // What a rebase still needs is one of them.
    write(&path, "a.txt", "mine");
    let mine = commit(&path, "mine");
    repository.write("a.txt", "ours");
    repository.commit("ours");
    any(&path, &["rebase", "main"]);
    let rescued = repo.rescue(&path, "r", "m", &who()).unwrap().unwrap();
    repo.worktree_remove(&path).unwrap();
    assert!(repo.is_ancestor(&mine, &rescued).unwrap());
    assert!(repo.is_ancestor(&loose, "r").unwrap());
}

#[test]
fn a_stash_of_a_rebase_is_not_lost() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    write(&path, "a.txt", "mine");
    commit(&path, "mine");
    repository.write("a.txt", "ours");
    repository.commit("ours");
    write(&path, "b.txt", "put away");
    any(&path, &["rebase", "--autostash", "main"]);
    assert_eq!(read(&path, "b.txt"), "b.txt\n", "it is put away");
    write(&repository.beside("same"), "text", "put away");
    let same = repository.beside("same/text");
    let blob = plain(repository.top(), &["hash-object", same.to_str().unwrap()]);
    assert!(!repository.reachable().contains(&blob));
    repo.rescue(&path, "r", "m", &who()).unwrap().unwrap();
    repo.worktree_remove(&path).unwrap();
    assert!(repository.reachable().contains(&blob));
}

#[test]
fn repositories_inside_keep_it() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    plain(&path, &["init", "-q", "inner/one"]);
    let error = repo.worktree_remove(&path).unwrap_err();
    assert!(matches!(&error, GitError::Submodules(all) if all[..] == ["inner/one/"]), "{error}");
    // Rescued, the rest is safe; they are not.
    write(&path, "new", "x");
    repo.rescue(&path, "r", "m", &who()).unwrap().unwrap();
    let error = repo.worktree_remove(&path).unwrap_err();
    assert!(matches!(error, GitError::Submodules(_)), "{error}");
    fs::remove_dir_all(path.join("inner")).unwrap();
    repo.worktree_remove(&path).unwrap();
}

#[test]
fn a_lock_of_somebody_keeps_it() {
    let repository = Repository::with_commit();
    let path = repository.worktree("w");
    plain(&path, &["worktree", "lock", "--reason", "on a stick", "."]);
    let error = repository.repo().worktree_remove(&path).unwrap_err();
    assert!(error.to_string().contains("locked (on a stick)"), "{error}");
    plain(&path, &["worktree", "unlock", "."]);
    repository.repo().worktree_remove(&path).unwrap();
}

#[test]
fn a_removal_that_was_interrupted_is_gone_on_with() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    let going = repository.beside("w.going");
    // After it was put out of the way.
    fs::rename(&path, &going).unwrap();
    repo.worktree_remove(&path).unwrap();
    assert!(!going.exists() && repo.worktrees().unwrap().len() == 1);
    // After it was forgotten.
    write(&going, "rest", "x");
    repo.worktree_remove(&path).unwrap();
    assert!(!going.exists());
    // Half-made ones go, too.
    repo.worktree_add(&path, "w", "HEAD").unwrap();
    fs::write(repository.top().join(".git/worktrees/w/locked"), INITIALIZING_LOCK_REASON).unwrap();
    fs::remove_file(path.join("a.txt")).unwrap();
    repo.worktree_remove(&path).unwrap();
    assert!(!path.exists());
    // And folders of which only the beginning is there.
    write(&path, ".git", "gitdir: /nonexistent\n");
    repo.worktree_remove(&path).unwrap();
    assert!(!path.exists());
}

#[test]
fn write_protected_folders_go() {
    let repository = Repository::with_commit();
    let path = repository.worktree("w");
    write(&path, ".gitignore", "cache/\n");
    commit(&path, "ignore");
    write(&path, "cache/deep/file", "x");
    for folder in ["cache/deep", "cache"] {
        fs::set_permissions(path.join(folder), fs::Permissions::from_mode(0o555)).unwrap();
    }
    repository.repo().worktree_remove(&path).unwrap();
    assert!(!path.exists() && !repository.beside("w.going").exists());
}

#[test]
fn what_is_no_worktree_is_not_removed() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    write(&repository.beside("folder"), "file", "x");
    for path in [repository.top().to_owned(), repository.beside("folder")] {
        let error = repo.worktree_remove(&path).unwrap_err();
        assert!(matches!(error, GitError::Occupied { .. }), "{error}");
        assert!(path.exists());
    }
}

#[test]
fn a_worktree_without_its_link_is_looked_at_all_the_same() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.top().join(".adjutant/worktrees/w");
    repo.worktree_add(&path, "w", "HEAD").unwrap();
    write(&path, "mine", "x");
    fs::remove_file(path.join(".git")).unwrap();
    let error = repo.worktree_remove(&path).unwrap_err();
    assert!(matches!(&error, GitError::Dirty(files) if files[..] == ["mine"]), "{error}");
    fs::remove_file(path.join("mine")).unwrap();
    repo.worktree_remove(&path).unwrap();
}
