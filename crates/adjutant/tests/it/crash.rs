//! The server is killed again and again while many clients work: every call that was answered is
//! there, none is there twice, no two agents ever hold the same claim, and the chain holds.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use testkit::Http;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

const CLIENTS: usize = 64;
const ROUNDS: usize = 20;

/// What the clients were told: this must all be true in the end.
#[derive(Debug, Default)]
struct Told {
    mails: Mutex<HashSet<String>>,
    tasks: Mutex<HashSet<String>>,
    /// Which agent was given which task under which number
    claims: Mutex<Vec<(String, i64, String)>>,
    completed: Mutex<HashSet<String>>,
    answers: AtomicUsize,
    answered: Notify,
}

impl Told {
    fn one_more(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
        self.answered.notify_waiters();
    }

    /// Waits until so many calls have been answered in all.
    async fn reaches(&self, answers: usize) {
        loop {
            let next = self.answered.notified();
            if self.answers.load(Ordering::Relaxed) >= answers {
                return;
            }
            next.await;
        }
    }
}

struct Client {
    agent: String,
    plans: bool,
    http: Http,
    /// Whether the server is up, as the killer says
    up: watch::Receiver<bool>,
    turn: usize,
    held: Vec<String>,
}

impl Client {
    /// Calls a tool. Nothing if the server went away: then nobody knows what became of the call.
    async fn call(&mut self, tool: &str, input: Value) -> Option<Value> {
        if let Ok(answer) = self.http.call(tool, input).await {
            Some(answer.unwrap_or_else(|error| panic!("{tool}: {error}")))
        } else {
            self.up.wait_for(|up| *up).await.unwrap();
            None
        }
    }

    async fn step(&mut self, told: &Told, crew: &[String]) {
        self.turn += 1;
        let name = format!("{}-{}", self.agent, self.turn);
        let to = &crew[self.turn * 7 % crew.len()];
        match (self.turn % 3, self.plans) {
            (0, _) => {
                let mail = json!({ "toAgentId": to, "subject": name, "body": "b" });
                if self.call("mcp__mail__send", mail).await.is_some() {
                    told.mails.lock().unwrap().insert(name);
                    told.one_more();
                }
            }
            (_, true) => {
                let task = json!({ "title": name });
                if self.call("mcp__task__create", task).await.is_some() {
                    told.tasks.lock().unwrap().insert(name);
                    told.one_more();
                }
            }
            (1, false) => {
                let Some(next) =
                    self.call("mcp__session__task-next", json!({ "claim": true })).await
                else {
                    return;
                };
                told.one_more();
                if let (Some(task), Some(number)) =
                    (next["task"]["id"].as_str(), next["claim"].as_i64())
                {
                    let claim = (task.to_owned(), number, self.agent.clone());
                    told.claims.lock().unwrap().push(claim);
                    self.held.push(task.to_owned());
                }
            }
            _ => {
                let Some(task) = self.held.pop() else { return };
                let done = json!({ "id": task, "status": "completed" });
                if self.call("mcp__session__task-update", done).await.is_some() {
                    told.completed.lock().unwrap().insert(task);
                    told.one_more();
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_answered_is_lost_and_nothing_is_done_twice() {
    let world = crate::world().await;
    let mut server = world.up().await.unwrap();
    let operator = Http::new(&server.url, world.operator().await.unwrap());
    let (says, up) = watch::channel(true);
    let mut clients = Vec::new();
    for n in 0..CLIENTS {
        let plans = n % 2 == 0;
        let role = json!({ "role": if plans { "planner" } else { "worker" } });
        let (_, joined) = operator.post("/api/agents", &role).await.unwrap();
        let text = |key: &str| joined[key].as_str().unwrap().to_owned();
        let (agent, http) = (text("agentId"), Http::new(&server.url, text("token")));
        clients.push(Client { agent, plans, http, up: up.clone(), turn: 0, held: Vec::new() });
    }
    let crew: Vec<String> = clients.iter().map(|client| client.agent.clone()).collect();
    let (told, over) = (Told::default(), CancellationToken::new());

    let working = futures_util::future::join_all(clients.into_iter().map(|mut client| {
        let (told, crew, over) = (&told, &crew, over.clone());
        async move {
            while !over.is_cancelled() {
                client.step(told, crew).await;
            }
        }
    }));
    let killing = async {
        for round in 1..=ROUNDS {
            // A few dozen to a few hundred answers apart, so that it dies at ever other moments.
            let already = told.answers.load(Ordering::Relaxed);
            told.reaches(already + 30 + round * 7919 % 251).await;
            says.send_replace(false);
            let url = server.url.clone();
            server.kill().await.unwrap();
            server = world.up().await.unwrap();
            assert_eq!(server.url, url, "it comes back where it was");
            says.send_replace(true);
        }
        told.reaches(told.answers.load(Ordering::Relaxed) + 100).await;
        over.cancel();
        server
    };
    let (_, server) = tokio::join!(working, killing);
    check(&operator, &told, &crew).await;
    assert_eq!(server.stop().await.unwrap(), Some(0));
}

/// Everything that a list has, page after page.
async fn pages(http: &Http, tool: &str, agent: Option<&str>, key: &str) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut input = json!({ "limit": 500, "cursor": cursor });
        if key == "mails" {
            input["includeRead"] = true.into();
        }
        let body = json!({ "agentId": agent, "toolName": tool, "input": input });
        let (_, answer) = http.post("/mcp/execute", &body).await.unwrap();
        assert_eq!(answer["success"], true, "{answer}");
        all.extend(answer["data"][key].as_array().unwrap().iter().cloned());
        match answer["data"].get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => return all,
        }
    }
}

async fn check(http: &Http, told: &Told, crew: &[String]) {
    let (mut subjects, mut titles, mut states) = (HashMap::new(), HashMap::new(), HashMap::new());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for agent in crew {
        for mail in pages(http, "mcp__mail__list_inbox", Some(agent), "mails").await {
            *subjects.entry(text(&mail["subject"])).or_insert(0) += 1;
        }
    }
    for task in pages(http, "mcp__task__list", None, "tasks").await {
        *titles.entry(text(&task["title"])).or_insert(0) += 1;
        states.insert(text(&task["number"]), task["state"].clone());
    }
    let (_, verdict) = http.get("/api/audit/verify").await.unwrap();
    assert_eq!(verdict["ok"], true, "{verdict}");
    for (what, told, found) in [
        ("mail", told.mails.lock().unwrap(), &subjects),
        ("task", told.tasks.lock().unwrap(), &titles),
    ] {
        for name in told.iter() {
            assert!(found.contains_key(name), "the {what} `{name}` was answered and is lost");
        }
        assert!(found.values().all(|count| *count == 1), "a {what} is there twice");
        assert!(!told.is_empty());
    }
    let claims = told.claims.lock().unwrap();
    let distinct: HashSet<(&str, i64)> = claims.iter().map(|(t, n, _)| (t.as_str(), *n)).collect();
    assert_eq!(distinct.len(), claims.len(), "two agents were given the same claim");
    let holders: HashSet<&str> = claims.iter().map(|(task, ..)| task.as_str()).collect();
    assert_eq!(
        holders.len(),
        claims.len(),
        "a task was given to two agents though none gave it back"
    );
    for task in told.completed.lock().unwrap().iter() {
        assert_eq!(states[task], "COMPLETED", "{task}");
    }
    assert!(!claims.is_empty() && !told.completed.lock().unwrap().is_empty());
}
