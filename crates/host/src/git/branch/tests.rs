//! Branches of real repositories.

use std::thread;

use super::*;
use crate::git::support::{Repository, any, head, plain};

#[test]
fn a_revision_means_a_commit_or_nothing() {
    let repository = Repository::with_commit();
    let first = head(repository.top());
    repository.git(&["tag", "-a", "-m", "x", "v1"]);
    let repo = repository.repo();
    for rev in ["HEAD", "main", "v1", &first, "main^{tree}~0", first.split_at(8).0] {
        let wanted = (!rev.contains("tree")).then(|| first.clone());
        assert_eq!(repo.resolve(rev).unwrap(), wanted, "{rev}");
    }
    for rev in ["", "nothing", "--all", "-h", "HEAD:a.txt", "a\nb", &"0".repeat(40)] {
        assert_eq!(repo.resolve(rev).unwrap(), None, "{rev}");
    }
}

#[test]
fn the_branch_is_none_where_it_is_detached_or_unborn() {
    let repository = Repository::new();
    let repo = repository.repo();
    assert_eq!(repo.current_branch(repository.top()).unwrap(), None);
    repository.commit("first");
    assert_eq!(repo.current_branch(repository.top()).unwrap().as_deref(), Some("main"));
    let worktree = repository.worktree("odd/übung");
    assert_eq!(repo.current_branch(&worktree).unwrap().as_deref(), Some("odd/übung"));
    plain(&worktree, &["checkout", "-q", "--detach"]);
    assert_eq!(repo.current_branch(&worktree).unwrap(), None);
}

#[test]
fn the_default_branch_of_a_remote_is_the_one_it_told() {
    let repository = Repository::with_commit();
    repository.git(&["branch", "-m", "trunk/x"]);
    let clone = repository.beside("clone");
    repository.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    let repo = crate::git::support::open(&clone);
    assert_eq!(repo.default_branch("origin").unwrap().as_deref(), Some("trunk/x"));
    assert_eq!(repo.default_branch("other").unwrap(), None);
    assert_eq!(repo.default_branch("--x").unwrap(), None);
}

#[test]
fn a_branch_is_made_once() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let first = head(repository.top());
    let second = repository.commit("second");
    repo.branch_create("adjutant/x", &first).unwrap();
    repo.branch_create("adjutant/x", &first).unwrap();
    let error = repo.branch_create("adjutant/x", &second).unwrap_err();
    assert!(matches!(&error, GitError::BranchExists { at, .. } if *at == first), "{error}");
    let error = repo.branch_create("--force", &second).unwrap_err();
    assert!(matches!(error, GitError::BadName(_)), "{error}");
    let wanted = vec![("adjutant/x".to_owned(), first)];
    assert_eq!(repo.branches("adjutant/").unwrap(), wanted);
    assert_eq!(repo.branches("adj").unwrap(), wanted);
    assert_eq!(repo.branches("").unwrap().len(), 2);
    assert_eq!(repo.branches("nothing").unwrap(), []);
}

#[test]
fn a_branch_is_moved_only_from_where_it_is_thought_to_be() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let (first, second) = (head(repository.top()), repository.commit("second"));
    let third = repository.commit("third");
    repo.branch_create("b", &first).unwrap();
    repo.branch_move("b", &second, &first).unwrap();
    // The same again is done already.
    repo.branch_move("b", &second, &first).unwrap();
    let error = repo.branch_move("b", &third, &first).unwrap_err();
    assert!(matches!(&error, GitError::Moved { now: Some(now), .. } if *now == second), "{error}");
    let error = repo.branch_move("none", &third, &first).unwrap_err();
    assert!(matches!(&error, GitError::Moved { now: None, .. }), "{error}");
}

#[test]
fn ancestors_are_known() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let second = repository.commit("second");
    assert!(repo.is_ancestor("HEAD~1", &second).unwrap());
    assert!(repo.is_ancestor(&second, &second).unwrap());
    assert!(!repo.is_ancestor(&second, "HEAD~1").unwrap());
    assert!(repo.is_ancestor("nothing", &second).is_err());
}

