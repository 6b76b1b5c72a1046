//! Clients that send the same request again and again, each on a connection of its own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::client;
use crate::wire::Template;

/// How many calls were answered, how fast.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    /// Calls a second
    pub(crate) per_second: f64,
    /// Half of them were answered within so many microseconds
    pub(crate) p50: u32,
    /// All but a hundredth were answered within so many microseconds
    pub(crate) p99: u32,
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StopCondition {
    /// After so long
    Time(Duration),
    /// After so many calls, of all clients together
    Calls(u64),
}

/// Sends the requests, one client for each, and measures.
pub(crate) async fn run(
    address: SocketAddr,
    templates: Vec<Template>,
    until: StopCondition,
) -> Result<Rate> {
    let mut connections = JoinSet::new();
    let mut clients = Vec::new();
    for template in templates {
        clients.push((client::connect(address, &mut connections).await?, template));
    }
    for (sender, template) in &mut clients {
        // The first answer is looked at: anyone who measures refusals measures nothing.
        once(sender, template, AnswerCheck::Closely).await?;
    }

    let began = Instant::now();
    let sent = Arc::new(AtomicU64::new(0));
    let mut running = JoinSet::new();
    for (sender, template) in clients {
        running.spawn(client(sender, template, until, Arc::clone(&sent)));
    }
    let mut latencies = Vec::new();
    while let Some(finished) = running.join_next().await {
        latencies.extend(finished.context("a client panicked")??);
    }
    let elapsed = began.elapsed();
    connections.shutdown().await;
    rate(latencies, elapsed)
}

fn rate(mut latencies: Vec<u32>, elapsed: Duration) -> Result<Rate> {
    latencies.sort_unstable();
    let at = |hundredths: usize| {
        let index = (latencies.len() * hundredths / 100).min(latencies.len().saturating_sub(1));
        latencies.get(index).copied().context("no call was answered in time")
    };
    let count = u32::try_from(latencies.len()).context("too many calls")?;
    Ok(Rate { per_second: f64::from(count) / elapsed.as_secs_f64(), p50: at(50)?, p99: at(99)? })
}

async fn client(
    mut sender: SendRequest<Full<Bytes>>,
    template: Template,
    until: StopCondition,
    sent: Arc<AtomicU64>,
) -> Result<Vec<u32>> {
    let began = Instant::now();
    let mut latencies = Vec::new();
    loop {
        match until {
            StopCondition::Time(time) if began.elapsed() >= time => break,
            StopCondition::Calls(count) if sent.fetch_add(1, Ordering::Relaxed) >= count => break,
            StopCondition::Time(_) | StopCondition::Calls(_) => {}
        }
        let asked = Instant::now();
        once(&mut sender, &template, AnswerCheck::Briefly).await?;
        latencies.push(u32::try_from(asked.elapsed().as_micros()).unwrap_or(u32::MAX));
    }
    Ok(latencies)
}

/// How an answer is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerCheck {
    /// Its status
    Briefly,
    /// Its text too
    Closely,
}

async fn once(
    sender: &mut SendRequest<Full<Bytes>>,
    template: &Template,
    look: AnswerCheck,
) -> Result<()> {
    let body = client::send(sender, template).await?;
    if look == AnswerCheck::Closely {
        let text = String::from_utf8_lossy(&body);
        let is_bad = [r#""isError":true"#, r#""success":false"#, r#""error":{"#]
            .iter()
            .any(|sign| text.contains(sign));
        ensure!(!is_bad, "the call failed: {text}");
    }
    Ok(())
}
