//! How long it takes until an agent has a worktree of its own when many begin at once, beside git alone.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use model::Timestamp;
use model::event::EventKind;
use store::{Event, EventFilter, Store};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::crew::{self, Crew, LEAVES, SPEAKS, STAYS};
use crate::drafts::Percentiles;
use crate::program::{self, Program};
use crate::report::say;
use crate::subject::state_of;

/// So many begin at once.
pub(crate) const WORKTREES_AT_ONCE: usize = 40;
/// Tries of git for each: of many at once, one falls over the half-made worktree of another, each time.
const GIT_RUNS: usize = WORKTREES_AT_ONCE;
/// So many files are in the repository.
const FILES: usize = 200;
/// So many packages are in the linked folder.
const PACKAGES: usize = 200;
/// So many worktrees are removed by one command.
pub(crate) const WORKTREES_REMOVED: usize = 171;
/// What each worktree is given: a set-up that finds the link, a copy and the link.
const PROVISION: [(&str, &str); 3] = [
    ("worktrees.setup", "test -d node_modules/package-0"),
    ("worktrees.copy", "[.env]"),
    ("worktrees.link", "[node_modules]"),
];

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
    /// The same where each gets a set-up, a copy and a link
    pub(crate) ready: Percentiles,
    /// Seconds from the first turn until the last of them is ready
    pub(crate) all_ready_s: f64,
    /// Seconds of removing many with changes by one command
    pub(crate) removal_s: f64,
}

/// When one worktree was made, in milliseconds.
#[derive(Debug, Clone, Copy)]
struct WorktreeTimes {
    turn: Timestamp,
    there: Timestamp,
}

impl WorktreeTimes {
    fn millis(self) -> f64 {
        f64::from(i32::try_from(self.there.millis_since(self.turn)).unwrap_or(i32::MAX))
    }
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
    let made = recorded(&state_of(&project).join("state.db"))?;
    let mut alone: Vec<f64> = made.into_iter().map(WorktreeTimes::millis).collect();
    let ours = alone.split_off(SINGLE_RUNS.min(alone.len()));
    crew.subject().stop().await?;
    let ready = ready(file).await?;
    let removal_s = removal(file).await?;
    let ended = |made: &WorktreeTimes| made.there;
    let (first, last) = (ready.iter().map(|made| made.turn).min(), ready.iter().map(ended).max());
    let (first, last) = first.zip(last).context("no worktree was made ready")?;
    Ok(WorktreeCost {
        plain_alone: Percentiles::of(plain_alone),
        alone: Percentiles::of(alone),
        plain: Percentiles::of(plain),
        ours: Percentiles::of(ours),
        ready: Percentiles::of(ready.into_iter().map(WorktreeTimes::millis).collect()),
        all_ready_s: WorktreeTimes { turn: first, there: last }.millis() / 1000.0,
        removal_s,
    })
}

/// Worktrees that are all made at once, each with a set-up, a copy and a link.
async fn ready(file: &Path) -> Result<Vec<WorktreeTimes>> {
    say("making as many that are set up, with copies and links");
    let crew = Crew::start(file, 64).await?;
    let project = crew.subject().project().to_owned();
    repository(&project)?;
    std::fs::write(project.join(".git/info/exclude"), ".env\nnode_modules\n")?;
    std::fs::write(project.join(".env"), "KEY=1\n")?;
    for number in 0..PACKAGES {
        let package = project.join(format!("node_modules/package-{number}"));
        std::fs::create_dir_all(&package)?;
        std::fs::write(package.join("index.js"), "module.exports = 1;\n")?;
    }
    for (key, value) in PROVISION {
        crew.subject().program().output(&["config", "set", key, value])?;
    }
    crew.subject().program().output(&["reload"])?;
    let mut client = crew.client().await?;
    let mut agents = Vec::new();
    for _ in 0..WORKTREES_AT_ONCE {
        agents.push(crew::start(&mut client, STAYS).await?);
    }
    for agent in &agents {
        crew::over(&mut client, agent).await?;
    }
    let made = recorded(&state_of(&project).join("state.db"))?;
    ensure!(made.len() == WORKTREES_AT_ONCE, "{} worktrees were made", made.len());
    crew.subject().stop().await?;
    Ok(made)
}

/// Seconds of removing worktrees in which ended agents have left changes.
async fn removal(file: &Path) -> Result<f64> {
    say("removing many worktrees with changes");
    let crew = Crew::start(file, 64).await?;
    repository(crew.subject().project())?;
    let mut client = crew.client().await?;
    let mut agents = Vec::new();
    for _ in 0..WORKTREES_REMOVED {
        agents.push(crew::start(&mut client, LEAVES).await?);
    }
    for agent in &agents {
        client.call(&crew::wait(agent)).await?;
    }
    let program = crew.subject().program();
    let began = Instant::now();
    let answer = program.output(&["worktrees", "prune", "--ended", "--json"])?;
    let took = began.elapsed().as_secs_f64();
    let answer: serde_json::Value = serde_json::from_str(&answer).context("worktrees prune")?;
    let pruned = answer["pruned"].as_array().context("worktrees prune")?;
    let done = pruned.iter().filter(|one| one["done"] == true && one["rescued"].is_string());
    ensure!(done.count() == WORKTREES_REMOVED, "not all are gone: {answer}");
    crew.subject().stop().await?;
    Ok(took)
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
fn recorded(database: &Path) -> Result<Vec<WorktreeTimes>> {
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
        times.push(WorktreeTimes { turn: turn.at, there: event.at });
    }
    Ok(times)
}
