//! Adding: from nothing, again, and from whatever a crash has left.

use std::thread;
use std::time::{Duration, SystemTime};

use super::*;
use crate::git::Git;
use crate::git::support::{ODD_FILE_NAMES, any, commit, executable, read, write};

/// When git was killed, and what that has left.
type Damage<'a> = (&'a str, &'a dyn Fn());

#[test]
fn a_worktree_is_added_once() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let first = head(repository.top());
    let path = repository.top().join(".adjutant/worktrees/a");
    repo.worktree_add(&path, "adjutant/a", &first).unwrap();
    assert_stands(&repository, &path, "adjutant/a");
    write(&path, "mine", "x");
    let mine = commit(&path, "mine");
    write(&path, "more", "x");
    repository.commit("the main one goes on");
    // Again, from elsewhere: what was done in it stays.
    repo.worktree_add(&path, "adjutant/a", "main").unwrap();
    assert_eq!(head(&path), mine);
    assert_eq!(read(&path, "more"), "x");
}

#[test]
fn a_branch_that_is_there_is_checked_out_where_it_stands() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let first = head(repository.top());
    repo.branch_create("b", &first).unwrap();
    repository.commit("later");
    let path = repository.beside("w");
    repo.worktree_add(&path, "b", "main").unwrap();
    assert_eq!(head(&path), first);
    assert_stands(&repository, &path, "b");
}

#[test]
fn odd_names_are_no_hindrance() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    for (number, name) in ODD_FILE_NAMES.iter().enumerate() {
        let path = repository.beside(name);
        repo.worktree_add(&path, &format!("b{number}"), "HEAD").unwrap();
        repo.worktree_add(&path, &format!("b{number}"), "HEAD").unwrap();
        assert_stands(&repository, &path, &format!("b{number}"));
        repo.worktree_remove(&path).unwrap();
        assert!(!path.exists());
    }
    for bad in ["-b", "a b", ""] {
        let error = repo.worktree_add(&repository.beside("w"), bad, "HEAD").unwrap_err();
        assert!(matches!(error, GitError::BadName(_)), "{error}");
    }
    for bad in ["--force", "nothing"] {
        let error = repo.worktree_add(&repository.beside("w"), "b", bad).unwrap_err();
        assert!(matches!(error, GitError::NoSuchRevision(_)), "{error}");
    }
}

#[test]
fn a_project_below_the_top_gets_the_whole_repository() {
    let repository = Repository::with_commit();
    let project = repository.top().join("sub");
    let path = project.join(".adjutant/worktrees/w");
    crate::git::support::open(&project).worktree_add(&path, "w", "HEAD").unwrap();
    assert_stands(&repository, &path, "w");
}

#[test]
fn a_registration_without_a_folder_is_mended() {
    let repository = Repository::with_commit();
    let path = repository.worktree("w");
    fs::remove_dir_all(&path).unwrap();
    repository.repo().worktree_add(&path, "w", "HEAD").unwrap();
    assert_stands(&repository, &path, "w");
    // Also where git was about to make it, or somebody had locked it.
    for reason in [INITIALIZING_LOCK_REASON, "on a stick"] {
        fs::remove_dir_all(&path).unwrap();
        fs::write(repository.top().join(".git/worktrees/w/locked"), reason).unwrap();
        repository.repo().worktree_add(&path, "w", "HEAD").unwrap();
        assert_stands(&repository, &path, "w");
    }
}

