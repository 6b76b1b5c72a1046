//! Counts of many heads at once are those of each alone.

use crate::git::support::{Repository, commit, write};

#[test]
fn many_heads_at_once_are_counted_as_each_alone() {
    let repository = Repository::with_commit();
    let hash = |name: &str| repository.git(&["rev-parse", name]).trim().to_owned();
    let mut heads = vec![hash("main")];
    for name in ["one", "two", "three"] {
        let path = repository.worktree(name);
        for number in 0..name.len() {
            write(&path, "a.txt", &format!("{name} {number}\n"));
            commit(&path, "work");
            heads.push(hash(name));
        }
        repository.write("b.txt", name);
        repository.commit("the target moves on");
    }
    // One that has taken the target in, and one without a commit of its own.
    repository.git(&["branch", "merged", "main"]);
    repository.git(&["branch", "old", "one~3"]);
    let path = repository.worktree("joined");
    write(&path, "c.txt", "c");
    commit(&path, "work");
    repository.git(&[
        "-C",
        &path.display().to_string(),
        "merge",
        "-q",
        "-m",
        "join",
        "-s",
        "ours",
        "two",
        "three",
    ]);
    heads.extend(["merged", "old", "joined"].map(hash));
    let repo = repository.repo();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let together: Vec<(usize, usize)> =
        repo.ahead_behind_all("refs/heads/main", &heads).into_iter().map(Result::unwrap).collect();
    let alone: Vec<(usize, usize)> =
        heads.iter().map(|head| repo.ahead_behind("refs/heads/main", head).unwrap()).collect();
    assert_eq!(together, alone);
    assert!(
        alone.contains(&(0, 0)) && alone.iter().any(|(ahead, behind)| *ahead > 4 && *behind > 0)
    );
    // A head that is gone is an error of its own.
    let gone = "0123456789012345678901234567890123456789";
    let counts = repo.ahead_behind_all("refs/heads/main", &[heads[0], gone]);
    assert!(counts[0].is_ok() && counts[1].is_err(), "{counts:?}");
    assert!(repo.ahead_behind_all("refs/heads/none", &heads).iter().all(Result::is_err));
}
