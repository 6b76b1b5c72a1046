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
    shown(&repo.ignored_matching(&[IgnorePatterns { dir, patterns: &patterns }]).unwrap())
}

fn shown(entries: &[IgnoredEntry]) -> Vec<String> {
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
fn patterns_of_the_top_and_of_a_project_below_it_count_each_from_their_own_folder() {
    let repository = Repository::with_commit();
    let top = repository.top();
    write(
        top,
        &[".env", "shop/.env", "shop/a.local", "shop/b.local", "other/a.local", "certs/key"],
    );
    fs::write(top.join(".gitignore"), ".env\n*.local\n/certs\n").unwrap();
    repository.git(&["add", ".gitignore"]);
    repository.git(&["commit", "-q", "-m", "More"]);
    let (repo, shop) = (repository.repo(), top.join("shop"));
    let find = |of_top: &[&str], of_shop: &[&str]| {
        let owned = |list: &[&str]| list.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
        let (of_top, of_shop) = (owned(of_top), owned(of_shop));
        let lists = [
            IgnorePatterns { dir: top, patterns: &of_top },
            IgnorePatterns { dir: &shop, patterns: &of_shop },
        ];
        shown(&repo.ignored_matching(&lists).unwrap())
    };
    assert_eq!(
        find(&["/.env", "certs"], &["*.local"]),
        [".env", "certs/", "shop/a.local", "shop/b.local"]
    );
    assert_eq!(find(&["*.local"], &["!a.local"]), ["other/a.local", "shop/b.local"]);
    assert_eq!(find(&["/shop/*.local"], &[]), ["shop/a.local", "shop/b.local"]);
    assert_eq!(find(&[], &["/.env"]), ["shop/.env"]);
}

#[test]
fn a_file_of_patterns_is_read_as_git_reads_it() {
    let text = "\u{feff}# secrets\n.env  \r\n\n   \n\\#hash\nlast\\ \ntwo\\  \nback\\\\  \n in front\ntab\t\n";
    let found = ignore_patterns(text);
    assert_eq!(found, [".env", "\\#hash", "last\\ ", "two\\ ", "back\\\\", " in front", "tab\t"]);
    // As git itself reads the same lines.
    let repository = Repository::with_commit();
    let top = repository.top();
    write(top, &["last ", "two ", "#hash"]);
    fs::write(top.join(".gitignore"), text).unwrap();
    repository.git(&["add", ".gitignore"]);
    repository.git(&["commit", "-q", "-m", "More"]);
    let patterns = IgnorePatterns { dir: top, patterns: &found };
    let entries = repository.repo().ignored_matching(&[patterns]).unwrap();
    assert_eq!(shown(&entries), ["#hash", "last ", "two "]);
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
