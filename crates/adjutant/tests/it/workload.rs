//! Agents that write mail, make tasks, claim and complete them while servers die, and the check that all that they were
//! told is true: there, once, and no claim held twice.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::Http;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Calls of an agent to its server.
pub(crate) trait Caller {
    /// Calls a tool. Returns its answer, and when the request that was answered was sent; nothing if nobody knows what
    /// became of the call.
    async fn call(&mut self, tool: &str, input: Value) -> Option<(Value, Instant)>;
}

/// Everything that the agents were told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    mails: Mutex<HashSet<String>>,
    tasks: Mutex<HashSet<String>>,
    /// Claims that were given: agent, number of the claim, task
    claims: Mutex<Vec<(String, i64, String)>>,
    completed: Mutex<HashSet<String>>,
    answers: AtomicUsize,
    answered: Notify,
    strike: Mutex<Option<Strike>>,
}

/// Something that was done to a server.
#[derive(Debug)]
struct Strike {
    at: Instant,
    /// After what time a call sent since was answered
    outage: Option<Duration>,
    /// When the last call was answered
    last: Instant,
    /// The longest time without an answer
    gap: Duration,
}

impl Told {
    fn one_more(&self, sent: Instant) {
        if let Some(strike) = self.strike.lock().unwrap().as_mut() {
            if strike.outage.is_none() && sent > strike.at {
                strike.outage = Some(strike.at.elapsed());
            }
            strike.gap = strike.gap.max(strike.last.elapsed());
            strike.last = Instant::now();
        }
        self.answers.fetch_add(1, Ordering::SeqCst);
        self.answered.notify_waiters();
    }

    /// Waits until so many more calls were answered.
    pub(crate) async fn more(&self, answers: usize) {
        let wanted = self.answers.load(Ordering::SeqCst) + answers;
        loop {
            let next = self.answered.notified();
            if self.answers.load(Ordering::SeqCst) >= wanted {
                return;
            }
            next.await;
        }
    }

    /// Notes that something is done to a server now.
    pub(crate) fn strikes(&self) {
        let now = Instant::now();
        let strike = Strike { at: now, outage: None, last: now, gap: Duration::ZERO };
        *self.strike.lock().unwrap() = Some(strike);
    }

    /// Waits for more answers, and returns the longest time without any since the strike. For what a server is asked to
    /// do: it answers for a while.
    pub(crate) async fn longest_gap(&self) -> Duration {
        self.more(20).await;
        self.strike.lock().unwrap().as_ref().unwrap().gap
    }

    /// Waits until a call that was sent since the strike is answered, and returns the time from one to the other.
    pub(crate) async fn outage(&self) -> Duration {
        loop {
            let next = self.answered.notified();
            let outage = self.strike.lock().unwrap().as_ref().and_then(|strike| strike.outage);
            if let Some(outage) = outage {
                return outage;
            }
            next.await;
        }
    }

    /// Compares what the agents were told with what the record has.
    pub(crate) async fn compare(&self, http: &Http, crew: &[String]) -> Comparison {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (mut subjects, mut titles) = (HashMap::new(), HashMap::new());
        let mut states = HashMap::new();
        for agent in crew {
            for mail in pages(http, "mcp__mail__list_inbox", Some(agent), "mails").await {
                *subjects.entry(text(&mail["subject"])).or_insert(0_usize) += 1;
            }
        }
        for task in pages(http, "mcp__task__list", None, "tasks").await {
            *titles.entry(text(&task["title"])).or_insert(0_usize) += 1;
            states.insert(text(&task["number"]), text(&task["state"]));
        }
        let mut found = Comparison {
            answered: self.answers.load(Ordering::SeqCst),
            claims: self.claims.lock().unwrap().len(),
            ..Comparison::default()
        };
        for (what, told, there) in [
            ("mail", self.mails.lock().unwrap(), &subjects),
            ("task", self.tasks.lock().unwrap(), &titles),
        ] {
            let is_lost = |name: &&String| !there.contains_key(*name);
            found.lost.extend(told.iter().filter(is_lost).map(|name| format!("{what} {name}")));
            let is_twice = |it: &(&String, &usize)| *it.1 > 1;
            found.twice.extend(there.iter().filter(is_twice).map(|it| format!("{what} {}", it.0)));
            assert!(!told.is_empty(), "no {what} was answered");
        }
        let claims = self.claims.lock().unwrap();
        let (mut numbers, mut holders) = (HashSet::new(), HashSet::new());
        for (task, number, _) in claims.iter() {
            // Nobody gives a claim back, so a task has one.
            if !numbers.insert((task, number)) || !holders.insert(task) {
                found.twice.push(format!("claim {number} of {task}"));
            }
        }
        let completed = self.completed.lock().unwrap();
        let is_undone = |task: &&String| states.get(*task).is_none_or(|it| it != "COMPLETED");
        found.lost.extend(completed.iter().filter(is_undone).map(|it| format!("completion {it}")));
        assert!(!claims.is_empty() && !completed.is_empty(), "no claim was answered and completed");
        found
    }
}

