//! Commits, made with and without a working tree.

use super::*;
use crate::git::support::{
    ODD_FILE_NAMES, Repository, any, commit, executable, head, plain, who, write,
};

#[test]
fn everything_is_committed_to_the_branch() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    write(&path, "a.txt", "staged");
    plain(&path, &["add", "a.txt"]);
    write(&path, "b.txt", "unstaged");
    std::fs::remove_file(path.join("sub/c.txt")).unwrap();
    for name in ODD_FILE_NAMES {
        write(&path, name, "x");
    }
    write(&path, ".adjutant/x", "ours");
    plain(&path, &["init", "-q", "inner"]);
    let made = repo.commit_all(&path, "# not a comment\n\nbody\n", &who()).unwrap().unwrap();
    assert_eq!(made, head(&path));
    assert_eq!(repo.current_branch(&path).unwrap().as_deref(), Some("w"));
    let state = repo.state(&path).unwrap();
    assert_eq!((state.staged.len(), state.unstaged.len()), (0, 0));
    assert_eq!(state.untracked, ["inner/"], "what cannot be committed stays");
    assert_eq!(repo.file_at(&made, ".adjutant/x").unwrap(), None);
    let told = plain(&path, &["log", "-1", "--format=%an <%ae> %at %cn %ct%n%B"]);
    let wanted = "Ada <ada@example.com> 1750000000 Ada 1750000000\n# not a comment\n\nbody";
    assert_eq!(told.trim_end(), wanted);
    assert_eq!(repo.commit_all(&path, "m", &who()).unwrap(), None);
}

#[test]
fn what_was_changed_and_changed_back_is_nothing_to_commit() {
    let repository = Repository::with_commit();
    repository.write("a.txt", "x");
    repository.git(&["add", "a.txt"]);
    repository.write("a.txt", "a.txt\n");
    let before = head(repository.top());
    assert_eq!(repository.repo().commit_all(repository.top(), "m", &who()).unwrap(), None);
    assert_eq!(head(repository.top()), before);
}

#[test]
fn it_is_refused_while_something_is_in_progress() {
    let repository = Repository::with_commit();
    let path = repository.worktree("w");
    write(&path, "a.txt", "mine");
    commit(&path, "mine");
    repository.write("a.txt", "ours");
    repository.commit("ours");
    for command in ["merge", "rebase"] {
        any(&path, &[command, "main"]);
        let error = repository.repo().commit_all(&path, "m", &who()).unwrap_err();
        assert!(matches!(&error, GitError::InProgress { what, .. } if what == command), "{error}");
        plain(&path, &[command, "--abort"]);
    }
    // Files in conflict without a merge are refused, too.
    write(&path, "a.txt", "put away");
    plain(&path, &["stash", "-q"]);
    write(&path, "a.txt", "other");
    commit(&path, "other");
    any(&path, &["stash", "pop"]);
    let error = repository.repo().commit_all(&path, "m", &who()).unwrap_err();
    assert!(matches!(error, GitError::Dirty(_)), "{error}");
}

#[test]
fn the_first_commit_can_be_made() {
    let repository = Repository::new();
    let repo = repository.repo();
    assert_eq!(repo.commit_all(repository.top(), "m", &who()).unwrap(), None);
    repository.write("a", "x");
    let made = repo.commit_all(repository.top(), "", &who()).unwrap().unwrap();
    assert_eq!(repo.resolve("main").unwrap(), Some(made));
}

#[test]
fn hooks_and_signatures_stay_out() {
    let repository = Repository::with_commit();
    repository.git(&["config", "commit.gpgSign", "true"]);
    repository.git(&["config", "gpg.program", "/bin/false"]);
    for hook in ["pre-commit", "post-checkout", "post-merge", "reference-transaction"] {
        executable(&repository.top().join(".git/hooks"), hook, "#!/bin/sh\nexit 1\n");
    }
    repository.write("new", "x");
    let repo = repository.repo();
    let made = repo.commit_all(repository.top(), "m", &who()).unwrap().unwrap();
    repo.commit_file(&made, "x", None, "m", &who()).unwrap();
    let path = repository.worktree("w");
    write(&path, "more", "x");
    let more = repo.commit_all(&path, "m", &who()).unwrap().unwrap();
    repo.fast_forward(repository.top(), &more).unwrap();
    repository.write("new", "y");
    repository.git(&["add", "-A"]);
    assert!(!any(repository.top(), &["commit", "-m", "x"]).exit.is_success(), "it would notice");
}

#[test]
fn one_file_is_changed_and_hashes_repeat() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let first = head(repository.top());
    let make = || repo.commit_file("main", "x/y.md", Some(b"text"), "m\0n", &who()).unwrap();
    let made = make();
    assert_eq!(make(), made);
    assert_eq!(head(repository.top()), first, "no branch has moved");
    assert_eq!(repo.resolve(&format!("{made}^")).unwrap(), Some(first));
    assert_eq!(repo.changed_files("main", &made).unwrap(), ["x/y.md"]);
    let gone = repo.commit_file(&made, "x/y.md", None, "m", &who()).unwrap();
    assert_eq!(repo.diff("main", &gone, 100).unwrap().files, []);
}

#[test]
fn a_merge_has_the_parents_that_were_named() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let (first, second) = (head(repository.top()), repository.commit("second"));
    let tree = plain(repository.top(), &["rev-parse", "HEAD^{tree}"]);
    let made = repo.commit_merge(&tree, &[&first, "main"], "m", &who()).unwrap();
    let parents = plain(repository.top(), &["log", "-1", "--format=%P", &made]);
    assert_eq!(parents, format!("{first} {second}"));
    let error = repo.commit_merge(&tree, &["--help"], "m", &who()).unwrap_err();
    assert!(matches!(error, GitError::NoSuchRevision(_)), "{error}");
}

#[test]
fn odd_names_of_people_are_made_good() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    for (name, wanted) in [("", "adjutant"), ("<>", "adjutant"), ("A\n<b>", "A  b"), ("Ü", "Ü")] {
        let who = CommitIdentity { name: name.into(), email: "<x>\n".into(), ..who() };
        let made = repo.commit_file("main", "x", Some(b""), "m", &who).unwrap();
        let told = plain(repository.top(), &["log", "-1", "--format=%an|%ae", &made]);
        assert_eq!(told, format!("{wanted}|x"));
    }
}
