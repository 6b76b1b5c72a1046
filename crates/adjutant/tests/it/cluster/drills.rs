//! Takeovers under load: the owner is killed, stopped past its lease, or asked to end, while clients send letters.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::Http;
use tokio::sync::Notify;
use tokio::time::{Instant, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::{ANSWER_TIMEOUT, Cluster};

const SERVERS: usize = 3;
const CLIENTS: usize = 8;

/// Rounds of a drill: `make drill` asks for more.
pub(super) fn rounds() -> usize {
    #[expect(clippy::disallowed_methods, reason = "of the drill, and not of the program")]
    let asked = std::env::var("ADJUTANT_DRILL_ROUNDS").ok();
    asked.map_or(3, |rounds| rounds.parse().unwrap())
}

/// What the clients were told: this must all be true in the end.
#[derive(Debug, Default)]
pub(super) struct Told {
    letters: Mutex<Vec<String>>,
    answers: AtomicUsize,
    answered: Notify,
    /// Tries of a letter that gave no answer, or none that says what became of it
    again: AtomicUsize,
    /// When something was done to a server, and after what time a letter sent since was answered
    strike: Mutex<Option<(Instant, Option<Duration>)>>,
}

impl Told {
    fn answered(&self, letter: &str, sent: Instant) {
        self.letters.lock().unwrap().push(letter.to_owned());
        if let Some((at, outage)) = self.strike.lock().unwrap().as_mut()
            && outage.is_none()
            && sent > *at
        {
            *outage = Some(at.elapsed());
        }
        self.answers.fetch_add(1, Ordering::SeqCst);
        self.answered.notify_waiters();
    }

    /// Waits until so many more letters were answered.
    pub(super) async fn more(&self, letters: usize) {
        let wanted = self.answers.load(Ordering::SeqCst) + letters;
        loop {
            let next = self.answered.notified();
            if self.answers.load(Ordering::SeqCst) >= wanted {
                return;
            }
            next.await;
        }
    }

    /// Notes that something is done to a server now.
    pub(super) fn strikes(&self) {
        *self.strike.lock().unwrap() = Some((Instant::now(), None));
    }

    /// Waits until a letter that was sent since the strike is answered, and returns the time from one to the other.
    pub(super) async fn outage(&self) -> Duration {
        loop {
            let next = self.answered.notified();
            if let Some((_, Some(outage))) = *self.strike.lock().unwrap() {
                return outage;
            }
            next.await;
        }
    }
}

/// A client that knows all servers, and goes to the next one when one does not answer.
struct Client {
    name: String,
    servers: Vec<Http>,
    at: usize,
    sent: usize,
}

impl Client {
    /// Sends a letter until it is known to be there.
    async fn send(&mut self, told: &Told, to: &str) {
        self.sent += 1;
        let letter = format!("{}-{}", self.name, self.sent);
        let input = json!({ "toAgentId": to, "subject": letter, "body": "b" });
        let body = json!({ "toolName": "mcp__mail__send", "input": input });
        let mut pause = interval(Duration::from_millis(20));
        loop {
            pause.tick().await;
            let (sent, server) = (Instant::now(), &self.servers[self.at]);
            let key = [("Idempotency-Key", letter.as_str())];
            let asked = server.post_with("/mcp/execute", &body, &key);
            match timeout(ANSWER_TIMEOUT, asked).await {
                Ok(Ok((_, answer))) if answer["success"] == true => {
                    return told.answered(&letter, sent);
                }
                // The server waits, stops, or does not know the owner any more.
                Ok(Ok((status, answer))) => assert_eq!(status, 503, "{answer}"),
                Ok(Err(_)) | Err(_) => {}
            }
            told.again.fetch_add(1, Ordering::SeqCst);
            self.at = (self.at + 1) % self.servers.len();
        }
    }
}

/// Agents that send letters to each other while something is done to the servers.
pub(super) async fn under_load(
    cluster: &mut Cluster,
    what: &str,
    act: impl AsyncFnOnce(&mut Cluster, &Told) -> Vec<Duration>,
) {
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let role = json!({ "role": "worker" });
        let (_, joined) = cluster.http(0).post("/api/agents", &role).await.unwrap();
        let text = |key: &str| joined[key].as_str().unwrap().to_owned();
        let servers = cluster.machines.iter().map(|is| Http::new(&is.url, text("token")));
        let (name, servers) = (text("agentId"), servers.collect::<Vec<_>>());
        clients.push(Client { name, at: number % servers.len(), servers, sent: 0 });
    }
    let crew: Vec<String> = clients.iter().map(|client| client.name.clone()).collect();
    let (told, over) = (Told::default(), CancellationToken::new());
    let working = join_all(clients.into_iter().enumerate().map(|(number, mut client)| {
        let (told, crew, over) = (&told, &crew, &over);
        async move {
            while !over.is_cancelled() {
                let to = &crew[(number + client.sent) % crew.len()];
                client.send(told, to).await;
            }
        }
    }));
    let acting = async {
        let outages = act(cluster, &told).await;
        told.more(20).await;
        over.cancel();
        outages
    };
    let (_, outages) = tokio::join!(working, acting);
    let letters = told.letters.into_inner().unwrap();
    let again = told.again.into_inner();
    expect_all_once(cluster, &crew, &letters).await;
    let outages: Vec<u128> = outages.iter().map(Duration::as_millis).collect();
    let count = letters.len();
    #[expect(clippy::print_stdout, reason = "the figures are the point")]
    {
        println!(
            "{what}: {count} letters answered, 0 lost, 0 twice; {again} tries more; outages in ms: {outages:?}"
        );
    }
    cluster.expect_whole().await;
}