/// Comparison of the answers with the record.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// Calls that were answered
    pub(crate) answered: usize,
    /// Claims among them
    pub(crate) claims: usize,
    /// Answered, and absent from the record
    pub(crate) lost: Vec<String>,
    /// Recorded twice, or given to two agents
    pub(crate) twice: Vec<String>,
}

impl Comparison {
    /// Fails unless everything is there, and once.
    pub(crate) fn expect_all_once(&self) {
        assert_eq!(self.lost, Vec::<String>::new(), "was answered and is lost");
        assert_eq!(self.twice, Vec::<String>::new(), "is there twice");
    }
}

/// An agent that works for as long as the test wants.
pub(crate) struct Worker<C> {
    /// Its id
    pub(crate) agent: String,
    /// True if it makes tasks, false if it does them
    plans: bool,
    caller: C,
    turn: usize,
    held: Vec<String>,
}

impl<C: Caller> Worker<C> {
    /// Enlists an agent; every second makes tasks for the others.
    pub(crate) async fn enlist(
        operator: &Http,
        number: usize,
        caller: impl FnOnce(String) -> C,
    ) -> Self {
        let plans = number.is_multiple_of(2);
        let role = json!({ "role": if plans { "planner" } else { "worker" } });
        let (_, joined) = operator.post("/api/agents", &role).await.unwrap();
        let text = |key: &str| joined[key].as_str().unwrap().to_owned();
        let caller = caller(text("token"));
        Self { agent: text("agentId"), plans, caller, turn: 0, held: Vec::new() }
    }

    /// Works until it is over.
    pub(crate) async fn work(mut self, told: &Told, crew: &[String], over: CancellationToken) {
        while !over.is_cancelled() {
            self.step(told, crew).await;
        }
    }

    async fn step(&mut self, told: &Told, crew: &[String]) {
        self.turn += 1;
        let name = format!("{}-{}", self.agent, self.turn);
        let to = &crew[self.turn * 7 % crew.len()];
        match (self.turn % 3, self.plans) {
            (0, _) => {
                let mail = json!({ "toAgentId": to, "subject": name, "body": "b" });
                if let Some((_, sent)) = self.caller.call("mcp__mail__send", mail).await {
                    told.mails.lock().unwrap().insert(name);
                    told.one_more(sent);
                }
            }
            (_, true) => {
                let task = json!({ "title": name });
                if let Some((_, sent)) = self.caller.call("mcp__task__create", task).await {
                    told.tasks.lock().unwrap().insert(name);
                    told.one_more(sent);
                }
            }
            (1, false) => {
                let claim = json!({ "claim": true });
                let next = self.caller.call("mcp__session__task-next", claim).await;
                let Some((next, sent)) = next else { return };
                told.one_more(sent);
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
                let completed = self.caller.call("mcp__session__task-update", done).await;
                if let Some((_, sent)) = completed {
                    told.completed.lock().unwrap().insert(task);
                    told.one_more(sent);
                }
            }
        }
    }
}

/// Lets agents work until this is done, and returns what it gave and who they are.
pub(crate) async fn while_working<C: Caller, T>(
    workers: Vec<Worker<C>>,
    told: &Told,
    act: impl Future<Output = T>,
) -> (T, Vec<String>) {
    let crew: Vec<String> = workers.iter().map(|worker| worker.agent.clone()).collect();
    let over = CancellationToken::new();
    let working = workers.into_iter().map(|worker| worker.work(told, &crew, over.clone()));
    let acting = async {
        let done = act.await;
        over.cancel();
        done
    };
    let (_, done) = tokio::join!(join_all(working), acting);
    (done, crew)
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
