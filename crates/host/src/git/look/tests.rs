//! Differences of real commits and working trees.

use super::*;
use crate::git::support::{ODD_FILE_NAMES, Repository, commit, plain, write};

const ALL: usize = 1 << 20;

fn file(path: &str, numbers: Option<(u64, u64)>, status: &'static str) -> DiffFile {
    let (added, removed) = (numbers.map(|(added, _)| added), numbers.map(|(_, removed)| removed));
    let old = (status == "renamed").then(|| "long".to_owned());
    DiffFile { path: path.into(), old, added, removed, status }
}

#[test]
fn a_branch_is_shown_as_a_pull_request_would() {
    let repository = Repository::with_commit();
    repository.write("long", &"line\n".repeat(50));
    repository.commit("long");
    let path = repository.worktree("w");
    write(&path, "a.txt", "a.txt\nmore\n");
    std::fs::remove_file(path.join("b.txt")).unwrap();
    std::fs::rename(path.join("long"), path.join("renamed")).unwrap();
    write(&path, "two\nlines", "x\n");
    write(&path, "bin", "\u{0}");
    commit(&path, "work");
    // What happens on the other side meanwhile is not part of it.
    repository.write("a.txt", "elsewhere\n");
    repository.commit("elsewhere");
    let repo = repository.repo();
    let diff = repo.diff("main", "w", ALL).unwrap();
    let wanted = [
        file("a.txt", Some((1, 0)), "changed"),
        file("b.txt", Some((0, 1)), "deleted"),
        file("bin", None, "added"),
        file("renamed", Some((0, 0)), "renamed"),
        file("two\nlines", Some((1, 0)), "added"),
    ];
    assert_eq!(diff.files, wanted);
    assert!(diff.text.starts_with("diff --git a/a.txt b/a.txt\n"), "{}", diff.text);
    assert!(diff.text.contains("\n+more\n") && diff.text.contains("rename to renamed\n"));
    assert!(!diff.cut && !diff.text.contains("elsewhere"));
    let files = repo.changed_files("main", "w").unwrap();
    assert_eq!(files, ["a.txt", "b.txt", "bin", "long", "renamed", "two\nlines"]);
    assert_eq!(
        repo.diff("w", "main", ALL).unwrap().files,
        [file("a.txt", Some((1, 1)), "changed")]
    );
    assert_eq!(repo.diff("main", "main", ALL).unwrap(), Diff::default());
}

#[test]
fn a_long_text_is_cut_between_characters() {
    let repository = Repository::with_commit();
    let path = repository.worktree("w");
    write(&path, "u", &"ü".repeat(1_000));
    commit(&path, "u");
    let repo = repository.repo();
    let whole = repo.diff("main", "w", ALL).unwrap();
    for max in [0, 1, 150, 151, 152, whole.text.len() - 1] {
        let diff = repo.diff("main", "w", max).unwrap();
        assert!(diff.cut && diff.text.len() <= max && whole.text.starts_with(&diff.text), "{max}");
        assert_eq!(diff.files, whole.files);
    }
    assert_eq!(repo.diff("main", "w", whole.text.len()).unwrap(), whole);
}

#[test]
fn large_files_are_named_and_not_shown() {
    let repository = Repository::with_commit();
    let path = repository.worktree("w");
    write(&path, "large", &"line\n".repeat(2 << 20));
    commit(&path, "large");
    let diff = repository.repo().diff("main", "w", ALL).unwrap();
    assert_eq!(diff.files, [file("large", None, "added")]);
    assert!(diff.text.len() < 1_000);
}

#[test]
fn what_is_uncommitted_is_shown_with_new_files() {
    let repository = Repository::with_commit();
    repository.write("a.txt", "staged\n");
    repository.git(&["add", "a.txt"]);
    repository.write("b.txt", "changed\n");
    repository.write("new", "x\n");
    for name in ODD_FILE_NAMES {
        repository.write(name, "x\n");
    }
    repository.write(".adjutant/x", "ours");
    repository.git(&["init", "-q", "inner"]);
    let index = || std::fs::read(repository.top().join(".git/index")).unwrap();
    let before = index();
    let repo = repository.repo();
    let diff = repo.uncommitted_diff(&repository.top().join("sub"), ALL).unwrap();
    let mut files = diff.files.clone();
    files.retain(|file| !ODD_FILE_NAMES.contains(&&*file.path));
    let wanted = [
        file("a.txt", Some((1, 1)), "changed"),
        file("b.txt", Some((1, 1)), "changed"),
        file("new", Some((1, 0)), "added"),
    ];
    assert_eq!(files, wanted);
    assert_eq!(diff.files.len(), wanted.len() + ODD_FILE_NAMES.len());
    assert!(diff.text.contains("+staged\n") && diff.text.contains("+changed\n"));
    assert_eq!(index(), before, "the index is left alone");
    assert!(plain(repository.top(), &["status", "--porcelain", "new"]).starts_with("??"));
    assert!(repo.uncommitted_diff(repository.top(), 10).unwrap().cut);
}

