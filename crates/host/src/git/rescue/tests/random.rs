//! Whatever happens in a worktree, a rescue and a removal lose nothing of it.

use std::collections::BTreeSet;

use proptest::prelude::{Just, Strategy};
use proptest::test_runner::{Config, TestCaseResult};
use proptest::{prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::*;

/// Something that an agent does.
#[derive(Debug, Clone)]
enum Deed {
    Write { file: usize, text: u8 },
    Delete { file: usize },
    Stage { file: usize },
    Unstage,
    Hide { file: usize },
    Commit,
    Detach,
    Back,
    Merge,
    Rebase,
    Abort,
    Stash,
    Reset,
    Rescue,
}

/// Some are ignored, one is a file where another wants a folder.
const FILES: [&str; 8] =
    ["a.txt", "b.txt", "sub/c.txt", "new", "deep/er/file", "odd \n name", "x.ignored", "deep/x"];

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let file = 0..FILES.len();
    let one = prop_oneof![
        8 => (file.clone(), 0..4_u8).prop_map(|(file, text)| Deed::Write { file, text }),
        3 => file.clone().prop_map(|file| Deed::Delete { file }),
        4 => file.clone().prop_map(|file| Deed::Stage { file }),
        1 => file.prop_map(|file| Deed::Hide { file }),
        1 => Just(Deed::Unstage),
        3 => Just(Deed::Commit),
        1 => Just(Deed::Detach),
        1 => Just(Deed::Back),
        2 => Just(Deed::Merge),
        2 => Just(Deed::Rebase),
        1 => Just(Deed::Abort),
        1 => Just(Deed::Stash),
        1 => Just(Deed::Reset),
        1 => Just(Deed::Rescue),
    ];
    proptest::collection::vec(one, 1..14)
}

/// Does it, or does not: an agent's git may refuse as well.
fn act(repo: &Repo, top: &Path, deed: &Deed) {
    match deed {
        Deed::Write { file, text } => write(top, FILES[*file], &format!("text {text}\n")),
        Deed::Delete { file } => drop(fs::remove_file(top.join(FILES[*file]))),
        Deed::Stage { file } => drop(any(top, &["add", "-A", "--", FILES[*file]])),
        Deed::Hide { file } => {
            drop(any(top, &["update-index", "--skip-worktree", "--", FILES[*file]]));
        }
        Deed::Unstage => drop(any(top, &["reset", "-q"])),
        Deed::Commit => drop(any(top, &["commit", "-q", "-m", "x"])),
        Deed::Detach => drop(any(top, &["checkout", "-q", "--detach"])),
        Deed::Back => drop(any(top, &["checkout", "-q", "w"])),
        Deed::Merge => drop(any(top, &["merge", "-q", "-m", "x", "main"])),
        Deed::Rebase => drop(any(top, &["rebase", "-q", "main"])),
        Deed::Abort => {
            drop(any(top, &["merge", "--abort"]));
            drop(any(top, &["rebase", "--abort"]));
        }
        Deed::Stash => drop(any(top, &["stash", "-q", "-u"])),
        Deed::Reset => drop(any(top, &["checkout", "-q", "-f"])),
        Deed::Rescue => drop(repo.rescue(top, "r", "m", &who()).unwrap()),
    }
}

/// The blobs that a worktree's files and index hold, and the commit it stands on.
fn holds(top: &Path) -> BTreeSet<String> {
    let mut held = BTreeSet::from([head(top)]);
    let listed = plain(top, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        if top.join(name).is_file() {
            held.insert(plain(top, &["hash-object", "--", name]));
        }
    }
    for entry in plain(top, &["ls-files", "-z", "--stage"]).split('\0') {
        held.extend(entry.split(' ').nth(1).map(str::to_owned));
    }
    held
}

fn nothing_is_lost(deeds: &[Deed]) -> TestCaseResult {
    let repository = Repository::new();
    repository.write(".gitignore", "*.ignored\n");
    for name in ["a.txt", "b.txt", "sub/c.txt"] {
        repository.write(name, &format!("{name}\n"));
    }
    repository.commit("first");
    let path = repository.worktree("w");
    // Something to be in conflict with.
    repository.write("a.txt", "main\n");
    repository.write("new", "main\n");
    repository.commit("main goes on");
    let repo = repository.repo();
    for deed in deeds {
        act(&repo, &path, deed);
    }
    let held = holds(&path);
    let before = seen(&path);
    let rescued = repo.rescue(&path, "r", "m", &who()).unwrap();
    prop_assert_eq!(&before, &seen(&path));
    prop_assert_eq!(&rescued, &repo.rescue(&path, "r", "m", &who()).unwrap());
    repo.worktree_remove(&path).unwrap();
    prop_assert!(!path.exists());
    let reachable: BTreeSet<String> = repository.reachable().into_iter().collect();
    let lost: Vec<&String> = held.difference(&reachable).collect();
    prop_assert!(lost.is_empty(), "{:?}", lost);
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: 24, ..Config::default() })]

    #[test]
    fn a_rescue_and_a_removal_lose_nothing(deeds in deeds()) {
        nothing_is_lost(&deeds)?;
    }
}
