//! How much memory a process holds.

use std::time::Duration;

use anyhow::{Context as _, Result};

/// The resident memory of a process in megabytes, once it has come to rest.
pub(crate) async fn of(pid: u32) -> Result<f64> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))
        .context("only Linux says how much memory a process holds")?;
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kilobytes.context("no VmRSS")? * 1024.0 / 1e6)
}
