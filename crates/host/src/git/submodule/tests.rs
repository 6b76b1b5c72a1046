//! Submodules of worktrees.

use super::*;
use crate::git::support::{Repository, commit, head, plain, read, who, write};

/// A repository with the submodules `libs/one two` and `nested`, which has one itself, and where they come from.
fn outer() -> (Repository, Repository, Repository) {
    let (leaf, middle) = (Repository::with_commit(), Repository::with_commit());
    let add = |to: &Path, from: &Repository, path: &str| {
        let from = from.top().to_str().unwrap();
        plain(to, &["submodule", "--quiet", "add", "--", from, path]);
    };
    add(middle.top(), &leaf, "deep");
    middle.commit("deep");
    let outer = Repository::with_commit();
    add(outer.top(), &leaf, "libs/one two");
    add(outer.top(), &middle, "nested");
    outer.commit("submodules");
    outer.git(&["submodule", "--quiet", "update", "--init", "--recursive"]);
    (outer, leaf, middle)
}

#[test]
fn submodules_are_filled_without_the_network() {
    let (outer, leaf, middle) = outer();
    let repo = outer.repo();
    let path = outer.worktree("w");
    assert!(fs::read_dir(path.join("nested")).unwrap().next().is_none());
    // Where they came from is gone.
    let url = leaf.top().display().to_string();
    drop((leaf, middle));
    let config = fs::read(outer.top().join(".git/config")).unwrap();
    for _ in 0..2 {
        assert_eq!(repo.submodules_init(&path).unwrap(), Vec::<String>::new());
    }
    for inner in ["libs/one two", "nested", "nested/deep"] {
        assert_eq!(read(&path.join(inner), "a.txt"), "a.txt\n");
        assert_eq!(head(&path.join(inner)), head(&outer.top().join(inner)));
    }
    assert!(repo.state(&path).unwrap().is_clean());
    assert_eq!(plain(&path, &["status", "--porcelain"]), "");
    let told = plain(&path.join("libs/one two"), &["config", "remote.origin.url"]);
    assert_eq!(told, url);
    let status = plain(&path, &["submodule", "status", "--recursive"]);
    assert!(status.lines().all(|line| line.starts_with(' ')), "{status}");
    assert_eq!(fs::read(outer.top().join(".git/config")).unwrap(), config, "it is shared");
    // They are the worktree's own, and go with it.
    repo.worktree_remove(&path).unwrap();
    assert!(!path.exists());
    assert_eq!(read(&outer.top().join("nested/deep"), "a.txt"), "a.txt\n");
}

#[test]
fn what_is_not_here_stays_empty_and_is_named() {
    let (outer, leaf, middle) = outer();
    let repo = outer.repo();
    // One was never cloned, of the other the commit is not here.
    fs::remove_dir_all(outer.top().join(".git/modules/nested")).unwrap();
    let newer = leaf.commit("newer");
    outer.git(&["update-index", "--cacheinfo", &format!("160000,{newer},libs/one two")]);
    outer.git(&["commit", "-q", "-m", "newer"]);
    let path = outer.worktree("w");
    assert_eq!(repo.submodules_init(&path).unwrap(), ["libs/one two", "nested"]);
    repo.worktree_remove(&path).unwrap();
    // In the main working tree there is nothing to fill from.
    assert_eq!(repo.submodules_init(outer.top()).unwrap(), Vec::<String>::new());
    drop(middle);
}

