//! Rescues from every state that a working tree can be in.

mod random;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::git::support::{
    ODD_FILE_NAMES, Repository, any, commit, files, head, plain, who, write,
};

/// All that must stay as it is: index, HEAD, files, and what waits for its end.
fn seen(top: &Path) -> impl PartialEq + std::fmt::Debug {
    let git_dir = plain(top, &["rev-parse", "--absolute-git-dir"]);
    let index = fs::read(Path::new(&git_dir).join("index")).ok();
    let names = |folder: &str| {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    (index, fs::read(Path::new(&git_dir).join("HEAD")).unwrap(), names(&git_dir), files(top))
}

#[test]
fn a_change_within_the_same_tick_of_the_clock_is_kept() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    plain(&path, &["config", "core.trustctime", "false"]);
    let index = Path::new(&plain(&path, &["rev-parse", "--absolute-git-dir"])).join("index");
    let tick = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_750_000_000);
    let date = |file: &Path| {
        fs::File::options().append(true).open(file).unwrap().set_modified(tick).unwrap();
    };
    write(&path, "a.txt", "first");
    date(&path.join("a.txt"));
    plain(&path, &["add", "a.txt"]);
    // As long as what is staged and as old, in an index that is no younger: git must read the file to know.
    write(&path, "a.txt", "other");
    date(&path.join("a.txt"));
    date(&index);
    let rescued = repo.rescue(&path, "r", "left", &who()).unwrap().unwrap();
    assert_eq!(repo.file_at(&rescued, "a.txt").unwrap().as_deref(), Some(&b"other"[..]));
}

#[test]
fn everything_uncommitted_is_kept_and_nothing_is_touched() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    write(&path, ".gitignore", "*.o\n");
    commit(&path, "ignore");
    write(&path, "a.txt", "staged");
    plain(&path, &["add", "a.txt"]);
    write(&path, "sub/c.txt", "unstaged");
    fs::remove_file(path.join("b.txt")).unwrap();
    write(&path, "run", "#!/bin/sh\n");
    fs::set_permissions(path.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("a.txt", path.join("link")).unwrap();
    write(&path, "x.o", "ignored");
    for name in ODD_FILE_NAMES {
        write(&path, name, name);
    }
    let before = seen(&path);
    let rescued = repo.rescue(&path, "adjutant/rescue/w", "left", &who()).unwrap().unwrap();
    assert_eq!(seen(&path), before);
    assert_eq!(repo.resolve("adjutant/rescue/w").unwrap().as_ref(), Some(&rescued));
    assert_eq!(repo.resolve(&format!("{rescued}^")).unwrap(), Some(head(&path)));
    let file = |name: &str| repo.file_at(&rescued, name).unwrap();
    assert_eq!(file("a.txt").as_deref(), Some(&b"staged"[..]));
    assert_eq!(file("sub/c.txt").as_deref(), Some(&b"unstaged"[..]));
    assert_eq!((file("b.txt"), file("x.o")), (None, None));
    assert_eq!(file("link").as_deref(), Some(&b"a.txt"[..]));
    for name in ODD_FILE_NAMES {
        assert_eq!(file(name).as_deref(), Some(name.as_bytes()));
    }
    assert!(plain(&path, &["ls-tree", &rescued, "run"]).starts_with("100755"));
    let made = plain(&path, &["log", "-1", "--format=%an %ae %at %cn %s", &rescued]);
    assert_eq!(made, "Ada ada@example.com 1750000000 Ada left");
    // The same again is found again.
    assert_eq!(repo.rescue(&path, "adjutant/rescue/w", "again", &who()).unwrap(), Some(rescued));
    assert_eq!(repo.branches("adjutant/rescue/").unwrap().len(), 1);
}