#[test]
fn a_branch_goes_only_if_something_else_has_its_commits() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let first = head(repository.top());
    repository.git(&["checkout", "-q", "-b", "work"]);
    let work = repository.commit("work");
    repository.git(&["checkout", "-q", "main"]);
    assert!(!repo.branch_delete_if_reachable("work").unwrap(), "only it has the commit");
    // An alias of itself is nothing else.
    repository.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/work"]);
    assert!(!repo.branch_delete_if_reachable("work").unwrap());
    repository.git(&["symbolic-ref", "-d", "refs/heads/alias"]);
    for keeper in ["refs/tags/t", "refs/remotes/origin/work", "refs/heads/other"] {
        repository.git(&["update-ref", "refs/heads/work", &work]);
        repository.git(&["update-ref", keeper, &work]);
        assert!(repo.branch_delete_if_reachable("work").unwrap(), "{keeper}");
        assert_eq!(repo.resolve("refs/heads/work").unwrap(), None);
        repository.git(&["update-ref", "-d", keeper]);
    }
    assert!(repo.branch_delete_if_reachable("work").unwrap(), "gone already");
    repo.branch_create("old", &first).unwrap();
    repository.git(&["pack-refs", "--all"]);
    assert!(repo.branch_delete_if_reachable("old").unwrap(), "an ancestor is reachable");
    let error = repo.branch_delete_if_reachable("main").unwrap_err();
    assert!(matches!(error, GitError::BranchInUse { .. }), "{error}");
}

#[test]
fn two_branches_that_hold_each_other_do_not_both_go() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    repository.git(&["checkout", "-q", "--detach"]);
    let commit = repository.commit("held");
    repository.git(&["checkout", "-q", "main"]);
    for round in 0..5 {
        let names: Vec<String> = (0..4).map(|number| format!("r{round}-{number}")).collect();
        for name in &names {
            repo.branch_create(name, &commit).unwrap();
        }
        thread::scope(|scope| {
            for name in &names {
                let repo = repo.clone();
                scope.spawn(move || repo.branch_delete_if_reachable(name));
            }
        });
        let left = repo.branches(&format!("r{round}-")).unwrap();
        assert_eq!(left.len(), 1, "{left:?}");
        repository.git(&["branch", "-D", "-q", &left[0].0]);
    }
}

#[test]
fn commits_that_nothing_reaches_are_found() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let first = head(repository.top());
    repository.git(&["checkout", "-q", "--detach"]);
    let (loose, tip) = (repository.commit("loose"), repository.commit("tip"));
    let tagged = repository.commit("tagged");
    let remote = {
        repository.git(&["checkout", "-q", "main~0"]);
        repository.commit("remote")
    };
    repository.git(&["update-ref", "refs/remotes/origin/x", &remote]);
    repository.git(&["checkout", "-q", "main"]);
    let missing = "1".repeat(40);
    let all = vec![first, loose.clone(), tip.clone(), remote, missing.clone(), "no hash".into()];
    let wanted = vec![loose, tip, missing.clone(), "no hash".into()];
    assert_eq!(repo.unreachable_from_branches(&all).unwrap(), wanted);
    repository.git(&["tag", "-a", "-m", "x", "t", &tagged]);
    let wanted = vec![missing, "no hash".to_owned()];
    assert_eq!(repo.unreachable_from_branches(&all).unwrap(), wanted);
    assert_eq!(repo.unreachable_from_branches(&[]).unwrap(), Vec::<String>::new());
}

#[test]
fn names_are_judged_as_git_judges_them() {
    let dir = tempfile::tempdir().unwrap();
    let names = [
        "main",
        "a/b",
        "adjutant/agt_1",
        "übung",
        "a-b_c.d",
        "",
        "-a",
        "a..b",
        "a b",
        "a~",
        "a^b",
        "a:b",
        "a?b",
        "a*",
        "a[b",
        "a\\b",
        "/a",
        "a/",
        "a//b",
        ".a",
        "a/.b",
        "a.",
        "a.lock",
        "a.lock/b",
        "a.LOCK",
        "@",
        "a@b",
        "a@{b",
        "@a",
        "HEAD",
        "a/HEAD",
        "a\tb",
        "a\u{7f}b",
        "a.b/c",
        "(detached)",
        "a'b",
        "a\"b",
        "$a",
        "a;b",
        "{}",
        "a/@",
    ];
    for name in names {
        // `HEAD` is a reference like any other to check-ref-format, and no branch to `git branch`.
        let git = any(dir.path(), &["check-ref-format", &full(name)]).exit.is_success();
        let wanted = git && !name.starts_with('-') && !matches!(name, "HEAD" | "@");
        assert_eq!(Repo::is_valid_branch_name(name), wanted, "{name:?}");
    }
}
