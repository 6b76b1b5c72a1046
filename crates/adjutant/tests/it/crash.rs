//! The server is killed again and again while many clients work: every call that was answered is
//! there, none is there twice, no two agents ever hold the same claim, and the chain holds.

use serde_json::Value;
use testkit::Http;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::workload::{Caller, Told, Worker, while_working};

const CLIENTS: usize = 64;
const ROUNDS: usize = 20;

/// A client of one server, which waits where that is down.
struct Client {
    http: Http,
    /// Whether the server is up, as the killer says
    up: watch::Receiver<bool>,
}

impl Caller for Client {
    /// Calls a tool. Nothing if the server went away: then nobody knows what became of the call.
    async fn call(&mut self, tool: &str, input: Value) -> Option<(Value, Instant)> {
        let sent = Instant::now();
        if let Ok(answer) = self.http.call(tool, input).await {
            Some((answer.unwrap_or_else(|error| panic!("{tool}: {error}")), sent))
        } else {
            self.up.wait_for(|up| *up).await.unwrap();
            None
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_answered_is_lost_and_nothing_is_done_twice() {
    let world = crate::world().await;
    let mut server = world.up().await.unwrap();
    let operator = Http::new(&server.url, world.operator().await.unwrap());
    let (says, up) = watch::channel(true);
    let mut workers = Vec::new();
    for number in 0..CLIENTS {
        let client = |token| Client { http: Http::new(&server.url, token), up: up.clone() };
        workers.push(Worker::enlist(&operator, number, client).await);
    }
    let told = Told::default();
    let killing = async {
        for round in 1..=ROUNDS {
            // A few dozen to a few hundred answers apart, so that it dies at ever other moments.
            told.more(30 + round * 7919 % 251).await;
            says.send_replace(false);
            let url = server.url.clone();
            server.kill().await.unwrap();
            server = world.up().await.unwrap();
            assert_eq!(server.url, url, "it comes back where it was");
            says.send_replace(true);
        }
        told.more(100).await;
        server
    };
    let (server, crew) = while_working(workers, &told, killing).await;
    told.compare(&operator, &crew).await.expect_all_once();
    let (_, verdict) = operator.get("/api/audit/verify").await.unwrap();
    assert_eq!(verdict["ok"], true, "{verdict}");
    assert_eq!(server.stop().await.unwrap(), Some(0));
}
