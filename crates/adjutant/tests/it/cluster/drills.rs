//! Takeovers under load: the owner is killed, stopped past its lease, or asked to end, while agents work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::Http;
use tokio::time::{Instant, interval, timeout};

use super::{ANSWER_TIMEOUT, Cluster};
use crate::workload::{Caller, Comparison, Told, Worker, while_working};

const SERVERS: usize = 3;
const CLIENTS: usize = 8;

/// Rounds of a drill: `make drill` asks for more.
pub(super) fn rounds() -> usize {
    #[expect(clippy::disallowed_methods, reason = "of the drill, and not of the program")]
    let asked = std::env::var("ADJUTANT_DRILL_ROUNDS").ok();
    asked.map_or(3, |rounds| rounds.parse().unwrap())
}

/// Half of the rounds, where a drill of many has that many; three at least.
pub(super) fn half_the_rounds() -> usize {
    (rounds() / 2).max(rounds().min(3))
}

/// A client that knows all servers, and goes to the next one when one does not answer. Each call has a key.
struct Client<'t> {
    name: String,
    servers: Vec<Http>,
    at: usize,
    calls: usize,
    /// Tries of a call that gave no answer, or none that says what became of it
    again: &'t AtomicUsize,
    loss: Loss,
}

/// Loss that a drill expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    /// It is there
    Never,
    /// It may be gone, so that a call may be about something that is not there any more
    Expected,
}

impl Caller for Client<'_> {
    /// Sends a call until it is known to be done.
    async fn call(&mut self, tool: &str, input: Value) -> Option<(Value, Instant)> {
        self.calls += 1;
        let key = format!("{}-{}", self.name, self.calls);
        let body = json!({ "toolName": tool, "input": input });
        let mut pause = interval(Duration::from_millis(20));
        loop {
            pause.tick().await;
            let (sent, server) = (Instant::now(), &self.servers[self.at]);
            let header = [("Idempotency-Key", key.as_str())];
            let asked = server.post_with("/mcp/execute", &body, &header);
            match timeout(ANSWER_TIMEOUT, asked).await {
                Ok(Ok((_, mut answer))) if answer["success"] == true => {
                    return Some((answer["data"].take(), sent));
                }
                // The server waits, stops, or does not know the owner any more, or has no room before it commits.
                Ok(Ok((status, _))) if status != 503 && self.loss == Loss::Expected => return None,
                Ok(Ok((status, answer))) => {
                    let is_full = answer["error"]["message"].to_string().contains("disk is full");
                    assert!(status == 503 || is_full, "{tool}: {status} {answer}");
                }
                Ok(Err(_)) | Err(_) => {}
            }
            self.again.fetch_add(1, Ordering::SeqCst);
            self.at = (self.at + 1) % self.servers.len();
        }
    }
}

/// Lets so many agents work while something is done to the servers, and compares what they were told with the record.
pub(super) async fn work_through<T>(
    cluster: &mut Cluster,
    clients: usize,
    loss: Loss,
    act: impl AsyncFnOnce(&mut Cluster, &Told) -> T,
) -> (T, Comparison, usize) {
    let (operator, again, mut workers) = (cluster.http(0), AtomicUsize::new(0), Vec::new());
    for number in 0..clients {
        let urls: Vec<String> = cluster.machines.iter().map(|is| is.url.clone()).collect();
        let at = number % urls.len();
        let client = |token: String| {
            let servers = urls.iter().map(|url| Http::new(url, &token)).collect();
            let name = format!("{number}-{token}");
            Client { name, servers, at, calls: 0, again: &again, loss }
        };
        workers.push(Worker::enlist(&operator, number, client).await);
    }
    let told = Told::default();
    let acting = async {
        let done = act(cluster, &told).await;
        told.more(20).await;
        done
    };
    let (done, crew) = while_working(workers, &told, acting).await;
    let owner = cluster.owner().await;
    let comparison = told.compare(&cluster.http(owner), &crew).await;
    (done, comparison, again.into_inner())
}

/// The same where nothing may be lost: prints the counts.
pub(super) async fn under_load(
    cluster: &mut Cluster,
    clients: usize,
    what: &str,
    act: impl AsyncFnOnce(&mut Cluster, &Told) -> Vec<Duration>,
) {
    let (outages, found, again) = work_through(cluster, clients, Loss::Never, act).await;
    found.expect_all_once();
    let outages: Vec<u128> = outages.iter().map(Duration::as_millis).collect();
    let Comparison { answered, claims, .. } = found;
    #[expect(clippy::print_stdout, reason = "the figures are the point")]
    {
        println!(
            "{what}, {clients} clients: {answered} calls answered ({claims} claims), 0 lost, 0 twice; {again} tries \
             more; outages in ms: {outages:?}"
        );
    }
    cluster.expect_whole().await;
}

/// Starts again who has ended since, as a process manager does: a server that gets no time on a busy machine may have
/// lost its lease.
pub(super) async fn restart_fenced(cluster: &mut Cluster) {
    for machine in 0..cluster.machines.len() {
        if host::process::is_alive(cluster.machines[machine].pid()) {
            continue;
        }
        cluster.machines[machine].expect_fenced().await;
        cluster.machines[machine].up().await;
    }
}

/// Kills the owner, and starts it again once another server answers.
pub(super) async fn kill_owner(cluster: &mut Cluster, told: &Told) -> Duration {
    let owner = cluster.owner().await;
    cluster.machines[owner].kill().await;
    told.strikes();
    let outage = told.outage().await;
    cluster.machines[owner].up().await;
    outage
}

/// Stops the owner until another server answers, and lets it go on, which must end it.
pub(super) async fn stop_owner(cluster: &mut Cluster, told: &Told) -> Duration {
    let owner = cluster.owner().await;
    cluster.machines[owner].freeze().await;
    // Not before: what the owner itself has answered since would pass for the answer of the next one.
    told.strikes();
    let outage = told.outage().await;
    cluster.machines[owner].signal("CONT").await;
    cluster.machines[owner].expect_fenced().await;
    cluster.machines[owner].up().await;
    outage
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_owner_is_replaced_and_nothing_answered_is_lost() {
    let mut cluster = Cluster::start(SERVERS).await;
    under_load(&mut cluster, CLIENTS, "owner killed", async |cluster, told| {
        let mut outages = Vec::new();
        for round in 0..rounds() {
            restart_fenced(cluster).await;
            // A number of answers apart that varies, so that it dies at ever other moments.
            told.more(10 + round * 7919 % 31).await;
            outages.push(kill_owner(cluster, told).await);
        }
        outages
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_stopped_past_its_lease_ends_with_75_and_commits_nothing() {
    let mut cluster = Cluster::start(SERVERS).await;
    under_load(&mut cluster, CLIENTS, "owner stopped", async |cluster, told| {
        let mut outages = Vec::new();
        for _ in 0..rounds() {
            restart_fenced(cluster).await;
            told.more(20).await;
            outages.push(stop_owner(cluster, told).await);
        }
        outages
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_is_asked_to_end_hands_the_home_over() {
    let mut cluster = Cluster::start(SERVERS).await;
    under_load(&mut cluster, CLIENTS, "owner asked to end", async |cluster, told| {
        let mut outages = Vec::new();
        for _ in 0..rounds() {
            restart_fenced(cluster).await;
            told.more(20).await;
            let owner = cluster.owner().await;
            told.strikes();
            cluster.machines[owner].stop().await;
            outages.push(told.longest_gap().await);
            cluster.machines[owner].up().await;
        }
        outages
    })
    .await;
}