/// Checks that every letter that was answered is there, and once.
async fn expect_all_once(cluster: &Cluster, crew: &[String], letters: &[String]) {
    let owner = cluster.owner().await;
    let http = cluster.http(owner);
    let mut found: HashMap<String, usize> = HashMap::new();
    for agent in crew {
        let mut cursor = Value::Null;
        loop {
            let input = json!({ "limit": 500, "cursor": cursor, "includeRead": true });
            let body =
                json!({ "agentId": agent, "toolName": "mcp__mail__list_inbox", "input": input });
            let (_, answer) = http.post("/mcp/execute", &body).await.unwrap();
            assert_eq!(answer["success"], true, "{answer}");
            for mail in answer["data"]["mails"].as_array().unwrap() {
                *found.entry(mail["subject"].as_str().unwrap().to_owned()).or_default() += 1;
            }
            match answer["data"].get("nextCursor") {
                Some(next) => cursor = next.clone(),
                None => break,
            }
        }
    }
    for letter in letters {
        assert_eq!(found.remove(letter), Some(1), "letter {letter} was answered");
    }
    // Each was sent until it was answered.
    assert_eq!(found, HashMap::new(), "letters that nobody was told of");
}

/// Starts again who has ended since, as a process manager does: a server that gets no time on a busy machine may have
/// lost its lease.
async fn restart_fenced(cluster: &mut Cluster) {
    for machine in 0..cluster.machines.len() {
        if host::process::is_alive(cluster.machines[machine].pid()) {
            continue;
        }
        let mut server = cluster.machines[machine].server.take().unwrap();
        assert_eq!(server.ended().await.unwrap().code(), Some(75));
        cluster.machines[machine].up().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_owner_is_replaced_and_nothing_answered_is_lost() {
    let mut cluster = Cluster::start(SERVERS).await;
    under_load(&mut cluster, "owner killed", async |cluster, told| {
        let mut outages = Vec::new();
        for round in 0..rounds() {
            restart_fenced(cluster).await;
            // A number of answers apart that varies, so that it dies at ever other moments.
            told.more(10 + round * 7919 % 31).await;
            let owner = cluster.owner().await;
            told.strikes();
            cluster.machines[owner].kill().await;
            outages.push(told.outage().await);
            cluster.machines[owner].up().await;
        }
        outages
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_stopped_past_its_lease_ends_with_75_and_commits_nothing() {
    let mut cluster = Cluster::start(SERVERS).await;
    under_load(&mut cluster, "owner stopped", async |cluster, told| {
        let mut outages = Vec::new();
        for _ in 0..rounds() {
            restart_fenced(cluster).await;
            told.more(20).await;
            let owner = cluster.owner().await;
            told.strikes();
            cluster.machines[owner].signal("STOP").await;
            outages.push(told.outage().await);
            cluster.machines[owner].signal("CONT").await;
            let mut server = cluster.machines[owner].server.take().unwrap();
            assert_eq!(server.ended().await.unwrap().code(), Some(75));
            cluster.machines[owner].up().await;
        }
        outages
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_is_asked_to_end_hands_the_home_over() {
    let mut cluster = Cluster::start(SERVERS).await;
    under_load(&mut cluster, "owner asked to end", async |cluster, told| {
        let mut outages = Vec::new();
        for _ in 0..rounds() {
            restart_fenced(cluster).await;
            told.more(20).await;
            let owner = cluster.owner().await;
            told.strikes();
            cluster.machines[owner].stop().await;
            outages.push(told.outage().await);
            cluster.machines[owner].up().await;
        }
        outages
    })
    .await;
}
