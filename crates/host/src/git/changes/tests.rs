//! Real repositories, asked what changed in them.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use super::*;
use crate::process::{self, Launch};

const TEST_TIMEOUT: Duration = Duration::from_secs(60);

struct Repository {
    dir: tempfile::TempDir,
}

impl Repository {
    fn new() -> Self {
        let repository = Self { dir: tempfile::tempdir().unwrap() };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    /// One with a commit, and that commit's hash.
    fn with_commit() -> (Self, String) {
        let repository = Self::new();
        for name in ["a.txt", "b.txt", "sub/c.txt"] {
            repository.write(name, name);
        }
        let base = repository.commit();
        (repository, base)
    }

    fn git(&self, arguments: &[&str]) {
        let user = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
        let launch = Launch {
            program: "git".into(),
            arguments: user.iter().chain(arguments).map(OsString::from).collect(),
            environment: vec![
                ("PATH".into(), USUAL_PATH.into()),
                ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()),
                ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ],
            directory: self.dir.path().to_owned(),
        };
        let output = process::run(&launch, TEST_TIMEOUT).unwrap();
        assert!(output.exit.is_success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "x"]);
        crate::git::head(self.dir.path()).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn script(&self, name: &str, text: &str) -> String {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
        self.path(name).display().to_string()
    }

    fn changes(&self, base: Option<&str>) -> Vec<String> {
        Git::default().changes_since(self.dir.path(), base, TEST_TIMEOUT).unwrap()
    }
}

#[test]
fn what_lay_there_untracked_before_is_no_change() {
    let (repository, base) = Repository::with_commit();
    repository.write("before", "");
    let later = Timestamp::from_millis(crate::clock::Clock::System.now().as_millis() + 60_000);
    let ask =
        |git: Git| git.changes_since(repository.dir.path(), Some(&base), TEST_TIMEOUT).unwrap();
    assert_eq!(ask(Git::default()), ["added before"]);
    assert_eq!(ask(Git::default().since(later)), Vec::<String>::new());
}

#[test]
fn committed_uncommitted_and_untracked_files_are_told_once_each() {
    let (repository, base) = Repository::with_commit();
    repository.write("a.txt", "committed");
    repository.write("new/committed.txt", "x");
    repository.commit();
    repository.write("a.txt", "and changed again");
    // A file that moved is gone here and new there.
    fs::rename(repository.path("b.txt"), repository.path("moved.txt")).unwrap();
    repository.git(&["add", "-A"]);
    repository.write("new/untracked.txt", "x");
    repository.write("staged.txt", "x");
    repository.git(&["add", "staged.txt"]);
    let wanted = [
        "changed a.txt",
        "deleted b.txt",
        "added moved.txt",
        "added new/committed.txt",
        "added new/untracked.txt",
        "added staged.txt",
    ];
    assert_eq!(repository.changes(Some(&base)), wanted);
    // From a folder inside it is the same repository, with the same names.
    let inner = Git::default().changes_since(&repository.path("sub"), Some(&base), TEST_TIMEOUT);
    assert_eq!(inner.unwrap(), wanted);
}

#[test]
fn what_is_as_it_was_is_not_a_change() {
    let (repository, base) = Repository::with_commit();
    repository.write("a.txt", "something else");
    repository.write("came.txt", "and went");
    repository.commit();
    repository.write("a.txt", "a.txt");
    repository.commit();
    fs::remove_file(repository.path("came.txt")).unwrap();
    repository.git(&["rm", "-q", "--cached", "b.txt"]);
    repository.write(".gitignore", "build/\n");
    repository.write("build/out", "x");
    repository.write(".adjutant/config.yaml", "x");
    assert_eq!(repository.changes(Some(&base)), ["added .gitignore", "changed b.txt"]);
}

#[test]
fn before_the_first_commit_every_file_is_new() {
    let repository = Repository::new();
    repository.write("a.txt", "x");
    assert_eq!(repository.changes(None), ["added a.txt"]);
    repository.commit();
    repository.write("b.txt", "x");
    assert_eq!(repository.changes(None), ["added a.txt", "added b.txt"]);
}

