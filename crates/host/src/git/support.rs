//! Test support: repositories made and inspected with plain git.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::Timestamp;

use super::command::USUAL_PATH;
use super::{CommitIdentity, Git, Repo};
use crate::process::{self, Launch, Output};

pub(super) const TEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Names that programs stumble over.
pub(super) const ODD_FILE_NAMES: [&str; 6] =
    ["with space", "two\nlines", "übung", "-dash", "a \"quote\"", "tab\there"];

/// A repository in a folder of its own; what is beside it is in that folder, too.
#[derive(Debug)]
pub(super) struct Repository {
    pub(super) dir: tempfile::TempDir,
    top: PathBuf,
}

impl Repository {
    pub(super) fn new() -> Self {
        Self::with(&[])
    }

    /// One that `git init` makes with more options.
    pub(super) fn with(options: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap().join("repo");
        let init = [&["init", "-q", "-b", "main"], options, &["repo"]].concat();
        plain(dir.path(), &init);
        Self { dir, top }
    }

    /// One with a commit of three files.
    pub(super) fn with_commit() -> Self {
        let repository = Self::new();
        for name in ["a.txt", "b.txt", "sub/c.txt"] {
            repository.write(name, &format!("{name}\n"));
        }
        repository.commit("first");
        repository
    }

    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// A path beside the repository.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.top.with_file_name(name)
    }

    pub(super) fn repo(&self) -> Repo {
        open(&self.top)
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        plain(&self.top, arguments)
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        write(&self.top, name, text);
    }

    /// Commits everything, and says what it is called.
    pub(super) fn commit(&self, message: &str) -> String {
        commit(&self.top, message)
    }

    /// A worktree on a branch of its own, made by us.
    pub(super) fn worktree(&self, name: &str) -> PathBuf {
        let path = self.beside(name);
        let branch = name.replace('\n', "-");
        self.repo().worktree_add(&path, &branch, "HEAD").unwrap();
        path
    }

    /// Every object that a branch, a tag or a remote's branch reaches.
    pub(super) fn reachable(&self) -> Vec<String> {
        let listed = self.git(&["rev-list", "--objects", "--branches", "--tags", "--remotes"]);
        listed.lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
    }
}

pub(super) fn open(dir: &Path) -> Repo {
    Git::default().open(dir, TEST_TIMEOUT).unwrap()
}

pub(super) fn who() -> CommitIdentity {
    let at = Timestamp::from_millis(1_750_000_000_000);
    CommitIdentity { name: "Ada".into(), email: "ada@example.com".into(), at }
}

pub(super) fn write(top: &Path, name: &str, text: &str) {
    let path = top.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A program.
pub(super) fn executable(top: &Path, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    write(top, name, text);
    fs::set_permissions(top.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// A named pipe, to which nobody writes.
pub(super) fn pipe(path: &Path) {
    let launch = Launch {
        program: "mkfifo".into(),
        arguments: vec![path.into()],
        environment: vec![("PATH".into(), USUAL_PATH.into())],
        directory: "/".into(),
    };
    assert!(process::run(&launch, TEST_TIMEOUT).unwrap().exit.is_success());
}

pub(super) fn read(top: &Path, name: &str) -> String {
    fs::read_to_string(top.join(name)).unwrap()
}

pub(super) fn commit(top: &Path, message: &str) -> String {
    plain(top, &["add", "-A"]);
    plain(top, &["commit", "-q", "--allow-empty", "-m", message]);
    head(top)
}

pub(super) fn head(top: &Path) -> String {
    plain(top, &["rev-parse", "HEAD"])
}

/// Plain git, which must be content; its answer without the last end of line.
pub(super) fn plain(dir: &Path, arguments: &[&str]) -> String {
    let output = any(dir, arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.exit.is_success(), "git {arguments:?}: {told}");
    String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
}

/// Plain git, whatever comes of it.
pub(super) fn any<S: AsRef<OsStr>>(dir: &Path, arguments: &[S]) -> Output {
    let settings = ["user.name=x", "user.email=x@example.com", "protocol.file.allow=always"];
    let mut all: Vec<OsString> = Vec::new();
    all.extend(settings.iter().flat_map(|setting| ["-c".into(), OsString::from(setting)]));
    all.extend(arguments.iter().map(|argument| argument.as_ref().to_owned()));
    let launch = Launch {
        program: "git".into(),
        arguments: all,
        environment: vec![
            ("PATH".into(), USUAL_PATH.into()),
            ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ("GIT_EDITOR".into(), "true".into()),
        ],
        directory: dir.to_owned(),
    };
    process::run(&launch, TEST_TIMEOUT).unwrap()
}

/// Everything in a folder but git's own: names and contents.
pub(super) fn files(top: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name() == Some(OsStr::new(".git")) {
                continue;
            }
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else {
                found.push((path.clone(), fs::read(&path).unwrap_or_default()));
            }
        }
    }
    found.sort();
    found
}