#[test]
fn before_the_first_commit_all_is_new() {
    let repository = Repository::new();
    repository.write("a", "x\n");
    let diff = repository.repo().uncommitted_diff(repository.top(), ALL).unwrap();
    assert_eq!(diff.files, [file("a", Some((1, 0)), "added")]);
    assert!(!repository.top().join(".git/index").exists());
}

#[test]
fn the_log_tells_what_one_has_and_the_other_lacks() {
    let repository = Repository::with_commit();
    let path = repository.worktree("w");
    let one = commit(&path, "one\n\nbody");
    let two = commit(&path, "two: übung");
    repository.commit("elsewhere");
    let repo = repository.repo();
    let (one, two) = ((one, "one".to_owned()), (two, "two: übung".to_owned()));
    assert_eq!(repo.log("main", "w", 10).unwrap(), [two.clone(), one]);
    assert_eq!(repo.log("main", "w", 1).unwrap(), [two]);
    assert_eq!(repo.log("w", "w", 10).unwrap(), []);
}

#[test]
fn programs_for_differences_are_not_run() {
    let repository = Repository::with_commit();
    let trace = repository.beside("trace");
    let program = format!("echo x >> '{}'; true", trace.display());
    for key in ["diff.external", "diff.mine.command", "diff.mine.textconv"] {
        repository.git(&["config", key, &program]);
    }
    std::fs::write(repository.top().join(".git/info/attributes"), "* diff=mine\n").unwrap();
    let path = repository.worktree("w");
    write(&path, "a.txt", "x\n");
    commit(&path, "x");
    write(&path, "b.txt", "x\n");
    let repo = repository.repo();
    assert_eq!(repo.diff("main", "w", ALL).unwrap().files.len(), 1);
    assert_eq!(repo.uncommitted_diff(&path, ALL).unwrap().files.len(), 1);
    assert_eq!(repo.changed_files("main", "w").unwrap(), ["a.txt"]);
    assert!(!trace.exists());
    plain(repository.top(), &["diff", "main", "w"]);
    assert!(trace.exists(), "this test would notice");
}

#[test]
fn work_is_what_was_committed_and_what_is_not_yet() {
    let repository = Repository::with_commit();
    repository.write("long", &"line\n".repeat(50));
    repository.write("bin", "\u{0}old");
    repository.commit("long");
    let path = repository.worktree("w");
    write(&path, "a.txt", "a.txt\ncommitted\n");
    std::fs::rename(path.join("long"), path.join("renamed")).unwrap();
    commit(&path, "work");
    repository.write("a.txt", "elsewhere\n");
    repository.commit("elsewhere");
    write(&path, "a.txt", "a.txt\ncommitted\nand open\n");
    std::fs::remove_file(path.join("b.txt")).unwrap();
    write(&path, "bin", "\u{0}new");
    for name in ODD_FILE_NAMES {
        write(&path, name, "x\n");
    }
    let repo = repository.repo();
    let base = repo.common_ancestor("main", "w").unwrap().unwrap();
    let (diff, is_open) = repo.work_diff(&path, &base, ALL).unwrap();
    assert!(is_open);
    let mut files = diff.files.clone();
    files.retain(|file| !ODD_FILE_NAMES.contains(&&*file.path));
    let wanted = [
        file("a.txt", Some((2, 0)), "changed"),
        file("b.txt", Some((0, 1)), "deleted"),
        file("bin", None, "changed"),
        file("renamed", Some((0, 0)), "renamed"),
    ];
    assert_eq!(files, wanted);
    assert_eq!(diff.files.len(), wanted.len() + ODD_FILE_NAMES.len());
    assert!(diff.text.contains("+committed\n+and open\n"), "{}", diff.text);
    let history = repo.history("main", "w", 10).unwrap();
    assert_eq!(
        history.iter().map(|(_, _, subject)| subject.as_str()).collect::<Vec<_>>(),
        ["work"]
    );
    commit(&path, "all of it");
    let (whole, is_open) = repo.work_diff(&path, &base, ALL).unwrap();
    assert_eq!((whole.files, is_open), (diff.files, false));
    assert!(repo.common_ancestor("main", "nobody").is_err());
}