#[test]
fn a_clean_tree_needs_no_rescue() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    assert_eq!(repo.rescue(&path, "r", "m", &who()).unwrap(), None);
    assert_eq!(repo.branches("r").unwrap(), []);
    // Staged and then undone in the files: the staged half is nowhere else.
    write(&path, "a.txt", "staged");
    plain(&path, &["add", "a.txt"]);
    write(&path, "a.txt", "a.txt\n");
    let rescued = repo.rescue(&path, "r", "m", &who()).unwrap().unwrap();
    let staged = repo.file_at(&format!("{rescued}^2"), "a.txt").unwrap();
    assert_eq!(staged.as_deref(), Some(&b"staged"[..]));
    assert_eq!(repo.rescue(&path, "r", "m", &who()).unwrap(), Some(rescued));
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    let rescue = |text: &str| {
        write(&path, "new", text);
        repo.rescue(&path, "r", "m", &who()).unwrap().unwrap()
    };
    let all = [rescue("1"), rescue("2"), rescue("3")];
    // One that looks like it and is something else is no rescue of it.
    repository.git(&["branch", "r-x"]);
    for (name, hash) in ["r", "r-2", "r-3"].iter().zip(&all) {
        assert_eq!(repo.resolve(name).unwrap().as_ref(), Some(hash));
    }
    assert_eq!(rescue("2"), all[1]);
    assert_eq!(repo.branches("r").unwrap().len(), 4);
    let error = repo.rescue(&path, "-r", "m", &who()).unwrap_err();
    assert!(matches!(error, GitError::BadName(_)), "{error}");
}

#[test]
fn it_works_in_the_middle_of_a_merge_and_of_a_rebase() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    write(&path, "a.txt", "mine");
    commit(&path, "mine");
    repository.write("a.txt", "ours");
    repository.write("other", "x");
    repository.commit("ours");
    for (number, command) in [["merge", "main"], ["rebase", "main"]].iter().enumerate() {
        any(&path, command);
        write(&path, "untracked", "x");
        write(&path, "b.txt", "staged");
        plain(&path, &["add", "b.txt"]);
        write(&path, "b.txt", "changed");
        let before = seen(&path);
        let name = format!("r{number}");
        let rescued = repo.rescue(&path, &name, "m", &who()).unwrap().unwrap();
        assert_eq!(seen(&path), before, "{command:?}");
        assert_eq!(repo.resolve(&format!("{rescued}^")).unwrap(), Some(head(&path)));
        let text = repo.file_at(&rescued, "a.txt").unwrap().unwrap();
        assert!(String::from_utf8(text).unwrap().contains("<<<<<<<"), "as it is in the file");
        assert!(repo.file_at(&rescued, "untracked").unwrap().is_some());
        let staged = repo.file_at(&format!("{rescued}^2"), "b.txt").unwrap();
        assert_eq!(staged.as_deref(), Some(&b"staged"[..]));
        write(&path, "b.txt", "staged");
        // Written again at another time: git must look at it before it believes that it is the same.
        any(&path, &["update-index", "-q", "--unmerged", "--refresh"]);
        plain(&path, &[command[0], "--abort"]);
    }
}

#[test]
fn what_a_merge_brings_from_nowhere_is_kept() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    repository.git(&["checkout", "-q", "--detach"]);
    repository.write("new", "x");
    let nowhere = repository.commit("on no branch");
    repository.git(&["checkout", "-q", "main"]);
    any(&path, &["merge", "--no-commit", "--no-ff", &nowhere]);
    let rescued = repo.rescue(&path, "r", "m", &who()).unwrap().unwrap();
    assert!(repo.is_ancestor(&nowhere, &rescued).unwrap());
}

#[test]
fn a_detached_commit_on_no_branch_is_rescued_even_if_all_is_clean() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    plain(&path, &["checkout", "-q", "--detach"]);
    assert_eq!(repo.rescue(&path, "r", "m", &who()).unwrap(), None, "`w` has it");
    let loose = commit(&path, "loose");
    assert_eq!(repo.rescue(&path, "r", "m", &who()).unwrap().as_ref(), Some(&loose));
    assert_eq!(repo.rescue(&path, "r", "m", &who()).unwrap().as_ref(), Some(&loose));
    assert_eq!(repo.branches("r").unwrap(), [("r".to_owned(), loose)]);
    let more = commit(&path, "more");
    write(&path, "new", "x");
    let rescued = repo.rescue(&path, "r", "m", &who()).unwrap().unwrap();
    assert_eq!(repo.resolve("r-2").unwrap(), Some(rescued.clone()));
    assert_eq!(repo.resolve(&format!("{rescued}^")).unwrap(), Some(more));
}

