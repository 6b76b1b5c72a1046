//! A project that is a repository, with somebody who runs outbox jobs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::OutboxRunner;
use host::process::{Launch, run};
use model::AgentId;
use model::review::WorktreeState;
use store::NewWorktree;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::World;

/// Plain git, which must do what it is told.
pub(crate) fn git(dir: &Path, arguments: &[&str]) -> String {
    let settings = ["-c", "user.name=Crew", "-c", "user.email=crew@localhost"];
    let arguments = [&settings, arguments].concat();
    let environment = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
    ];
    let launch = Launch {
        program: "git".into(),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: environment.map(|(name, value)| (name.into(), value.into())).into(),
        directory: dir.to_owned(),
    };
    let output = run(&launch, Duration::from_secs(60)).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.exit.is_success(), "git {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// Writes a file and commits it, and gives the commit.
pub(crate) fn commit(dir: &Path, file: &str, text: &str, message: &str) -> String {
    fs::write(dir.join(file), text).unwrap();
    git(dir, &["add", file]);
    git(dir, &["commit", "-q", "-m", message]);
    git(dir, &["rev-parse", "HEAD"])
}

/// A world whose project is a repository, and somebody who runs outbox jobs. What a file of tests needs beside that,
/// it adds itself.
pub(crate) struct Project {
    pub(crate) world: World,
    pub(crate) root: PathBuf,
    /// The first commit
    pub(crate) first: String,
    _runner: DropGuard,
}

impl Project {
    /// A project whose first commit has these lines in `lines.txt`.
    pub(crate) fn with(lines: &str) -> Self {
        Self::of(World::new(), lines)
    }

    /// The same, where commits to files that others have reserved are refused.
    pub(crate) fn guarded(lines: &str) -> Self {
        let mut settings = World::settings();
        settings.worktrees.guard = true;
        Self::of(World::with(settings), lines)
    }

    fn of(world: World, lines: &str) -> Self {
        let root = world.engine.project().to_owned();
        git(&root, &["init", "-q", "-b", "main"]);
        let first = commit(&root, "lines.txt", lines, "Begin");
        let (tasks, shutdown) = (TaskTracker::new(), CancellationToken::new());
        let runner = OutboxRunner::new(&world.engine, tasks.clone(), shutdown.clone());
        tasks.spawn(runner.run());
        Self { world, root, first, _runner: shutdown.drop_guard() }
    }

    /// Gives an agent a worktree of its own, which is meant for `target`.
    pub(crate) async fn worktree(&self, agent: AgentId, target: Option<&str>) -> PathBuf {
        let path = self.root.join(".adjutant/worktrees").join(agent.to_string());
        let (text, branch) = (path.display().to_string(), format!("adjutant/{agent}"));
        git(&self.root, &["worktree", "add", "-q", "-b", &branch, &text, "main"]);
        let base = git(&self.root, &["rev-parse", "main"]);
        let target = target.map(str::to_owned);
        let new = NewWorktree { agent, path: text.clone(), branch, base, target };
        let now = self.world.engine.now();
        let write = move |tx: &mut store::Tx<'_>| {
            tx.worktree_insert(&new, now)?;
            tx.worktree_set(agent, WorktreeState::There)?;
            tx.agent_set_cwd(agent, &text)
        };
        self.world.store.write(write).await.unwrap();
        path
    }
}