#[test]
fn a_half_made_folder_is_made_anew() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    let admin = repository.top().join(".git/worktrees/w");
    let remove = |path: PathBuf| move || drop(fs::remove_file(&path));
    let damages: [Damage<'_>; 4] = [
        ("before the files", &|| {
            for name in ["a.txt", "b.txt", "sub/c.txt"] {
                fs::remove_file(path.join(name)).unwrap();
            }
            fs::remove_file(admin.join("index")).unwrap();
        }),
        ("in the middle of the files", &|| {
            fs::write(path.join("a.txt"), "a.t").unwrap();
            fs::remove_file(path.join("b.txt")).unwrap();
            fs::rename(admin.join("index"), admin.join("index.lock")).unwrap();
            age(&admin.join("index.lock"));
        }),
        ("before it knew where it belongs", &remove(path.join(".git"))),
        ("before its head", &remove(admin.join("HEAD"))),
    ];
    for (when, damage) in damages {
        fs::write(admin.join("locked"), INITIALIZING_LOCK_REASON).unwrap();
        damage();
        repo.worktree_add(&path, "w", "HEAD").unwrap();
        assert_stands(&repository, &path, "w");
        assert!(admin.join("HEAD").exists(), "{when}: it has its old place");
    }
}

#[test]
fn a_git_that_may_still_be_at_work_is_waited_for() {
    let repository = Repository::with_commit();
    let path = repository.worktree("w");
    let admin = repository.top().join(".git/worktrees/w");
    fs::write(admin.join("locked"), INITIALIZING_LOCK_REASON).unwrap();
    fs::write(admin.join("index.lock"), "").unwrap();
    let error = repository.repo().worktree_add(&path, "w", "HEAD").unwrap_err();
    assert!(matches!(error, GitError::Busy(_)) && error.is_transient(), "{error}");
    assert!(path.join("a.txt").exists());
}

#[test]
fn a_lock_of_a_branch_that_nobody_holds_is_broken_when_it_is_old() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let lock = repository.top().join(".git/refs/heads/w.lock");
    fs::write(&lock, "").unwrap();
    let error = repo.worktree_add(&repository.beside("w"), "w", "HEAD").unwrap_err();
    assert!(error.is_transient(), "{error}");
    age(&lock);
    repo.worktree_add(&repository.beside("w"), "w", "HEAD").unwrap();
    assert_stands(&repository, &repository.beside("w"), "w");
}

#[test]
fn folders_that_are_no_worktrees_make_room() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let empty = repository.beside("empty");
    fs::create_dir(&empty).unwrap();
    let dangling = repository.beside("dangling");
    write(&dangling, ".git", "gitdir: /nonexistent/worktrees/x\n");
    let full = repository.beside("full");
    write(&full, "notes.txt", "mine");
    write(&repository.beside("full.before"), "x", "an earlier one");
    fs::write(repository.beside("file"), "mine, too").unwrap();
    std::os::unix::fs::symlink("nowhere", repository.beside("link")).unwrap();
    for name in ["empty", "dangling", "full", "file", "link"] {
        let path = repository.beside(name);
        repo.worktree_add(&path, name, "HEAD").unwrap();
        assert_stands(&repository, &path, name);
    }
    // Nothing is lost.
    assert_eq!(read(&repository.beside("full.before-2"), "notes.txt"), "mine");
    assert_eq!(fs::read_to_string(repository.beside("file.before")).unwrap(), "mine, too");
    assert!(repository.beside("link.before").is_symlink());
}

#[test]
fn a_repository_of_somebody_is_left_alone() {
    let repository = Repository::with_commit();
    let other = Repository::with_commit();
    let repo = repository.repo();
    let error = repo.worktree_add(other.top(), "w", "HEAD").unwrap_err();
    assert!(matches!(error, GitError::Occupied { .. }), "{error}");
    // The same for a worktree with something else in it, and for one that was moved by hand.
    let path = repository.worktree("one");
    let error = repo.worktree_add(&path, "two", "HEAD").unwrap_err();
    assert!(matches!(error, GitError::Occupied { .. }), "{error}");
    fs::rename(&path, repository.beside("moved")).unwrap();
    let error = repo.worktree_add(&repository.beside("moved"), "two", "HEAD").unwrap_err();
    assert!(matches!(error, GitError::Occupied { .. }), "{error}");
}

