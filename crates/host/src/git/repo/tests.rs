//! Repositories of every kind, opened.

use super::*;
use crate::git::support::{Repository, TEST_TIMEOUT, executable, head, open, pipe, plain, write};

#[test]
fn a_repository_says_what_it_is() {
    let repository = Repository::with_commit();
    let facts = repository.repo().facts().clone();
    assert_eq!(facts.common_dir, repository.top().join(".git"));
    assert_eq!(facts.top.as_deref(), Some(repository.top()));
    assert!(!facts.bare && !facts.shallow && !facts.sparse && !facts.has_submodules);
    // From a folder inside it is the same one.
    assert_eq!(open(&repository.top().join("sub")).facts(), &facts);
}

#[test]
fn a_bare_repository_and_its_worktree_are_opened() {
    let repository = Repository::with_commit();
    let bare = repository.beside("bare.git");
    repository.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let repo = open(&bare);
    assert!(repo.facts().bare && repo.facts().top.is_none());
    assert_eq!(repo.resolve("HEAD").unwrap().unwrap(), head(repository.top()));
    let worktree = repository.beside("of bare");
    repo.worktree_add(&worktree, "w", "HEAD").unwrap();
    let inside = open(&worktree);
    assert_eq!(inside.facts().common_dir, bare);
    assert_eq!(inside.facts().top.as_deref(), Some(&*worktree));
    write(&worktree, "new", "x");
    assert_eq!(repo.state(&worktree).unwrap().untracked, ["new"]);
}

#[test]
fn files_tell_whether_a_repository_is_around() {
    let repository = Repository::with_commit();
    let bare = repository.beside("bare.git");
    repository.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let (worktree, nothing) = (repository.worktree("linked"), repository.beside("nothing"));
    fs::create_dir(&nothing).unwrap();
    for dir in [repository.top().join("sub"), worktree, bare.join("objects"), bare] {
        assert!(crate::git::is_around(&dir), "{}", dir.display());
    }
    assert!(!crate::git::is_around(&nothing));
}

#[test]
fn files_tell_what_is_checked_out_unless_it_is_not_that_simple() {
    let repository = Repository::with_commit();
    let told = || crate::git::checked_out(&repository.top().join("sub"));
    let (branch, commit) = told().unwrap();
    assert_eq!(branch, repository.git(&["branch", "--show-current"]));
    assert_eq!(commit, head(repository.top()));
    repository.git(&["pack-refs", "--all"]);
    assert_eq!(told(), Some((branch, commit)));
    repository.git(&["checkout", "-q", "--detach"]);
    assert_eq!(told(), None);
    repository.git(&["checkout", "-q", "--orphan", "new"]);
    assert_eq!(told(), None);
}

#[test]
fn git_files_that_are_no_files_or_endless_are_passed_over() {
    let repository = Repository::with_commit();
    let commit = head(repository.top());
    let there = repository.top().join(".git");
    let aside = repository.beside("aside");
    let told = || crate::git::head(&repository.top().join("sub"));
    assert_eq!(told(), Some(commit.clone()));
    // A pipe, which nobody writes to.
    for name in ["HEAD", "refs/heads/main"] {
        let path = there.join(name);
        fs::rename(&path, &aside).unwrap();
        pipe(&path);
        assert_eq!(told(), None, "{name}");
        assert_eq!(crate::git::checked_out(repository.top()), None, "{name}");
        fs::rename(&aside, &path).unwrap();
    }
    // A gigabyte of nothing, and a link to itself.
    let head_file = there.join("HEAD");
    fs::File::create(&head_file).unwrap().set_len(1 << 30).unwrap();
    assert_eq!(told(), None);
    fs::remove_file(&head_file).unwrap();
    std::os::unix::fs::symlink("HEAD", &head_file).unwrap();
    assert_eq!(told(), None);
    fs::remove_file(&head_file).unwrap();
    // What lies elsewhere is no branch, whatever is in it.
    fs::write(repository.beside("x"), format!("{commit}\n")).unwrap();
    let outside = repository.beside("x").display().to_string();
    for name in ["../../x", "refs/../../../x", &outside, "HEAD"] {
        fs::write(&head_file, format!("ref: {name}\n")).unwrap();
        assert_eq!(told(), None, "{name}");
    }
    fs::remove_dir_all(&there).unwrap();
    pipe(&there);
    assert_eq!(told(), None);
    assert!(!crate::git::is_around(repository.top()));
    Git::default().open(repository.top(), TEST_TIMEOUT).unwrap_err();
}