#[test]
fn odd_names_stay_on_their_line() {
    let (repository, base) = Repository::with_commit();
    for name in ["with space and \"quotes\".txt", "two\nlines.txt", "übung.txt", "-dash", "tab\t"]
    {
        repository.write(name, "x");
    }
    let broken = OsStr::from_bytes(b"broken-\xff");
    // Some file systems refuse such a name.
    let written = fs::write(repository.dir.path().join(broken), "x").is_ok();
    let mut wanted = vec!["added -dash"];
    if written {
        wanted.push("added broken-\u{fffd}");
    }
    wanted.extend([
        "added tab\\t",
        "added two\\nlines.txt",
        "added with space and \"quotes\".txt",
        "added übung.txt",
    ]);
    assert_eq!(repository.changes(Some(&base)), wanted);
}

#[test]
fn many_changes_are_counted() {
    let (repository, base) = Repository::with_commit();
    for number in 0..237 {
        repository.write(&format!("n/{number:03}"), "x");
    }
    let changes = repository.changes(Some(&base));
    assert_eq!(changes.len(), 201);
    assert_eq!(changes[199..], ["added n/199", "and 37 more files"]);
}

#[test]
fn no_program_of_the_repository_is_run() {
    let (repository, base) = Repository::with_commit();
    let trace = repository.path(".git/trace");
    let tell = format!("echo \"$0 $*\" >> '{}'\n", trace.display());
    let script = |name: &str| repository.script(name, &format!("#!/bin/sh\n{tell}cat\n"));
    let filter = script(".git/filter");
    for (key, value) in [
        ("filter.a=b.c.clean", filter.as_str()),
        ("filter.a=b.c.smudge", &filter),
        ("filter.a=b.c.required", "true"),
        ("diff.x.textconv", &filter),
        ("diff.x.command", &filter),
        ("diff.external", &filter),
        ("core.fsmonitor", &script(".git/monitor")),
    ] {
        repository.git(&["config", key, value]);
    }
    script(".git/hooks/post-index-change");
    fs::write(repository.path(".git/info/attributes"), "* filter=a=b.c diff=x\n").unwrap();
    repository.write("a.txt", "A.txt");
    // The files look changed and are not: git has to read them, and would read them through the filter.
    for name in ["b.txt", "sub/c.txt"] {
        fs::remove_file(repository.path(name)).unwrap();
        repository.write(name, name);
    }
    assert_eq!(repository.changes(Some(&base)), ["changed a.txt"]);
    assert!(!trace.exists(), "{}", fs::read_to_string(&trace).unwrap());
    // The same question without precautions runs them, so that this test would notice.
    repository.git(&["status"]);
    assert!(trace.exists());
}

#[test]
fn the_index_is_left_as_it_is() {
    let (repository, base) = Repository::with_commit();
    repository.write("a.txt", "A.txt");
    // A file that only looks changed: git would like to note that it is not.
    let long_ago = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::open(repository.path("b.txt")).unwrap().set_modified(long_ago).unwrap();
    let index = || fs::read(repository.path(".git/index")).unwrap();
    let before = index();
    assert_eq!(repository.changes(Some(&base)), ["changed a.txt"]);
    assert_eq!(index(), before);
    repository.git(&["status"]);
    assert_ne!(index(), before, "this test would notice");
}

#[test]
fn where_there_is_no_repository_nothing_changed() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), "").unwrap();
    let nowhere = Git::on_path(OsStr::new("/nonexistent"));
    assert_eq!(
        nowhere.changes_since(dir.path(), None, TEST_TIMEOUT).unwrap(),
        Vec::<String>::new()
    );
}

#[test]
fn a_base_that_is_none_is_refused() {
    let (repository, _) = Repository::with_commit();
    let ask = |base: &str| {
        let asked = Git::default().changes_since(repository.dir.path(), Some(base), TEST_TIMEOUT);
        asked.unwrap_err().to_string()
    };
    assert_eq!(ask("--output=x"), "`--output=x` is not the hash of a commit");
    assert_eq!(ask("HEAD"), "`HEAD` is not the hash of a commit");
    assert!(ask(&"0".repeat(40)).starts_with("git failed: "), "{}", ask(&"0".repeat(40)));
}

#[test]
fn a_worktree_is_asked_about_itself() {
    let (repository, base) = Repository::with_commit();
    repository.write("a.txt", "changed in the main one");
    repository.git(&["worktree", "add", "-q", ".adjutant/worktrees/w", &base]);
    let tree = repository.path(".adjutant/worktrees/w");
    fs::write(tree.join("mine.txt"), "x").unwrap();
    let changes = Git::default().changes_since(&tree, Some(&base), TEST_TIMEOUT).unwrap();
    assert_eq!(changes, ["added mine.txt"]);
}
