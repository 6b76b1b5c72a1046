//! Trees of real repositories.

use super::*;
use crate::git::support::{ODD_FILE_NAMES, Repository, plain};

fn listed(repository: &Repository, tree: &str) -> Vec<String> {
    let listed = plain(repository.top(), &["ls-tree", "-r", "-z", "--name-only", tree]);
    listed.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn a_file_is_put_in_and_taken_out() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let tree = repo.tree_of("main").unwrap();
    let with =
        |tree: &str, path: &str, text: &[u8]| repo.tree_with(tree, path, Some(text)).unwrap();
    let without = |tree: &str, path: &str| repo.tree_with(tree, path, None).unwrap();
    let more = with(&tree, "sub/deep/new", b"x");
    assert_eq!(listed(&repository, &more), ["a.txt", "b.txt", "sub/c.txt", "sub/deep/new"]);
    assert_eq!(without(&more, "sub/deep/new"), tree, "an empty folder goes, too");
    assert_eq!(without(&tree, "nothing/here"), tree);
    assert_eq!(without(&tree, "a.txt/below"), tree);
    // An empty file is a file; and to take out the last one leaves an empty tree.
    let only = with(&without(&without(&without(&tree, "a.txt"), "b.txt"), "sub/c.txt"), "e", b"");
    assert_eq!(listed(&repository, &only), ["e"]);
    assert_eq!(listed(&repository, &without(&only, "e")), Vec::<String>::new());
    for name in ODD_FILE_NAMES {
        let odd = with("main", &format!("{name}/{name}"), b"x");
        assert!(listed(&repository, &odd).contains(&format!("{name}/{name}")));
    }
}

#[test]
fn a_file_keeps_its_mode() {
    let repository = Repository::with_commit();
    repository.git(&["update-index", "--chmod=+x", "a.txt"]);
    repository.git(&["commit", "-q", "-m", "x"]);
    let repo = repository.repo();
    let tree = repo.tree_with("main", "a.txt", Some(b"new")).unwrap();
    assert!(plain(repository.top(), &["ls-tree", &tree, "a.txt"]).starts_with("100755"));
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    for path in ["", "/etc/x", "../x", "a/../b", "a//b", ".git/config", "x/.GIT/y", "./a", "a\0b"] {
        for content in [Some(&b"x"[..]), None] {
            let error = repo.tree_with("main", path, content).unwrap_err();
            assert!(matches!(error, GitError::BadPath(_)), "{path:?}: {error}");
        }
        assert!(repo.file_at("main", path).is_err(), "{path:?}");
    }
    // A folder is no file, and a file no folder.
    for path in ["sub", "a.txt/x"] {
        let error = repo.tree_with("main", path, Some(b"x")).unwrap_err();
        assert!(matches!(error, GitError::BadPath(_)), "{path:?}: {error}");
    }
}

#[test]
fn a_file_of_a_commit_is_read() {
    let repository = Repository::with_commit();
    repository.write("bytes", "\u{0}\n\u{0}");
    for name in ODD_FILE_NAMES {
        repository.write(name, name);
    }
    let second = repository.commit("second");
    let repo = repository.repo();
    assert_eq!(repo.file_at("main", "sub/c.txt").unwrap().as_deref(), Some(&b"sub/c.txt\n"[..]));
    assert_eq!(repo.file_at(&second, "bytes").unwrap().as_deref(), Some(&b"\0\n\0"[..]));
    assert_eq!(repo.file_at("main~1", "bytes").unwrap(), None);
    assert_eq!(repo.file_at("main", "two\nlines missing").unwrap(), None);
    assert_eq!(repo.file_at("main", "sub").unwrap(), None, "a folder is no file");
    for name in ODD_FILE_NAMES {
        assert_eq!(repo.file_at("main", name).unwrap().as_deref(), Some(name.as_bytes()));
    }
    let error = repo.file_at("nothing", "a.txt").unwrap_err();
    assert!(matches!(error, GitError::NoSuchRevision(_)), "{error}");
}
