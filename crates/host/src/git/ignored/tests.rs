//! Which ignored files match, in a project at the top of its repository and below it.

use std::fs;

use super::super::support::Repository;
use super::*;

fn write(top: &Path, names: &[&str]) {
    for name in names {
        let path = top.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
}

fn found(repo: &Repo, dir: &Path, patterns: &[&str]) -> Vec<String> {
    let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
    let entries = repo.ignored_matching(dir, &patterns).unwrap();
    let shown = |entry: &IgnoredEntry| {
        format!("{}{}", entry.path.display(), if entry.is_folder { "/" } else { "" })
    };
    entries.iter().map(shown).collect()
}

#[test]
fn only_what_matches_and_is_ignored_is_found() {
    let repository = Repository::with_commit();
    let top = repository.top();
    write(
        top,
        &[
            ".env",
            ".env.local",
            "sub/.env",
            "node_modules/a/i.js",
            "sub/node_modules/b/j.js",
            "mixed/tracked",
            "mixed/cache/x",
            "plain.txt",
            ".adjutant/.env",
        ],
    );
    fs::write(top.join(".gitignore"), ".env*\nnode_modules/\ncache\n.adjutant\n").unwrap();
    repository.git(&["add", ".gitignore", "mixed/tracked"]);
    repository.git(&["commit", "-q", "-m", "More"]);
    let repo = repository.repo();
    let find = |patterns: &[&str]| found(&repo, top, patterns);
    assert_eq!(find(&[]), [""; 0]);
    assert_eq!(
        find(&[".env", "node_modules"]),
        [".env", "node_modules/", "sub/.env", "sub/node_modules/"]
    );
    assert_eq!(find(&["/.env", "sub/node_modules"]), [".env", "sub/node_modules/"]);
    assert_eq!(find(&[".env*", "!.env.local"]), [".env", "sub/.env"]);
    assert_eq!(find(&["mixed/**"]), ["mixed/cache/"], "a tracked file is never listed");
    assert_eq!(
        find(&["plain.txt", "../.env", "nothing"]),
        [""; 0],
        "not ignored, outside, not there"
    );
}

#[test]
fn patterns_of_a_project_below_the_top_count_from_there() {
    let repository = Repository::with_commit();
    let top = repository.top();
    write(top, &[".env", "shop/.env", "shop/deep/.env", "other/.env", "shop/a/x"]);
    fs::write(top.join(".gitignore"), ".env\na/\n").unwrap();
    repository.git(&["add", ".gitignore"]);
    repository.git(&["commit", "-q", "-m", "More"]);
    let repo = repository.repo();
    let shop = top.join("shop");
    assert_eq!(found(&repo, &shop, &[".env"]), ["shop/.env", "shop/deep/.env"]);
    assert_eq!(found(&repo, &shop, &["deep/.env", "/a"]), ["shop/a/", "shop/deep/.env"]);
    assert_eq!(found(&repo, &shop, &["../other/.env"]), [""; 0]);
}

#[test]
fn a_folder_that_is_ignored_as_a_folder_is_not_ignored_as_a_link() {
    let repository = Repository::with_commit();
    fs::write(repository.top().join(".gitignore"), "node_modules/\n.venv\n").unwrap();
    repository.git(&["add", ".gitignore"]);
    repository.git(&["commit", "-q", "-m", "More"]);
    let linked = repository.worktree("feature");
    let entry = |path: &str, is_folder| IgnoredEntry { path: path.into(), is_folder };
    let entries = [
        entry("node_modules", true),
        entry("node_modules", false),
        entry(".venv", false),
        entry("other", true),
    ];
    let ignored = repository.repo().ignores(&linked, &entries).unwrap();
    assert_eq!(ignored, [true, false, true, false]);
}