#[test]
fn shallow_sparse_and_submodules_are_seen() {
    let repository = Repository::with_commit();
    repository.commit("second");
    let clone = |options: &[&str], name: &str| {
        let from = format!("file://{}", repository.top().display());
        let path = repository.beside(name);
        let all = [&["clone", "-q"], options, &[&from, path.to_str().unwrap()]].concat();
        plain(repository.dir.path(), &all);
        path
    };
    assert!(open(&clone(&["--depth=1"], "shallow")).facts().shallow);
    assert!(open(&clone(&["--sparse"], "sparse")).facts().sparse);
    let outer = clone(&[], "outer");
    let from = repository.top().to_str().unwrap();
    plain(&outer, &["submodule", "--quiet", "add", from, "inner"]);
    assert!(open(&outer).facts().has_submodules);
    // A bare one is asked for what is committed.
    plain(&outer, &["commit", "-q", "-m", "x"]);
    let bare = repository.beside("outer.git");
    plain(&outer, &["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    assert!(open(&bare).facts().has_submodules);
}

#[test]
fn a_partial_clone_that_lacks_files_is_told_of() {
    let repository = Repository::with_commit();
    repository.git(&["config", "uploadpack.allowFilter", "true"]);
    let from = format!("file://{}", repository.top().display());
    let partial = repository.beside("partial");
    let clone = ["clone", "-q", "--no-checkout", "--filter=blob:none", &from];
    plain(repository.dir.path(), &[&clone[..], &[partial.to_str().unwrap()]].concat());
    let repo = open(&partial);
    let path = repository.beside("w");
    let error = repo.worktree_add(&path, "w", "HEAD").unwrap_err();
    assert!(error.to_string().contains("partial clone"), "{error}");
    // With the files it works, from where it stopped.
    plain(&partial, &["checkout", "-q", "main"]);
    repo.worktree_add(&path, "w", "HEAD").unwrap();
    assert!(repo.state(&path).unwrap().is_clean());
}

#[test]
fn a_repository_with_other_hashes_is_as_good() {
    let repository = Repository::with(&["--object-format=sha256"]);
    repository.write("a", "x");
    let first = repository.commit("first");
    assert_eq!(first.len(), 64);
    let repo = repository.repo();
    assert_eq!(repo.resolve("main").unwrap().as_ref(), Some(&first));
    repo.branch_create("b", &first).unwrap();
    let tree = repository.worktree("w");
    write(&tree, "b", "y");
    let who = crate::git::support::who();
    let rescued = repo.rescue(&tree, "r", "m", &who).unwrap().unwrap();
    assert_eq!(rescued.len(), 64);
    let changed = repo.commit_file(&first, "c/d", Some(b"z"), "m", &who).unwrap();
    assert_eq!(repo.file_at(&changed, "c/d").unwrap().as_deref(), Some(&b"z"[..]));
    assert!(repo.branch_delete_if_reachable("b").unwrap());
    assert_eq!(repo.uncommitted_diff(&tree, 1_000).unwrap().files.len(), 1);
}

#[test]
fn where_no_repository_is_that_is_said() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().to_owned(), dir.path().join("missing")] {
        let error = Git::default().open(&path, TEST_TIMEOUT).unwrap_err();
        assert!(matches!(&error, GitError::NotARepository { dir } if *dir == path), "{error}");
    }
}

#[test]
fn an_old_git_is_refused() {
    assert_eq!(version("git version 2.38.1").unwrap(), (2, 38));
    assert_eq!(version("git version 3.0.rc1 (Apple Git-154)").unwrap(), (3, 0));
    let error = version("git version 2.37.9").unwrap_err().to_string();
    assert_eq!(error, "git 2.37.9 is too old; install git 2.38 or newer");
    assert!(version("nonsense").is_err());
}

#[test]
fn a_folder_of_another_repository_is_refused() {
    let (one, other) = (Repository::with_commit(), Repository::with_commit());
    let error = one.repo().state(other.top()).unwrap_err();
    assert!(matches!(error, GitError::NotARepository { .. }), "{error}");
}

#[test]
fn a_broken_worktree_is_not_taken_for_the_one_around_it() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    for name in ["inner/w", ".adjutant/worktrees/w"] {
        let path = repository.top().join(name);
        repo.worktree_add(&path, &format!("b-{}", name.len()), "HEAD").unwrap();
        fs::remove_file(path.join(".git")).unwrap();
        let error = repo.state(&path).unwrap_err();
        assert!(matches!(error, GitError::NotARepository { .. }), "{error}");
    }
    // Not even where git has forgotten it.
    fs::remove_dir_all(repository.top().join(".git/worktrees")).unwrap();
    let path = repository.top().join(".adjutant/worktrees/w");
    repo.commit_all(&path, "m", &crate::git::support::who()).unwrap_err();
    assert!(repo.state(&repository.top().join("sub")).is_ok());
}