#[test]
fn a_branch_in_use_elsewhere_is_refused_unless_that_is_gone() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let one = repository.worktree("one");
    let two = repository.beside("two");
    let error = repo.worktree_add(&two, "one", "HEAD").unwrap_err();
    assert!(matches!(&error, GitError::BranchInUse { at, .. } if *at == one), "{error}");
    write(&one, "a.txt", "mine");
    commit(&one, "mine");
    repository.write("a.txt", "ours");
    repository.commit("ours");
    any(&one, &["rebase", "main"]);
    let error = repo.worktree_add(&two, "one", "HEAD").unwrap_err();
    assert!(matches!(&error, GitError::BranchInUse { at, .. } if *at == one), "{error}");
    plain(&one, &["rebase", "--abort"]);
    fs::remove_dir_all(&one).unwrap();
    repo.worktree_add(&two, "one", "HEAD").unwrap();
    assert_eq!(read(&two, "a.txt"), "mine");
}

#[test]
fn commits_that_only_a_vanished_worktree_knew_get_a_branch() {
    let repository = Repository::with_commit();
    let path = repository.worktree("w");
    plain(&path, &["checkout", "-q", "--detach"]);
    let loose = commit(&path, "loose");
    fs::remove_dir_all(&path).unwrap();
    let repo = repository.repo();
    repo.worktree_add(&path, "w", "HEAD").unwrap();
    assert_stands(&repository, &path, "w");
    assert_eq!(repo.resolve("adjutant/rescue/w").unwrap(), Some(loose));
}

#[test]
fn wherever_git_is_killed_it_can_be_repeated() {
    let repository = Repository::with_commit();
    for number in 0..200 {
        repository.write(&format!("many/{number}"), "x\n");
    }
    repository.commit("many");
    let repo = repository.repo();
    let mut killed = 0;
    for millis in (0..36).step_by(3) {
        let limit = Duration::from_millis(millis);
        let name = format!("w{millis}");
        let path = repository.beside(&name);
        // The time to open it is not part of it.
        let hasty = repo.with_limit(limit);
        let error = hasty.worktree_add(&path, &name, "HEAD").err();
        killed += u32::from(error.is_some_and(|error| error.is_transient()));
        // Locks that are young could be those of a git that still runs.
        for lock in locks(&repository.top().join(".git")) {
            age(&lock);
        }
        repo.worktree_add(&path, &name, "HEAD").unwrap();
        assert_stands(&repository, &path, &name);
    }
    assert!(killed > 0, "this test kills git");
}

/// Makes a file old.
fn age(path: &Path) {
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::open(path).unwrap().set_modified(long_ago).unwrap();
}

/// The locks in a folder of git's.
fn locks(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(locks(&path));
        } else if path.extension().is_some_and(|end| end == "lock") {
            found.push(path);
        }
    }
    found
}

#[test]
fn forty_are_added_at_once() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = |number: u32| repository.top().join(format!(".adjutant/worktrees/agt_{number}"));
    thread::scope(|scope| {
        let add = |number: u32| {
            let (repo, path) = (repo.clone(), path(number));
            scope.spawn(move || repo.worktree_add(&path, &format!("adjutant/{number}"), "main"))
        };
        let all: Vec<_> = (0..40).map(add).collect();
        for one in all {
            one.join().unwrap().unwrap();
        }
    });
    for number in 0..40 {
        assert_stands(&repository, &path(number), &format!("adjutant/{number}"));
    }
    // Half of them vanish and are mended at once, too.
    thread::scope(|scope| {
        for number in 0..20 {
            fs::remove_dir_all(path(number)).unwrap();
            let (repo, path) = (repo.clone(), path(number));
            let add = move || repo.worktree_add(&path, &format!("adjutant/{number}"), "main");
            scope.spawn(move || add().unwrap());
        }
    });
    assert_eq!(repo.worktrees().unwrap().len(), 41);
    // And all are removed at once.
    thread::scope(|scope| {
        for number in 0..40 {
            let (repo, path) = (repo.clone(), path(number));
            scope.spawn(move || repo.worktree_remove(&path).unwrap());
        }
    });
    assert_eq!(repo.worktrees().unwrap().len(), 1);
    assert_eq!(repo.branches("adjutant/").unwrap().len(), 40);
}

