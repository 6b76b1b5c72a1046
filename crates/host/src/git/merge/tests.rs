//! Merges, with and without a working tree.

use super::*;
use crate::git::support::{Repository, any, commit, head, open, plain, read, who, write};

/// A repository with a worktree `w` that begins at its first commit.
fn two() -> (Repository, std::path::PathBuf) {
    let repository = Repository::new();
    let lines: Vec<String> = (1..=20).map(|number| format!("line {number}\n")).collect();
    repository.write("text", &lines.concat());
    repository.write("other", "x\n");
    repository.write("bin", "a\u{0}b");
    repository.commit("first");
    let worktree = repository.worktree("w");
    (repository, worktree)
}

fn change(top: &Path, name: &str, from: &str, to: &str) {
    write(top, name, &read(top, name).replace(from, to));
}

#[test]
fn sides_that_fit_are_merged_and_nothing_moves() {
    let (repository, worktree) = two();
    change(&worktree, "text", "line 2\n", "line two\n");
    let theirs = commit(&worktree, "theirs");
    change(repository.top(), "text", "line 19\n", "line nineteen\n");
    let ours = repository.commit("ours");
    let repo = repository.repo();
    let MergeOutcome::Clean { tree } = repo.merge_trees("main", "w").unwrap() else { panic!() };
    let made = repo.commit_merge(&tree, &[&ours, &theirs], "m", &who()).unwrap();
    let text = String::from_utf8(repo.file_at(&made, "text").unwrap().unwrap()).unwrap();
    assert!(text.contains("line two\n") && text.contains("line nineteen\n"));
    assert_eq!((head(repository.top()), head(&worktree)), (ours, theirs));
    // What is contained already adds nothing.
    let again = repo.merge_trees(&made, "w").unwrap();
    assert_eq!(again, MergeOutcome::Clean { tree });
}