#[test]
fn before_the_first_commit_a_rescue_has_no_parent() {
    let repository = Repository::new();
    let repo = repository.repo();
    assert_eq!(repo.rescue(repository.top(), "r", "m", &who()).unwrap(), None);
    repository.write("new", "x");
    repository.write(".adjutant/state.db", "ours");
    let rescued = repo.rescue(repository.top(), "r", "m", &who()).unwrap().unwrap();
    assert_eq!(plain(repository.top(), &["log", "--format=%H %P", "r"]), format!("{rescued} "));
    assert_eq!(plain(repository.top(), &["ls-tree", "-r", "--name-only", "r"]), "new");
    assert!(!repository.top().join(".git/index").exists());
    assert_eq!(repo.rescue(repository.top(), "r", "m", &who()).unwrap(), Some(rescued));
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_not_taken_for_deleted() {
    let repository = Repository::with_commit();
    repository.git(&["sparse-checkout", "set", "elsewhere"]);
    let repo = repository.repo();
    let path = repository.worktree("w");
    assert_eq!(repo.rescue(&path, "r", "m", &who()).unwrap(), None);
    write(&path, "elsewhere/new", "x");
    write(&path, "sub/outside", "y");
    let rescued = repo.rescue(&path, "r", "m", &who()).unwrap().unwrap();
    let listed = plain(&path, &["ls-tree", "-r", "--name-only", &rescued]);
    assert_eq!(listed, "a.txt\nb.txt\nelsewhere/new\nsub/c.txt\nsub/outside");
}

#[test]
fn files_that_git_was_told_not_to_look_at_are_looked_at() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    plain(&path, &["update-index", "--skip-worktree", "a.txt"]);
    plain(&path, &["update-index", "--assume-unchanged", "b.txt"]);
    plain(&path, &["update-index", "--assume-unchanged", "--skip-worktree", "sub/c.txt"]);
    assert_eq!(repo.rescue(&path, "r", "m", &who()).unwrap(), None);
    for name in ["a.txt", "b.txt", "sub/c.txt"] {
        write(&path, name, "mine");
    }
    assert_eq!(plain(&path, &["status", "--porcelain"]), "");
    let error = repo.worktree_remove(&path).unwrap_err();
    assert!(matches!(&error, GitError::Dirty(files) if files.len() == 3), "{error}");
    let before = seen(&path);
    let rescued = repo.rescue(&path, "r", "m", &who()).unwrap().unwrap();
    assert_eq!(seen(&path), before);
    assert_eq!(repo.changed_files("main", &rescued).unwrap(), ["a.txt", "b.txt", "sub/c.txt"]);
    repo.worktree_remove(&path).unwrap();
}

#[test]
fn a_repository_inside_does_not_stop_the_rest() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    plain(&path, &["init", "-q", "empty*[x]"]);
    plain(&path, &["init", "-q", "full"]);
    commit(&path.join("full"), "x");
    assert_eq!(repo.rescue(&path, "r", "m", &who()).unwrap(), None, "there is nothing else");
    write(&path, "new", "x");
    let rescued = repo.rescue(&path, "r", "m", &who()).unwrap().unwrap();
    let listed = plain(&path, &["ls-tree", "-r", "--name-only", &rescued]);
    assert_eq!(listed, "a.txt\nb.txt\nnew\nsub/c.txt");
}

#[test]
fn our_own_files_are_work_in_a_worktree_and_none_in_the_main_one() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    repository.write(".adjutant/state.db", "x");
    assert_eq!(repo.rescue(repository.top(), "r", "m", &who()).unwrap(), None);
    let path = repository.worktree("w");
    write(&path, ".adjutant/roles/new.md", "x");
    let rescued = repo.rescue(&path, "r", "m", &who()).unwrap().unwrap();
    assert!(repo.file_at(&rescued, ".adjutant/roles/new.md").unwrap().is_some());
}
