//! `make bench`: the real server under load, beside what could at most be had.
//!
//! The baselines (a bare axum and a bare rmcp that echo) and the server are processes of their own, measured in
//! the same run by the same clients. Figures are for the machine they were taken on; ratios travel better.

mod agents;
mod cells;
mod client;
mod crew;
mod drafts;
mod echo;
mod fill;
mod goals;
mod homes;
mod ledger;
mod load;
mod memory;
mod program;
mod report;
mod rest;
mod simulate;
mod start;
mod subject;
mod waits;
mod watch;
mod wire;
mod worktrees;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Parser, ValueEnum};

use crate::cells::{Figure, Target};
use crate::echo::Echo;
use crate::fill::StoreContent;
use crate::goals::{Calls, Figures};
use crate::subject::ServerUnderTest;

/// Measure Adjutant beside a bare axum and a bare rmcp
#[derive(Debug, Parser)]
#[command(name = "bench")]
struct Options {
    /// A smoke run: short, with a small store
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    only: SelectedParts,
    /// How long each figure is measured
    #[arg(long, value_name = "N", default_value_t = 3)]
    seconds: u64,
    /// The program to measure (default: the one beside this one)
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Simulate many homes on many servers from measured figures, and print the block of `docs/explanation/scale.md`
    #[arg(long, conflicts_with_all = ["quick", "calls", "agents", "worktrees", "events", "ledger"])]
    simulate: bool,
    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = simulate::SEED, requires = "simulate")]
    seed: u64,
    /// Be an echo server instead; the bench starts itself so
    #[arg(long, hide = true, value_enum)]
    echo: Option<Echo>,
}

/// What alone is measured.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
struct SelectedParts {
    /// Only calls on an empty store, memory and starts: programs of older versions read no store that is filled here
    #[arg(long)]
    calls: bool,
    /// Only agents that run, beside plain fork and exec
    #[arg(long)]
    agents: bool,
    /// Only their worktrees, beside git alone
    #[arg(long)]
    worktrees: bool,
    /// Only those who watch while much happens
    #[arg(long)]
    events: bool,
    /// Only a store whose log is in PostgreSQL, beside SQLite alone (it starts servers of its own)
    #[arg(long)]
    ledger: bool,
}

/// How much is measured.
#[derive(Debug, Clone)]
pub(crate) struct Scale {
    /// How many clients at once, one after the other
    pub(crate) clients: Vec<usize>,
    /// How long each figure is measured
    pub(crate) time: Duration,
    /// How many calls before the memory is looked at again
    pub(crate) calls: u64,
    /// What the full store has in it
    pub(crate) filling: StoreContent,
    /// How often a start is repeated
    pub(crate) starts: usize,
    /// How many agents are started one after the other
    pub(crate) drafts: usize,
    /// How many agents are started at once
    pub(crate) many: usize,
    /// How many agents rest
    pub(crate) resting: usize,
    /// How long they are looked at
    pub(crate) rest: Duration,
    /// How long is waited for them
    pub(crate) wait: Duration,
    /// How long it is watched what happens
    pub(crate) watch: Duration,
}

impl Scale {
    fn of(options: &Options) -> Self {
        if options.quick {
            Self {
                clients: vec![1, 16],
                time: Duration::from_millis(300),
                calls: 2_000,
                filling: StoreContent { tasks: 1_000, rows: 10_000 },
                starts: 3,
                drafts: 10,
                many: 100,
                resting: 25,
                rest: Duration::from_secs(1),
                wait: Duration::from_secs(2),
                watch: Duration::from_secs(5),
            }
        } else {
            Self {
                clients: vec![1, 16, 64],
                time: Duration::from_secs(options.seconds.max(1)),
                calls: 100_000,
                filling: StoreContent { tasks: 100_000, rows: 1_000_000 },
                starts: 20,
                drafts: 200,
                many: 2_000,
                resting: 500,
                rest: Duration::from_secs(10),
                wait: Duration::from_secs(60),
                watch: Duration::from_secs(60),
            }
        }
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy)]
enum MeasuredPart {
    All,
    Calls,
    Agents,
    Worktrees,
    Events,
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = Options::parse();
    if let Some(echo) = options.echo {
        return echo.serve().await;
    }
    let program = match &options.program {
        Some(program) => program.clone(),
        None => program::beside("adjutant")?,
    };
    if options.simulate {
        report::say(simulate::block(options.seed).trim_end());
        return Ok(());
    }
    if options.only.ledger {
        let scale = Scale::of(&options);
        let measured = {
            let scale = scale.clone();
            // The ledger's connection has a runtime of its own, on the thread that uses it.
            tokio::task::spawn_blocking(move || ledger::measure(&scale)).await??
        };
        let home = if program.exists() {
            Some(homes::of_program(&program, &scale).await?)
        } else {
            report::say("the program is not built: `make bench` measures a home of it, too");
            None
        };
        let measured = ledger::LedgerCost { home, ..measured };
        report::print(&Figures { ledger: Some(measured), ..Figures::default() }, &scale);
        return Ok(());
    }
    ensure!(program.exists(), "`{}` is not built: run `make bench`", program.display());
    let scale = Scale::of(&options);
    let which = match options.only {
        SelectedParts { calls: true, .. } => MeasuredPart::Calls,
        SelectedParts { agents: true, .. } => MeasuredPart::Agents,
        SelectedParts { worktrees: true, .. } => MeasuredPart::Worktrees,
        SelectedParts { events: true, .. } => MeasuredPart::Events,
        SelectedParts { .. } => MeasuredPart::All,
    };
    // Anyone who ends the bench ends the servers too: they go with what measures them.
    let figures = tokio::select! {
        figures = measure(&program, &scale, which) => figures?,
        ended = program::asked_to_stop() => return ended,
    };
    report::print(&figures, &scale);
    Ok(())
}

async fn measure(program: &Path, scale: &Scale, which: MeasuredPart) -> Result<Figures> {
    let mut figures = Figures::default();
    if matches!(which, MeasuredPart::All | MeasuredPart::Agents) {
        figures.agents = Some(agents::measure(program, scale).await?);
    }
    if matches!(which, MeasuredPart::All | MeasuredPart::Worktrees) {
        figures.worktrees = Some(worktrees::measure(program).await?);
    }
    if matches!(which, MeasuredPart::All | MeasuredPart::Events) {
        figures.watch = Some(watch::measure(program, scale).await?);
    }
    if matches!(which, MeasuredPart::All | MeasuredPart::Calls) {
        figures.calls = Some(calls(program, scale, which).await?);
    }
    Ok(figures)
}

async fn calls(program: &Path, scale: &Scale, which: MeasuredPart) -> Result<Calls> {
    let mut cells: Vec<Figure> = Vec::new();
    for echo in Echo::value_variants() {
        cells.extend(cells::of_echo(*echo, scale).await?);
    }

    report::say("starting the server on an empty store");
    let subject = ServerUnderTest::start(program, None).await?;
    let at_rest = memory::of(subject.pid()).await?;
    cells::calls(&subject, scale.calls).await?;
    let afterwards = memory::of(subject.pid()).await?;
    cells.extend(cells::of_subject(&subject, Target::Empty, scale).await?);
    let starts = start::measure(subject, scale).await?;

    if matches!(which, MeasuredPart::All) {
        report::say("starting the server on a full store");
        let subject = ServerUnderTest::start(program, Some(&scale.filling)).await?;
        cells.extend(cells::of_subject(&subject, Target::Full, scale).await?);
        subject.stop().await?;
    }
    Ok(Calls { cells, at_rest, afterwards, starts })
}