#[test]
fn conflicts_have_files_lines_and_kinds() {
    let (repository, worktree) = two();
    for (top, word) in [(repository.top(), "ours"), (&*worktree, "theirs")] {
        change(top, "text", "line 3\n", &format!("{word}\n"));
        change(top, "text", "line 15\nline 16\n", &format!("{word}\nmore\n{word}\n"));
        write(top, "bin", &format!("a\u{0}{word}"));
        write(top, "new\nfile", &format!("{word}\n"));
    }
    std::fs::remove_file(worktree.join("other")).unwrap();
    repository.write("other", "changed\n");
    commit(&worktree, "theirs");
    repository.commit("ours");
    let MergeOutcome::Conflicts(found) = repository.repo().merge_trees("main", "w").unwrap() else {
        panic!()
    };
    let conflict = |path: &str, lines: &[(u32, u32)], kind: &str| Conflict {
        path: path.into(),
        lines: lines.to_vec(),
        kind: kind.into(),
    };
    let wanted = [
        conflict("bin", &[], "binary"),
        conflict("new\nfile", &[(1, 5)], "add/add"),
        conflict("other", &[], "modify/delete"),
        conflict("text", &[(3, 7), (19, 27)], "content"),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn what_has_no_common_history_is_unrelated_or_was_cut_off() {
    let repository = Repository::with_commit();
    repository.git(&["checkout", "-q", "--orphan", "alone"]);
    repository.commit("alone");
    let repo = repository.repo();
    assert_eq!(repo.merge_trees("main", "alone").unwrap(), MergeOutcome::Unrelated);
    let error = repo.diff("main", "alone", 10).unwrap_err();
    assert!(matches!(error, GitError::Unrelated { .. }), "{error}");
    // The same in a clone that lacks the beginning.
    repository.git(&["checkout", "-q", "main"]);
    repository.git(&["checkout", "-q", "-b", "side"]);
    repository.commit("side");
    repository.git(&["checkout", "-q", "main"]);
    repository.commit("main");
    let from = format!("file://{}", repository.top().display());
    let shallow = repository.beside("shallow");
    let clone =
        ["clone", "-q", "--depth=1", "--no-single-branch", &from, shallow.to_str().unwrap()];
    plain(repository.dir.path(), &clone);
    let repo = open(&shallow);
    let said = |error: GitError| error.to_string();
    let wanted = "git fetch --unshallow";
    let side = "origin/side";
    assert!(said(repo.merge_trees("main", side).unwrap_err()).contains(wanted));
    assert!(said(repo.diff("main", side, 10).unwrap_err()).contains(wanted));
    assert!(said(repo.changed_files("main", side).unwrap_err()).contains(wanted));
    assert!(said(repo.rebase(&shallow, side, &who()).unwrap_err()).contains(wanted));
    assert!(said(repo.fast_forward(&shallow, side).unwrap_err()).contains(wanted));
    plain(&shallow, &["fetch", "-q", "--unshallow"]);
    assert!(matches!(repo.merge_trees("main", side).unwrap(), MergeOutcome::Clean { .. }));
}

#[test]
fn merging_works_in_a_bare_repository_with_the_attributes_of_ours() {
    let (repository, worktree) = two();
    repository.write(".gitattributes", "text merge=union\n");
    change(repository.top(), "text", "line 3\n", "ours\n");
    repository.commit("ours");
    change(&worktree, "text", "line 3\n", "theirs\n");
    commit(&worktree, "theirs");
    let bare = repository.beside("bare.git");
    repository.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let repo = open(&bare);
    let MergeOutcome::Clean { tree } = repo.merge_trees("main", "w").unwrap() else { panic!() };
    let made = repo.commit_merge(&tree, &["main", "w"], "m", &who()).unwrap();
    let text = String::from_utf8(repo.file_at(&made, "text").unwrap().unwrap()).unwrap();
    assert!(text.contains("ours\ntheirs\n"), "{text}");
    repo.branch_move("main", &made, "main").unwrap();
    assert_eq!(repo.resolve("main").unwrap(), Some(made));
    // The other way round there is no such attribute.
    assert!(matches!(repo.merge_trees("w", "main~1").unwrap(), MergeOutcome::Conflicts(_)));
}

#[test]
fn a_merge_driver_of_the_repository_is_not_run() {
    let (repository, worktree) = two();
    let trace = repository.beside("trace");
    let driver = format!("echo >> '{}'", trace.display());
    repository.git(&["config", "merge.mine.driver", &driver]);
    repository.write(".gitattributes", "* merge=mine\n");
    repository.commit("attributes");
    plain(&worktree, &["merge", "-q", "main"]);
    change(&worktree, "text", "line 3\n", "theirs\n");
    change(&worktree, "text", "line 19\n", "line nineteen\n");
    commit(&worktree, "theirs");
    change(repository.top(), "text", "line 3\n", "ours\n");
    repository.commit("ours");
    let MergeOutcome::Conflicts(found) = repository.repo().merge_trees("main", "w").unwrap() else {
        panic!()
    };
    assert_eq!(found[0].lines, [(3, 7)], "it is merged as git itself does");
    assert!(!trace.exists());
    any(&worktree, &["merge", "main"]);
    assert!(trace.exists(), "this test would notice");
}

#[test]
fn a_branch_goes_forward_with_its_files() {
    let (repository, worktree) = two();
    let first = head(&worktree);
    repository.write("new", "x");
    let ahead = repository.commit("ahead");
    write(&worktree, "mine", "untracked");
    change(&worktree, "text", "line 3\n", "mine\n");
    let repo = repository.repo();
    for _ in 0..2 {
        repo.fast_forward(&worktree, "main").unwrap();
        assert_eq!(head(&worktree), ahead);
    }
    // Local changes stay, and what is behind is no reason to go back.
    repo.fast_forward(&worktree, &first).unwrap();
    assert_eq!((head(&worktree), read(&worktree, "mine")), (ahead, "untracked".into()));
    assert!(read(&worktree, "text").contains("mine\n"));
    assert_eq!(repo.current_branch(&worktree).unwrap().as_deref(), Some("w"));
}

#[test]
fn what_is_in_the_way_is_named() {
    let (repository, worktree) = two();
    repository.write("text", "changed");
    repository.write("new\nfile", "theirs");
    repository.write("ignored", "theirs");
    repository.write("folder/x", "theirs");
    repository.commit("ahead");
    let first = head(&worktree);
    std::fs::write(repository.top().join(".git/info/exclude"), "ignored\n").unwrap();
    write(&worktree, "text", "mine");
    write(&worktree, "new\nfile", "mine");
    write(&worktree, "ignored", "mine");
    write(&worktree, "folder", "mine");
    write(&worktree, "bin", "not in the way");
    let error = repository.repo().fast_forward(&worktree, "main").unwrap_err();
    let GitError::Dirty(mut files) = error else { panic!("{error}") };
    files.sort();
    assert_eq!(files, ["folder", "ignored", "new\nfile", "text"]);
    assert_eq!((head(&worktree), read(&worktree, "ignored")), (first, "mine".into()));
    for name in ["folder", "ignored", "new\nfile"] {
        std::fs::remove_file(worktree.join(name)).unwrap();
    }
    plain(&worktree, &["checkout", "-q", "--", "text"]);
    repository.repo().fast_forward(&worktree, "main").unwrap();
}

#[test]
fn what_has_diverged_is_not_forward() {
    let (repository, worktree) = two();
    repository.commit("ours");
    write(&worktree, "mine", "x");
    commit(&worktree, "mine");
    let repo = repository.repo();
    let error = repo.fast_forward(&worktree, "main").unwrap_err();
    assert!(matches!(error, GitError::Diverged { .. }), "{error}");
    change(repository.top(), "text", "line 3\n", "ours\n");
    repository.commit("more");
    change(&worktree, "text", "line 3\n", "mine\n");
    commit(&worktree, "more");
    any(&worktree, &["merge", "main"]);
    let error = repo.fast_forward(&worktree, "main").unwrap_err();
    assert!(matches!(error, GitError::InProgress { .. }), "{error}");
}

#[test]
fn before_the_first_commit_everything_is_forward() {
    let repository = Repository::with_commit();
    let empty = repository.beside("empty");
    plain(repository.dir.path(), &["init", "-q", "-b", "main", "empty"]);
    plain(&empty, &["fetch", "-q", repository.top().to_str().unwrap(), "main:other"]);
    let repo = open(&empty);
    write(&empty, "a.txt", "in the way");
    let error = repo.fast_forward(&empty, "other").unwrap_err();
    assert!(matches!(&error, GitError::Dirty(files) if files[..] == ["a.txt"]), "{error}");
    std::fs::remove_file(empty.join("a.txt")).unwrap();
    repo.fast_forward(&empty, "other").unwrap();
    assert_eq!(head(&empty), head(repository.top()));
}
