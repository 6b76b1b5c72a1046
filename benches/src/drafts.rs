//! Time from the request for an agent to its first output, beside plain fork and exec.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::Scale;
use crate::crew::{self, Crew, ECHO, SPEAKS};
use crate::program;
use crate::report::say;

/// So many start agents at once where it is to be fast.
pub(crate) const CLIENTS: usize = 16;
/// How often it is looked whether there is output.
const POLL_INTERVAL: Duration = Duration::from_micros(50);
/// An agent that says nothing for so long is stuck.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Times of one thing, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Percentiles {
    /// Half of them are no longer
    pub(crate) p50: f64,
    /// All but a hundredth are no longer
    pub(crate) p99: f64,
    /// None is longer
    pub(crate) max: f64,
}

impl Percentiles {
    /// Of these times.
    pub(crate) fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let at = |hundredths: usize| {
            let index = (times.len() * hundredths / 100).min(times.len().saturating_sub(1));
            times.get(index).copied().unwrap_or(f64::NAN)
        };
        Self { p50: at(50), p99: at(99), max: at(100) }
    }
}

/// What starting costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DraftingCost {
    /// To the first output of the bare program, one after the other
    pub(crate) plain: Percentiles,
    /// From the request for an agent to its first output on disk, one after the other
    pub(crate) first: Percentiles,
    /// From the request for an agent to its result, one after the other
    pub(crate) whole: Percentiles,
    /// Bare programs started and ended a second, by several at once
    pub(crate) plain_rate: f64,
    /// Agents that said their first word, a second
    pub(crate) rate: f64,
    /// Agents started, ended and recorded a second
    pub(crate) whole_rate: f64,
}

/// Measures both, in turns.
pub(crate) async fn measure(crew: &Crew, scale: &Scale) -> Result<DraftingCost> {
    say("starting agents one after the other, beside plain fork and exec");
    let (mut plain, mut first, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    let mut client = crew.client().await?;
    // The first of each warms up.
    for round in 0..=scale.drafts {
        let took = tokio::task::spawn_blocking(|| program::plain(&ECHO)).await??;
        let began = Instant::now();
        let agent = crew::start(&mut client, SPEAKS).await?;
        let file = crew.file(&agent, "output.jsonl");
        let seen = tokio::task::spawn_blocking(move || spoken(&file)).await??;
        crew::over(&mut client, &agent).await?;
        if round > 0 {
            plain.push(millis(took));
            first.push(millis(seen.duration_since(began)));
            whole.push(millis(began.elapsed()));
        }
    }
    say("starting many agents at once");
    let plain_rate = plain_rate(scale.many).await?;
    let (rate, whole_rate) = rates(crew, scale.many).await?;
    let (plain, first, whole) =
        (Percentiles::of(plain), Percentiles::of(first), Percentiles::of(whole));
    Ok(DraftingCost { plain, first, whole, plain_rate, rate, whole_rate })
}

/// Waits until there is output, and says when it was.
fn spoken(file: &PathBuf) -> Result<Instant> {
    let began = Instant::now();
    while !std::fs::metadata(file).is_ok_and(|is| is.len() > 0) {
        ensure!(began.elapsed() < TIMEOUT, "the agent says nothing");
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(Instant::now())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn per_second(count: usize, seconds: f64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / seconds
}

/// How many bare programs a second.
async fn plain_rate(count: usize) -> Result<f64> {
    let left = Arc::new(AtomicUsize::new(count));
    let mut threads = JoinSet::new();
    let began = Instant::now();
    for _ in 0..CLIENTS {
        let left = Arc::clone(&left);
        threads.spawn_blocking(move || {
            while take(&left) {
                program::plain(&ECHO)?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = threads.join_next().await {
        done.context("a thread panicked")??;
    }
    Ok(per_second(count, began.elapsed().as_secs_f64()))
}

fn take(left: &AtomicUsize) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

/// How many agents a second: first words, and whole lives.
async fn rates(crew: &Crew, count: usize) -> Result<(f64, f64)> {
    let left = Arc::new(AtomicUsize::new(count));
    let mut clients = JoinSet::new();
    let (began, at) = (Instant::now(), program::now());
    for _ in 0..CLIENTS {
        let (mut client, left) = (crew.client().await?, Arc::clone(&left));
        clients.spawn(async move {
            let mut agents = Vec::new();
            while take(&left) {
                agents.push(crew::start(&mut client, SPEAKS).await?);
            }
            for agent in &agents {
                crew::over(&mut client, agent).await?;
            }
            anyhow::Ok(agents)
        });
    }
    let mut agents = Vec::new();
    while let Some(done) = clients.join_next().await {
        agents.extend(done.context("a client panicked")??);
    }
    let whole = began.elapsed().as_secs_f64();
    let mut last = at;
    for agent in agents {
        let text = std::fs::read_to_string(crew.file(&agent, "output.jsonl"));
        let text = text.context("an agent without output")?;
        let line: Value =
            serde_json::from_str(text.lines().next().unwrap_or_default()).context("no line")?;
        last = last.max(line["at"].as_f64().context("a line without a time")?);
    }
    Ok((per_second(count, (last - at) / 1000.0), per_second(count, whole)))
}
