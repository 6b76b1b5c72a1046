//! How long it takes until an agent has a worktree of its own when many begin at once, beside git alone.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use model::event::EventKind;
use store::{Event, EventFilter, Store};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::crew::{self, Crew, SPEAKS, STAYS};
use crate::drafts::Percentiles;
use crate::program::{self, Program};
use crate::report::say;
use crate::subject::state_of;

/// So many begin at once.
pub(crate) const WORKTREES_AT_ONCE: usize = 40;
/// Git is asked so often for each.
const GIT_RUNS: u32 = 5;
/// So many files are in the repository.
const FILES: usize = 200;

/// So many begin one after the other.
const SINGLE_RUNS: usize = 20;

/// What a worktree costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorktreeCost {
    /// `git worktree add`, one after the other
    pub(crate) plain_alone: Percentiles,
    /// From an agent's turn to its worktree being on record, one after the other
    pub(crate) alone: Percentiles,
    /// `git worktree add`, all at once
    pub(crate) plain: Percentiles,
    /// From an agent's turn to its worktree being on record, all at once
    pub(crate) ours: Percentiles,
}

/// Measures both, one after the other, in repositories that are alike.
pub(crate) async fn measure(file: &Path) -> Result<WorktreeCost> {
    say("making many worktrees at once, beside git alone");
    let crew = Crew::start(file, 64).await?;
    let project = crew.subject().project().to_owned();
    let beside = tempfile::tempdir()?;
    for folder in [project.as_path(), beside.path()] {
        repository(folder)?;
    }
    let mut client = crew.client().await?;
    let mut plain_alone = Vec::new();
    for number in 0..SINGLE_RUNS {
        plain_alone.push(add(&git(beside.path()), &format!("alone-{number}"))?);
        let agent = crew::start(&mut client, SPEAKS).await?;
        crew::over(&mut client, &agent).await?;
    }
    let plain = plain(beside.path()).await?;
    let mut agents = Vec::new();
    for _ in 0..WORKTREES_AT_ONCE {
        // Nobody ends while others begin: what comes after an end is not what is measured.
        agents.push(crew::start(&mut client, STAYS).await?);
    }
    for agent in &agents {
        crew::over(&mut client, agent).await?;
    }
    let mut alone = recorded(&state_of(&project).join("state.db"))?;
    let ours = alone.split_off(SINGLE_RUNS.min(alone.len()));
    crew.subject().stop().await?;
    Ok(WorktreeCost {
        plain_alone: Percentiles::of(plain_alone),
        alone: Percentiles::of(alone),
        plain: Percentiles::of(plain),
        ours: Percentiles::of(ours),
    })
}

fn git(folder: &Path) -> Program {
    let environment = program::surroundings();
    Program { file: PathBuf::from("git"), folder: folder.to_owned(), environment }
}

fn repository(folder: &Path) -> Result<()> {
    std::fs::write(folder.join(".gitignore"), ".adjutant\ngate\n")?;
    for number in 0..FILES {
        std::fs::write(
            folder.join(format!("file-{number}.txt")),
            format!("{number}\n").repeat(200),
        )?;
    }
    let git = git(folder);
    git.output(&["init", "-q", "-b", "main"])?;
    git.output(&["add", "-A"])?;
    let who = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost"];
    git.output(&[&who[..], &["commit", "-q", "-m", "Begin"]].concat())?;
    Ok(())
}

/// One worktree by git alone, and how long it took.
fn add(git: &Program, name: &str) -> Result<f64> {
    let began = Instant::now();
    let path = format!("trees/{name}");
    let add = ["worktree", "add", "-q", "-B", name, "-f", &path, "HEAD"];
    // Of many at once git lets one or the other fall over another's half-made worktree.
    for _ in 1..GIT_RUNS {
        if git.output(&add).is_ok() {
            return Ok(began.elapsed().as_secs_f64() * 1000.0);
        }
    }
    git.output(&add)?;
    Ok(began.elapsed().as_secs_f64() * 1000.0)
}

/// Git alone, all at once.
async fn plain(folder: &Path) -> Result<Vec<f64>> {
    let mut threads = JoinSet::new();
    for number in 0..WORKTREES_AT_ONCE {
        let (git, name) = (git(folder), format!("wt-{number}"));
        threads.spawn_blocking(move || add(&git, &name));
    }
    let mut times = Vec::new();
    while let Some(done) = threads.join_next().await {
        times.push(done.context("a thread panicked")??);
    }
    Ok(times)
}

/// From each agent's turn to its worktree, as the record has it.
fn recorded(database: &Path) -> Result<Vec<f64>> {
    let store = Store::open(database)?;
    let filter = EventFilter { after: 0, kind: None };
    let events: Vec<Event> = store.read(|tx| tx.event_list(&filter, 5_000))?;
    let there = events
        .iter()
        .filter(|event| event.kind == EventKind::WorktreeChanged && event.data["state"] == "there");
    let mut times = Vec::new();
    for event in there {
        let turn = events.iter().find(|turn| {
            turn.agent == event.agent
                && turn.kind == EventKind::AgentStateChanged
                && turn.data["state"] == "starting"
        });
        let turn = turn.context("a worktree before its agent's turn")?;
        let millis = event.at.millis_since(turn.at);
        times.push(f64::from(i32::try_from(millis).unwrap_or(i32::MAX)));
    }
    Ok(times)
}
