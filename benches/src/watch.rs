//! Many who watch while much happens, one of whom does not read: what they miss, how late they hear, and
//! what they cost.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use model::Timestamp;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::Scale;
use crate::client::Client;
use crate::drafts::Percentiles;
use crate::memory;
use crate::program;
use crate::report::say;
use crate::subject::ServerUnderTest;
use crate::wire::Call;

/// So many watch, one of whom stops.
const WATCHERS: usize = 50;
/// So many events a second there are.
pub(crate) const EVENTS_PER_SECOND: u32 = 1000;
/// So many clients make them; enough for a disk that takes long.
const WRITERS: u32 = 64;
/// Anyone who hears nothing for so long has missed something.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The delay of one event in so many is noted.
const EVENTS_PER_SAMPLE: i64 = 16;

/// What watching costs.
#[derive(Debug)]
pub(crate) struct WatchingCost {
    /// How many watch
    pub(crate) watchers: usize,
    /// How many events there were
    pub(crate) events: i64,
    /// How many a second
    pub(crate) rate: f64,
    /// How many did not reach somebody
    pub(crate) lost: i64,
    /// How many came late or twice
    pub(crate) disorder: i64,
    /// From the time of an event to who reads it, in milliseconds
    pub(crate) delay: Percentiles,
    /// How much of one core the server uses, in hundredths
    pub(crate) load: f64,
    /// The server's memory before, in megabytes
    pub(crate) before: f64,
    /// and after
    pub(crate) after: f64,
}

/// What one who watches heard.
#[derive(Debug, Default)]
struct WatcherCount {
    lost: i64,
    disorder: i64,
    delays: Vec<f64>,
}

/// Has many watch, and measures.
pub(crate) async fn measure(program: &Path, scale: &Scale) -> Result<WatchingCost> {
    let seconds = scale.watch.as_secs();
    say(&format!("having {WATCHERS} watch {EVENTS_PER_SECOND} events a second for {seconds} s"));
    let subject = ServerUnderTest::crew(program, 8, &[]).await?;
    let (address, token) = (subject.address(), subject.operator()?);
    let first = last(address, &token).await?;
    let before = memory::of(subject.pid()).await?;
    let stopped = open(address, &token, first).await?;
    let (mut watching, mut writing) = (JoinSet::new(), JoinSet::new());
    let total = i64::from(EVENTS_PER_SECOND) * i64::try_from(seconds).context("too long")?;
    for _ in 1..WATCHERS {
        watching.spawn(read(open(address, &token, first).await?, first, first + total));
    }
    let began = Instant::now();
    for writer in 0..WRITERS {
        let share = total / i64::from(WRITERS);
        let rest = i64::from(total % i64::from(WRITERS) > i64::from(writer));
        writing.spawn(write(Client::new(address, &token).await?, share + rest));
    }
    let load = memory::load(subject.pid(), scale.watch).await?;
    while let Some(written) = writing.join_next().await {
        written.context("a client panicked")??;
    }
    let rate = f64::from(u32::try_from(total)?) / began.elapsed().as_secs_f64();
    let mut all = WatcherCount::default();
    while let Some(heard) = watching.join_next().await {
        all.add(heard.context("a client panicked")??);
    }
    let after = memory::of(subject.pid()).await?;
    // Who stopped reads on. How late it hears says nothing.
    let mut heard = read(stopped, first, first + total).await?;
    heard.delays.clear();
    all.add(heard);
    subject.stop().await?;
    let WatcherCount { lost, disorder, delays } = all;
    let delay = Percentiles::of(delays);
    Ok(WatchingCost {
        watchers: WATCHERS,
        events: total,
        rate,
        lost,
        disorder,
        delay,
        load,
        before,
        after,
    })
}

impl WatcherCount {
    fn add(&mut self, other: Self) {
        self.lost += other.lost;
        self.disorder += other.disorder;
        self.delays.extend(other.delays);
    }
}

async fn last(address: SocketAddr, token: &str) -> Result<i64> {
    let page = Client::new(address, token).await?.get("/api/events?after=now").await?;
    page["last"].as_i64().context("no last event")
}

/// Makes so many events, evenly.
async fn write(mut client: Client, many: i64) -> Result<()> {
    let call = Call {
        joined: "system_log_decision",
        canonical: "mcp__system__log_decision",
        input: json!({ "title": "Go on", "body": "There is more to do." }),
        progress: false,
    };
    let mut beat = interval(Duration::from_secs(1) * WRITERS / EVENTS_PER_SECOND);
    beat.set_missed_tick_behavior(MissedTickBehavior::Burst);
    for _ in 0..many {
        beat.tick().await;
        client.call(&call).await?;
    }
    Ok(())
}

/// Opens a stream of events.
async fn open(address: SocketAddr, token: &str, after: i64) -> Result<BufReader<TcpStream>> {
    let mut stream = TcpStream::connect(address).await.context("no server")?;
    let head = format!(
        "GET /api/events?after={after} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Accept: text/event-stream\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.context("it does not listen")?;
    Ok(BufReader::new(stream))
}

/// Reads up to an event, and notes what is missing.
async fn read(mut stream: BufReader<TcpStream>, after: i64, until: i64) -> Result<WatcherCount> {
    let (mut heard, mut seen, mut line) = (WatcherCount::default(), after, String::new());
    while seen < until {
        line.clear();
        let Ok(many) = timeout(TIMEOUT, stream.read_line(&mut line)).await else { break };
        ensure!(many.context("the line broke")? > 0, "the stream ended");
        let Some(event) = line.strip_prefix("data: {\"number\":") else { continue };
        let number: i64 =
            event.split(',').next().unwrap_or_default().parse().context("a number")?;
        if number <= seen {
            heard.disorder += 1;
            continue;
        }
        heard.lost += number - seen - 1;
        seen = number;
        if number % EVENTS_PER_SAMPLE == 0 {
            let now = program::now();
            let event: Value = serde_json::from_str(line.trim_start_matches("data: "))?;
            let at: Timestamp = event["at"].as_str().unwrap_or_default().parse()?;
            heard.delays.push(
                now - Duration::from_millis(u64::try_from(at.as_millis())?).as_secs_f64() * 1000.0,
            );
        }
    }
    heard.lost += until - seen;
    Ok(heard)
}