#[test]
fn filling_can_be_repeated_after_a_crash() {
    let (outer, _leaf, _middle) = outer();
    let repo = outer.repo();
    let path = outer.worktree("w");
    repo.submodules_init(&path).unwrap();
    let own = outer.top().join(".git/worktrees/w/modules/nested");
    let inner = path.join("nested");
    let damages: [&dyn Fn(); 4] = [
        // In the middle of the files.
        &|| {
            fs::remove_file(own.join("index")).unwrap();
            fs::remove_file(inner.join("a.txt")).unwrap();
        },
        // In the middle of the clone.
        &|| {
            fs::remove_file(own.join("index")).unwrap();
            fs::remove_dir_all(own.join("objects")).unwrap();
        },
        // Before it was said where it is.
        &|| fs::remove_file(inner.join(".git")).unwrap(),
        // Of a clone only the link is left.
        &|| {
            fs::remove_dir_all(&own).unwrap();
            fs::remove_dir_all(&inner).unwrap();
            write(&inner, ".git", "gitdir: /nonexistent");
        },
    ];
    for damage in damages {
        damage();
        assert_eq!(repo.submodules_init(&path).unwrap(), Vec::<String>::new());
        assert_eq!(plain(&path, &["status", "--porcelain"]), "");
        assert_eq!(read(&path.join("nested/deep"), "a.txt"), "a.txt\n");
    }
    // What somebody put there is left alone.
    fs::remove_dir_all(&own).unwrap();
    fs::remove_dir_all(&inner).unwrap();
    write(&inner, "mine", "x");
    assert_eq!(repo.submodules_init(&path).unwrap(), ["nested"]);
    assert_eq!(read(&inner, "mine"), "x");
}

#[test]
fn submodules_of_the_old_kind_are_filled_too() {
    let (leaf, outer) = (Repository::with_commit(), Repository::with_commit());
    let from = leaf.top().to_str().unwrap();
    // Cloned by hand first, its repository stays inside.
    outer.git(&["clone", "-q", from, "lib"]);
    outer.git(&["submodule", "--quiet", "add", from, "lib"]);
    outer.commit("lib");
    assert!(outer.top().join("lib/.git").is_dir());
    let path = outer.worktree("w");
    assert_eq!(outer.repo().submodules_init(&path).unwrap(), Vec::<String>::new());
    assert_eq!(read(&path.join("lib"), "a.txt"), "a.txt\n");
    outer.repo().worktree_remove(&path).unwrap();
}

#[test]
fn a_submodule_with_something_of_its_own_keeps_the_worktree() {
    let (outer, _leaf, _middle) = outer();
    let repo = outer.repo();
    let path = outer.worktree("w");
    repo.submodules_init(&path).unwrap();
    let inner = path.join("libs/one two");
    let refused = |name: &str| {
        let error = repo.worktree_remove(&path).unwrap_err();
        let told = error.to_string();
        assert!(matches!(error, GitError::Submodules(_)) && told.contains(name), "{told}");
        assert!(inner.join("b.txt").exists());
    };
    let before = head(&inner);
    write(&inner, "a.txt", "changed");
    refused("libs/one two");
    plain(&inner, &["stash", "-q"]);
    refused("libs/one two");
    plain(&inner, &["stash", "drop", "-q"]);
    write(&inner, "new", "x");
    refused("libs/one two");
    let own = commit(&inner, "own");
    // Committed in both, but the commit is here only.
    repo.commit_all(&path, "uses it", &who()).unwrap().unwrap();
    refused("libs/one two");
    // Not even on a branch that is checked out no longer.
    plain(&inner, &["branch", "kept"]);
    plain(&inner, &["checkout", "-q", "--detach", &before]);
    plain(&path, &["checkout", "-q", "--", "."]);
    repo.commit_all(&path, "no longer", &who()).unwrap();
    refused("libs/one two");
    // Deeper ones count, too.
    plain(&inner, &["branch", "-q", "-D", "kept"]);
    let deep = path.join("nested/deep");
    commit(&deep, "deep");
    refused("nested/deep");
    plain(&deep, &["reset", "-q", "--hard", "HEAD~1"]);
    // Once the main clone has it, it may go.
    plain(&inner, &["checkout", "-q", "--detach", &own]);
    refused_or_dirty(&repo, &path);
    let main = outer.top().join("libs/one two");
    plain(&main, &["fetch", "-q", inner.to_str().unwrap(), &format!("{own}:refs/heads/kept")]);
    repo.commit_all(&path, "again", &who()).unwrap();
    repo.worktree_remove(&path).unwrap();
}

fn refused_or_dirty(repo: &Repo, path: &Path) {
    let error = repo.worktree_remove(path).unwrap_err();
    assert!(matches!(error, GitError::Submodules(_) | GitError::Dirty(_)), "{error}");
}