#[test]
fn no_commits_and_no_such_commit_are_told_apart() {
    let empty = Repository::new();
    let error = empty.repo().branch_create("b", "HEAD").unwrap_err();
    assert!(matches!(error, GitError::NoCommits), "{error}");
    let error = Repository::with_commit().repo().branch_create("b", "nothing").unwrap_err();
    assert!(matches!(&error, GitError::NoSuchRevision(rev) if rev == "nothing"), "{error}");
}

#[test]
fn settings_that_change_are_seen() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let trace = repository.beside("trace");
    let script = format!("#!/bin/sh\necho $0 >> '{}'\ncat\n", trace.display());
    let program = repository.beside("program");
    executable(repository.dir.path(), "program", &script);
    repo.state(repository.top()).unwrap();
    // The filter comes after it was looked for.
    repository.git(&["config", "filter.late.clean", program.to_str().unwrap()]);
    repository.git(&["config", "filter.late.smudge", program.to_str().unwrap()]);
    repository.git(&["config", "filter.late.required", "true"]);
    fs::write(repository.top().join(".git/info/attributes"), "* filter=late\n").unwrap();
    repository.write("new", "x");
    let who = crate::git::support::who();
    repo.commit_all(repository.top(), "m", &who).unwrap().unwrap();
    repo.worktree_add(&repository.beside("w"), "w", "HEAD").unwrap();
    assert!(!trace.exists());
    repository.write("new", "y");
    repository.git(&["add", "new"]);
    assert!(trace.exists(), "this test would notice");
}

/// Writes another text into a file so that its number, its length and its time stay the same.
fn swap(path: &Path, text: &str) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let facts = file.metadata().unwrap();
    assert_eq!(facts.len(), text.len() as u64);
    std::os::unix::fs::FileExt::write_all_at(&file, text.as_bytes(), 0).unwrap();
    file.set_modified(facts.modified().unwrap()).unwrap();
}

#[test]
fn a_filter_that_is_slipped_in_unseen_is_not_run() {
    let repository = Repository::with_commit();
    let trace = repository.beside("trace");
    let script = format!("#!/bin/sh\necho $0 >> '{}'\ncat\n", trace.display());
    executable(repository.dir.path(), "program", &script);
    let program = repository.beside("program");
    let config = repository.top().join(".git/config");
    let plain_text = fs::read_to_string(&config).unwrap();
    let program_settings = format!(
        "{plain_text}[filter \"late\"]\n\tclean = {0}\n\tsmudge = {0}\n\tprocess = {0}\n",
        program.display()
    );
    let harmless =
        format!("{plain_text}#{}\n", "x".repeat(program_settings.len() - plain_text.len() - 2));
    fs::write(&config, &harmless).unwrap();
    fs::write(repository.top().join(".git/info/attributes"), "* filter=late\n").unwrap();
    let repo = repository.repo();
    repo.state(repository.top()).unwrap();
    swap(&config, &program_settings);
    repository.write("new", "x");
    let who = crate::git::support::who();
    repo.commit_all(repository.top(), "m", &who).unwrap().unwrap();
    repo.worktree_add(&repository.beside("w"), "w", "HEAD").unwrap();
    assert!(!trace.exists(), "{}", fs::read_to_string(&trace).unwrap());
    // Back and forth: what was seen once still means the same.
    swap(&config, &harmless);
    repo.state(repository.top()).unwrap();
    swap(&config, &program_settings);
    repository.write("more", "x");
    repo.commit_all(repository.top(), "m", &who).unwrap().unwrap();
    assert!(!trace.exists(), "{}", fs::read_to_string(&trace).unwrap());
    repository.write("more", "y");
    repository.git(&["add", "more"]);
    assert!(trace.exists(), "this test would notice");
}

#[test]
fn a_configuration_that_is_no_file_or_too_long_is_refused() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let config = repository.top().join(".git/config");
    fs::remove_file(&config).unwrap();
    pipe(&config);
    let error = repo.branch_create("b", "HEAD").unwrap_err();
    assert!(matches!(error, GitError::File(_)), "{error}");
    fs::remove_file(&config).unwrap();
    fs::File::create(&config).unwrap().set_len(1 << 40).unwrap();
    let error = repo.branch_create("b", "HEAD").unwrap_err();
    assert!(matches!(error, GitError::File(_)), "{error}");
}
