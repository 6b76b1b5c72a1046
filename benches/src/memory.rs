//! How much memory a process holds, and how much time it has used.

use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::time::{Instant, sleep};

/// Linux counts the time of processes in hundredths of a second, on every machine that matters here.
const SECONDS_PER_TICK: f64 = 0.01;

/// The resident memory of a process in megabytes, once it has come to rest.
pub(crate) async fn of(pid: u32) -> Result<f64> {
    sleep(Duration::from_secs(1)).await;
    resident(pid)
}

/// The resident memory of a process in megabytes, with all that it shares with others.
pub(crate) fn resident(pid: u32) -> Result<f64> {
    field(pid, "status", "VmRSS:")
}

/// The memory of a process in megabytes, where what is shared is counted once among all who share it.
pub(crate) fn proportional(pid: u32) -> Result<f64> {
    field(pid, "smaps_rollup", "Pss:")
}

fn field(pid: u32, file: &str, name: &str) -> Result<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/{file}"))
        .context("only Linux says how much memory a process holds")?;
    let kilobytes = text
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kilobytes.with_context(|| format!("no {name}"))? * 1024.0 / 1e6)
}

/// How much of one core a process uses over that time, in hundredths.
pub(crate) async fn load(pid: u32, time: Duration) -> Result<f64> {
    let (before, began) = (seconds(pid)?, Instant::now());
    sleep(time).await;
    Ok((seconds(pid)? - before) / began.elapsed().as_secs_f64() * 100.0)
}

/// The processor time that a process has used, in seconds.
pub(crate) fn seconds(pid: u32) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).context("no such process")?;
    // What follows the name, which may itself hold brackets and spaces.
    let rest = stat.rsplit_once(')').context("no name")?.1;
    let ticks = rest.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    Ok(ticks.sum::<Result<f64, _>>().context("no times")? * SECONDS_PER_TICK)
}
