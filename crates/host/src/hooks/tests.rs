//! Real repositories, worktrees and hooks.

use std::time::Duration;

use super::*;
use crate::process::{self, Exit, Launch, Output};

const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A folder with an odd name, for everything that must be quoted.
struct Stage {
    dir: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        Self { dir: tempfile::Builder::new().prefix("it's \"odd\" $HOME ").tempdir().unwrap() }
    }

    /// One with a repository `main` that has a commit.
    fn with_repository() -> Self {
        let stage = Self::new();
        fs::create_dir(stage.path("main")).unwrap();
        stage.git("main", &["init", "-q", "-b", "main"]);
        stage.commit("main", "a.txt");
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut all: Vec<(OsString, OsString)> = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            // As in a program that git itself has started.
            ("GIT_DIR", "/nowhere"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        all.push(("GIT_CONFIG_GLOBAL".into(), self.path("global").into()));
        all
    }

    fn try_git(&self, place: &str, arguments: &[&str]) -> Output {
        let user = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
        let environment = self.environment();
        let launch = Launch {
            program: "git".into(),
            arguments: user.iter().chain(arguments).map(OsString::from).collect(),
            environment: environment.into_iter().filter(|(name, _)| name != "GIT_DIR").collect(),
            directory: self.path(place),
        };
        process::run(&launch, TEST_TIMEOUT).unwrap()
    }

    fn git(&self, place: &str, arguments: &[&str]) -> String {
        let output = self.try_git(place, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.exit.is_success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    fn commit(&self, place: &str, file: &str) {
        fs::write(self.path(place).join(file), file).unwrap();
        self.git(place, &["add", file]);
        self.git(place, &["commit", "-q", "-m", file]);
    }

    fn worktree(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        self.git("main", &["worktree", "add", "-q", path.to_str().unwrap()]);
        path
    }

    fn script(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{text}")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A guard that ends with this code and says what it was asked, and by which it is asked.
    fn guarded(&self, worktree: &Path, code: i32) {
        let guard = format!("echo \"$@\" >> \"$(dirname \"$0\")/asked\"; exit {code}\n");
        let guard = self.script("guard's", &guard);
        let folder = self.path("the hooks");
        let original = original(worktree, &folder, &self.environment()).unwrap();
        install(&folder, &guard, original.as_deref()).unwrap();
        self.enable(worktree).unwrap();
    }

    fn enable(&self, worktree: &Path) -> Result<(), HooksError> {
        enable(worktree, &self.path("the hooks"), &self.environment())
    }

    fn asked(&self) -> usize {
        fs::read_to_string(self.path("asked")).unwrap_or_default().lines().count()
    }
}

#[test]
fn only_a_clear_no_stops_a_commit() {
    let stage = Stage::with_repository();
    let tree = stage.worktree("w");
    for (code, stops) in [(1, true), (0, false), (70, false), (2, false)] {
        stage.guarded(&tree, code);
        fs::write(tree.join("f"), code.to_string()).unwrap();
        stage.git("w", &["add", "f"]);
        let output = stage.try_git("w", &["commit", "-q", "-m", "f"]);
        assert_eq!(output.exit.is_success(), !stops, "{code}: {output:?}");
    }
    assert_eq!(stage.asked(), 4);
    assert_eq!(fs::read_to_string(stage.path("asked")).unwrap(), "guard\n".repeat(4));
    fs::remove_file(stage.path("guard's")).unwrap();
    stage.commit("w", "without-a-guard");
}

#[test]
fn every_hook_of_the_repository_runs_as_before() {
    let stage = Stage::with_repository();
    let tree = stage.worktree("w");
    let trace = stage.path("trace");
    for name in HOOK_NAMES {
        let tell = "echo \"$(basename \"$0\") $# $(pwd) $(cat)\" >> ../trace\n";
        stage.script(&format!("main/.git/hooks/{name}"), tell);
    }
    stage.guarded(&tree, 0);
    stage.git("main", &["init", "-q", "--bare", "../remote"]);
    stage.git("w", &["remote", "add", "origin", "../remote"]);
    stage.commit("w", "b.txt");
    stage.git("w", &["push", "-q", "origin", "w"]);
    stage.git("w", &["commit", "-q", "--amend", "-m", "again"]);
    stage.git("w", &["checkout", "-q", "-b", "side", "HEAD~1"]);
    stage.commit("w", "c.txt");
    stage.git("w", &["merge", "-q", "--no-edit", "w"]);
    stage.git("w", &["rebase", "-q", "main"]);
    let told = fs::read_to_string(&trace).unwrap();
    for name in [
        "pre-commit 0",
        "prepare-commit-msg 2",
        "commit-msg 1",
        "post-commit 0",
        "pre-push 2",
        "post-rewrite 1",
        "post-checkout 3",
        "pre-merge-commit 0",
        "post-merge 1",
        "pre-rebase 1",
        "reference-transaction 1",
        "post-index-change 2",
    ] {
        assert!(told.contains(&format!("{name} ")), "{name}: {told}");
    }
    let push = told.lines().find(|line| line.starts_with("pre-push")).unwrap();
    assert!(push.contains("refs/heads/w"), "what it reads is passed on: {push}");
    assert!(push.contains(tree.to_str().unwrap()), "it runs where it did: {push}");
    // What such a hook refuses is refused.
    stage.script("main/.git/hooks/commit-msg", "exit 3\n");
    let output = stage.try_git("w", &["commit", "-q", "--allow-empty", "-m", "x"]);
    assert_eq!(output.exit, Exit::Code(1));
    fs::set_permissions(
        stage.path("main/.git/hooks/commit-msg"),
        fs::Permissions::from_mode(0o644),
    )
    .unwrap();
    stage.git("w", &["commit", "-q", "--allow-empty", "-m", "one that cannot run is passed over"]);
}

#[test]
fn a_folder_of_hooks_that_was_set_before_is_the_one_passed_on_to() {
    let stage = Stage::with_repository();
    let folder = stage.path("the hooks");
    let first = stage.worktree("first");
    let ask = |tree: &Path| original(tree, &folder, &stage.environment()).unwrap();
    assert_eq!(ask(&first), None);
    // A user's own, for all repositories.
    stage.git("main", &["config", "--file", "../global", "core.hooksPath", "~/mine"]);
    let error = original(&first, &folder, &stage.environment());
    assert_eq!(error.unwrap(), None, "a home that nobody knows is no folder");
    stage.git("main", &["config", "--file", "../global", "core.hooksPath", "/mine"]);
    assert_eq!(ask(&first), Some("/mine".into()));
    // The repository's own wins; it counts from the top of each worktree.
    stage.git("main", &["config", "core.hooksPath", "tools/hooks"]);
    assert_eq!(ask(&first), Some("tools/hooks".into()));
    stage.guarded(&first, 0);
    assert_eq!(ask(&first), Some("tools/hooks".into()), "ours is not our own original");
    stage.script("first/tools/hooks/pre-commit", "echo no >&2; exit 1\n");
    stage.git("first", &["add", "tools"]);
    let output = stage.try_git("first", &["commit", "-q", "-m", "x"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "no\n");
    assert_eq!(stage.asked(), 1, "ours is asked first");
    install(&folder, Path::new("/x"), Some(&folder)).unwrap();
    let text = fs::read_to_string(folder.join("pre-push")).unwrap();
    assert!(text.contains("--git-common-dir"), "it never runs itself: {text}");
}

#[test]
fn only_the_one_worktree_is_changed() {
    let stage = Stage::with_repository();
    let (first, _second) = (stage.worktree("first"), stage.worktree("second"));
    stage.guarded(&first, 1);
    stage.guarded(&first, 1);
    for place in ["main", "second"] {
        let output = stage.try_git(place, &["config", "core.hooksPath"]);
        assert_eq!(output.exit, Exit::Code(1), "{place} has none");
        stage.commit(place, "free");
    }
    let folder = stage.path("the hooks");
    assert_eq!(stage.git("first", &["config", "core.hooksPath"]), folder.to_str().unwrap());
    let later = stage.worktree("later");
    stage.commit("later", "also-free");
    stage.guarded(&later, 1);
    assert_eq!(stage.git("later", &["config", "core.hooksPath"]), folder.to_str().unwrap());
    stage.git("main", &["worktree", "remove", "-f", first.to_str().unwrap()]);
    let modes = fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().permissions().mode() & 0o777);
    assert_eq!(
        modes.collect::<Vec<_>>(),
        [0o755; HOOK_NAMES.len()],
        "whole, and nothing beside them"
    );
}

#[test]
fn a_bare_repository_stays_bare_and_its_worktrees_do_not_become_so() {
    let stage = Stage::with_repository();
    stage.git("main", &["clone", "-q", "--bare", ".", "../bare"]);
    let tree = stage.path("w");
    let path = tree.to_str().unwrap();
    stage.git("bare", &["worktree", "add", "-q", path, "main"]);
    stage.guarded(&tree, 0);
    let is_bare = |place| stage.git(place, &["rev-parse", "--is-bare-repository"]);
    assert_eq!((is_bare("bare").as_str(), is_bare("w").as_str()), ("true", "false"));
    stage.commit("w", "b.txt");
    assert_eq!(stage.asked(), 1);
    // A server that was killed in the middle left the setting in both places.
    stage.git("bare", &["config", "--file", "config", "core.bare", "true"]);
    stage.enable(&tree).unwrap();
    assert_eq!((is_bare("bare").as_str(), is_bare("w").as_str()), ("true", "false"));
}

#[test]
fn a_main_worktree_elsewhere_stays_there() {
    let stage = Stage::with_repository();
    fs::create_dir(stage.path("elsewhere")).unwrap();
    let top = stage.path("elsewhere");
    stage.git("main", &["config", "core.worktree", top.to_str().unwrap()]);
    let tree = stage.worktree("w");
    stage.guarded(&tree, 0);
    assert_eq!(stage.git("main/.git", &["rev-parse", "--show-toplevel"]), top.to_str().unwrap());
    assert_eq!(stage.git("w", &["rev-parse", "--show-toplevel"]), tree.to_str().unwrap());
    stage.commit("w", "b.txt");
}

#[test]
fn what_is_not_safe_is_refused_and_nothing_is_changed() {
    let stage = Stage::with_repository();
    let tree = stage.worktree("w");
    let main = stage.path("main");
    let config = || fs::read_to_string(main.join(".git/config")).unwrap();
    let refused = |place: &Path| {
        let before = config();
        let error = stage.enable(place).unwrap_err();
        assert_eq!(config(), before);
        assert!(!main.join(".git/worktrees/w/config.worktree").exists());
        error
    };
    assert!(matches!(refused(&main), HooksError::NotALinkedWorktree(_)));
    assert!(matches!(refused(stage.dir.path()), HooksError::NotALinkedWorktree(_)));
    let relative = enable(&tree, Path::new("hooks"), &stage.environment()).unwrap_err();
    assert!(matches!(relative, HooksError::Relative(_)));
    let unused = main.join(".git/config.worktree");
    fs::write(&unused, "[core]\n\tsparseCheckout = true\n").unwrap();
    assert!(matches!(refused(&tree), HooksError::Unused(_)));
    fs::remove_file(&unused).unwrap();
    let extra = stage.path("extra");
    fs::write(&extra, "[core]\n\tworktree = /somewhere\n").unwrap();
    stage.git("main", &["config", "include.path", extra.to_str().unwrap()]);
    assert!(matches!(refused(&tree), HooksError::Included { key: "core.worktree", .. }));
    assert!(!unused.exists());
    fs::write(&extra, "").unwrap();
    stage.enable(&tree).unwrap();
}

#[test]
fn a_submodule_is_refused() {
    let stage = Stage::with_repository();
    fs::create_dir(stage.path("super")).unwrap();
    stage.git("super", &["init", "-q"]);
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", "../main", "sub"];
    stage.git("super", &add);
    let path = stage.path("w");
    stage.git("super/sub", &["worktree", "add", "-q", path.to_str().unwrap()]);
    assert!(matches!(stage.enable(&path).unwrap_err(), HooksError::Submodule(_)));
    stage.git("super/sub", &["status"]);
    stage.git("w", &["status"]);
}

#[test]
fn many_worktrees_are_changed_at_once() {
    let stage = Stage::with_repository();
    let trees: Vec<PathBuf> = (0..8).map(|n| stage.worktree(&format!("w{n}"))).collect();
    std::thread::scope(|scope| {
        for tree in &trees {
            scope.spawn(|| stage.guarded(tree, 0));
        }
    });
    let folder = stage.path("the hooks");
    for n in 0..8 {
        let set = stage.git(&format!("w{n}"), &["config", "core.hooksPath"]);
        assert_eq!(set, folder.to_str().unwrap());
    }
}
