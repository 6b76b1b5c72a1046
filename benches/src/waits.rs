//! Many who wait for many agents: what they cost, and how soon they hear of the end.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use model::Timestamp;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::Scale;
use crate::client;
use crate::crew::{self, Crew};
use crate::drafts::Percentiles;
use crate::memory;
use crate::program;
use crate::report::say;
use crate::wire::{Endpoint, Template};

/// So many wait for each agent.
pub(crate) const WAITS_PER_AGENT: usize = 4;
/// One of so many ends alone, before all others end at once.
const AGENTS_PER_SINGLE_END: usize = 10;

/// What waiting costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitingCost {
    /// How they wait
    pub(crate) face: Endpoint,
    /// Memory that the server needs more for them, in megabytes
    pub(crate) growth: f64,
    /// How much of one core the server uses while all wait, in hundredths
    pub(crate) load: f64,
    /// From the end of an agent, as its event has it, to the answer, where it ends alone
    pub(crate) alone: Percentiles,
    /// The same where all end at once
    pub(crate) at_once: Percentiles,
}

/// Has some wait for every one of these agents, who rest. Then some of them end one after the other, and
/// all others at once.
pub(crate) async fn measure(
    crew: &Crew,
    face: Endpoint,
    agents: &[String],
    scale: &Scale,
) -> Result<WaitingCost> {
    say(&format!("having {} calls wait over {}", agents.len() * WAITS_PER_AGENT, face.path()));
    let pid = crew.subject().pid();
    let before = memory::of(pid).await?;
    let (mut connections, mut waiting) = (JoinSet::new(), JoinSet::new());
    for agent in agents.iter().cycle().take(agents.len() * WAITS_PER_AGENT) {
        let template = Template::new(face, &crew::wait(agent), crew.token())?;
        let address = crew.subject().address();
        let mut sender = client::connect(address, &mut connections).await?;
        let agent = agent.clone();
        waiting.spawn(async move {
            let answer = client::send(&mut sender, &template).await?;
            let at = program::now();
            let answer = String::from_utf8_lossy(&answer);
            let is_over = ["completed", "aborted"].iter().any(|end| answer.contains(end));
            ensure!(is_over, "{agent} is not over: {answer}");
            Ok((agent, at))
        });
    }
    let load = memory::load(pid, scale.wait).await?;
    let growth = memory::of(pid).await? - before;
    let (alone, _) = agents.split_at(agents.len() / AGENTS_PER_SINGLE_END);
    let mut client = crew.client().await?;
    for agent in alone {
        client.call(&crew::kill(agent)).await?;
    }
    crew.open_gate()?;
    let mut heard = Vec::new();
    while let Some(answer) = waiting.join_next().await {
        heard.push(answer.context("a client panicked")??);
    }
    let ends = ends(crew).await?;
    let mut delays = (Vec::new(), Vec::new());
    for (agent, at) in &heard {
        let end = ends.get(agent).with_context(|| format!("no end of {agent}"))?;
        if alone.contains(agent) { &mut delays.0 } else { &mut delays.1 }.push(at - end);
    }
    let (alone, at_once) = (Percentiles::of(delays.0), Percentiles::of(delays.1));
    connections.shutdown().await;
    Ok(WaitingCost { face, growth, load, alone, at_once })
}

/// When every agent ended, in milliseconds.
async fn ends(crew: &Crew) -> Result<HashMap<String, f64>> {
    let mut client = crew.client().await?;
    let (mut ends, mut after) = (HashMap::new(), 0);
    loop {
        let path = format!("/api/events?kind=agent.finished&limit=1000&after={after}");
        let page = client.get(&path).await?;
        let events = page["events"].as_array().context("no events")?;
        for event in events {
            ends.extend(end(event));
        }
        match events.last().and_then(|event| event["number"].as_i64()) {
            Some(last) => after = last,
            None => return Ok(ends),
        }
    }
}

fn end(event: &Value) -> Option<(String, f64)> {
    let at: Timestamp = event["at"].as_str()?.parse().ok()?;
    let since = u64::try_from(at.as_millis()).ok()?;
    let agent = event["agentId"].as_str()?.to_owned();
    Some((agent, Duration::from_millis(since).as_secs_f64() * 1000.0))
}