#[test]
fn the_usual_case_starts_git_once() {
    let repository = Repository::with_commit();
    let starts = repository.beside("starts");
    let git = plain(repository.top(), &["--exec-path"]);
    let folder = repository.beside("bin");
    let real = Path::new(&git).join("git");
    let script =
        format!("#!/bin/sh\necho >> '{}'\nexec '{}' \"$@\"\n", starts.display(), real.display());
    executable(&folder, "git", &script);
    let mut path = folder.into_os_string();
    path.push(":/usr/bin:/bin");
    let repo = Git::on_path(&path).open(repository.top(), Duration::from_secs(60)).unwrap();
    repo.worktree_add(&repository.beside("first"), "first", "HEAD").unwrap();
    fs::remove_file(&starts).unwrap();
    repo.worktree_add(&repository.beside("second"), "second", "HEAD").unwrap();
    assert_eq!(fs::read_to_string(&starts).unwrap().lines().count(), 1);
}

#[test]
fn a_scratch_worktree_is_made_like_the_commit_each_time() {
    let repository = Repository::with_commit();
    repository.write(".gitignore", "cache\n");
    let first = repository.commit("first");
    repository.write("a.txt", "second");
    let second = repository.commit("second");
    let repo = repository.repo();
    let path = repository.beside("scratch");
    repo.worktree_add_detached(&path, &first).unwrap();
    assert_eq!(head(&path), first);
    // All kinds of disorder.
    write(&path, "a.txt", "x");
    write(&path, "untracked/y", "x");
    write(&path, "cache", "kept");
    plain(&path, &["init", "-q", "nested"]);
    fs::remove_file(path.join("b.txt")).unwrap();
    plain(&path, &["add", "-A", "a.txt"]);
    any(&path, &["rebase", &second]);
    repo.worktree_add_detached(&path, &second).unwrap();
    assert_eq!(head(&path), second);
    assert_eq!(read(&path, "a.txt"), "second");
    assert_eq!(read(&path, "cache"), "kept");
    assert_eq!(plain(&path, &["status", "--porcelain"]), "");
    assert_eq!(repo.current_branch(&path).unwrap(), None);
    // In the middle of a merge, too.
    repository.git(&["branch", "other", &first]);
    let other = repository.worktree("other");
    write(&other, "a.txt", "other");
    commit(&other, "other");
    any(&path, &["merge", "other"]);
    repo.worktree_add_detached(&path, &first).unwrap();
    assert_eq!(repo.state(&path).unwrap().in_progress, None);
    // Broken beyond repair it is made anew.
    fs::write(repository.top().join(".git/worktrees/scratch/index"), "nonsense").unwrap();
    fs::remove_file(path.join(".git")).unwrap();
    repo.worktree_add_detached(&path, &second).unwrap();
    assert_eq!(read(&path, "a.txt"), "second");
    // Commits in it are the server's own, and need no branch.
    commit(&path, "loose");
    write(&path, "dirt", "x");
    repo.worktree_remove(&path).unwrap();
    assert!(!path.exists());
}

#[test]
fn scratch_is_never_made_of_what_somebody_works_in() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let path = repository.worktree("w");
    plain(&path, &["checkout", "-q", "--detach"]);
    write(&path, "mine", "x");
    let error = repo.worktree_add_detached(&path, "HEAD").unwrap_err();
    assert!(matches!(error, GitError::Occupied { .. }), "{error}");
    assert_eq!(read(&path, "mine"), "x");
    let scratch = repository.beside("scratch");
    repo.worktree_add_detached(&scratch, "HEAD").unwrap();
    let error = repo.worktree_add(&scratch, "s", "HEAD").unwrap_err();
    assert!(matches!(error, GitError::Occupied { .. }), "{error}");
}
