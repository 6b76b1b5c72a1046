//! Two hundred agents, and a server that is killed again and again while they start, run and end: every
//! agent ends as its script says, none runs twice, every line is there once, every result arrives, and
//! no process is left over.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use testkit::{Http, World};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::crew::{leftovers, role, until};

const AGENTS: usize = 200;
const KILLS: usize = 20;
const LINES: usize = 12;

/// What an agent is told to do, and how it then ends.
const ENDS: [(&str, &str); 4] =
    [("well", "succeeded"), ("badly", "failed"), ("abruptly", "failed"), ("oddly", "failed")];

const SCENARIOS: &str = r#"
scenarios:
  well: {steps: [{append: {path: ran.txt, text: "{{agent}}\n"}}, &work {repeat: {times: 12, steps: [{say: 'line {{i}}'}, {sleep: 0.01}]}}, &call {call: system_log_decision, with: {title: 'half way', body: 'the script says so'}}, {result: {status: success, summary: 'well'}}]}
  badly: {steps: [{append: {path: ran.txt, text: "{{agent}}\n"}}, *work, *call, {fail: 'badly'}]}
  abruptly: {steps: [{append: {path: ran.txt, text: "{{agent}}\n"}}, *work, *call, {crash: true}]}
  oddly: {steps: [{append: {path: ran.txt, text: "{{agent}}\n"}}, *work, *call, {exit: 3}]}
"#;

/// A client that does not give up while the server is away.
#[derive(Clone)]
struct Patient {
    http: Http,
    up: watch::Receiver<bool>,
}

impl Patient {
    async fn call(&mut self, tool: &str, input: &Value, key: &str) -> Value {
        let body = json!({ "toolName": tool, "input": input });
        loop {
            let answer =
                self.http.post_with("/mcp/execute", &body, &[("Idempotency-Key", key)]).await;
            match answer {
                Ok((_, answer)) => {
                    assert_eq!(answer["success"], true, "{tool}: {answer}");
                    return answer["data"].clone();
                }
                // Whatever became of the call: the same key gets the same answer.
                Err(_) => {
                    self.up.wait_for(|up| *up).await.unwrap();
                }
            }
        }
    }

    /// Drafts an agent and waits for its end.
    async fn story(mut self, number: usize, done: Arc<AtomicUsize>) -> (String, Value) {
        let (order, _) = ENDS[number % ENDS.len()];
        let draft = json!({ "role": "runner", "prompt": order });
        let drafted =
            self.call("mcp__harness__draft_agent", &draft, &format!("draft-{number}")).await;
        let agent = drafted["agentId"].as_str().unwrap().to_owned();
        let wait = json!({ "agentId": agent, "waitSeconds": 100 });
        loop {
            let answer = self.call("mcp__harness__await_agent", &wait, "unused").await;
            if answer["status"] != "running" {
                done.fetch_add(1, Ordering::SeqCst);
                return (agent, answer);
            }
        }
    }
}

/// How often each agent began, as the agents say.
fn begun(world: &World) -> BTreeMap<String, usize> {
    let text = std::fs::read_to_string(world.project().join("ran.txt")).unwrap_or_default();
    text.lines().fold(BTreeMap::new(), |mut counts, line| {
        *counts.entry(line.to_owned()).or_default() += 1;
        counts
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_loses_no_agent_no_line_and_no_result() {
    let mut world = crate::world().await;
    world.set("ADJUTANT_LIMITS_RUNNING", "12");
    std::fs::write(world.project().join("crew.yaml"), SCENARIOS).unwrap();
    role(&world, "runner", "category: worker\nagent: script\nscript: crew.yaml");
    let mut server = world.up().await.unwrap();
    let url = server.url.clone();
    let http = Http::new(&url, world.operator().await.unwrap());
    let (says, up) = watch::channel(true);
    let done = Arc::new(AtomicUsize::new(0));
    let mut stories = JoinSet::new();
    for number in 0..AGENTS {
        let client = Patient { http: http.clone(), up: up.clone() };
        stories.spawn(client.story(number, Arc::clone(&done)));
    }
    // A kill whenever so many more have begun or ended: in the middle of everything.
    for kill in 1..=KILLS {
        let mark = kill * (2 * AGENTS - 20) / KILLS;
        until("enough has happened", || begun(&world).len() + done.load(Ordering::SeqCst) >= mark)
            .await;
        says.send(false).unwrap();
        server.kill().await.unwrap();
        server = world.up().await.unwrap();
        assert_eq!(server.url, url, "agents know only the old address");
        says.send(true).unwrap();
    }
    let mut ends = HashMap::new();
    while let Some(story) = stories.join_next().await {
        let (agent, answer) = story.unwrap();
        assert!(ends.insert(agent, answer).is_none(), "every call drafted an agent of its own");
    }
    assert_eq!(ends.len(), AGENTS);
    let listed = world.run(&["ps", "--all", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    let listed = listed["agents"].as_array().unwrap();
    assert_eq!(listed.len(), AGENTS, "nobody was drafted twice");
    let counts: HashMap<&str, usize> = listed.iter().fold(HashMap::new(), |mut counts, agent| {
        *counts.entry(agent["state"].as_str().unwrap()).or_default() += 1;
        counts
    });
    assert_eq!(counts, HashMap::from([("succeeded", AGENTS / 4), ("failed", AGENTS / 4 * 3)]));
    let begun = begun(&world);
    assert_eq!(begun.len(), AGENTS);
    assert!(begun.values().all(|times| *times == 1), "somebody ran twice: {begun:?}");
    for (agent, answer) in &ends {
        let logs = world.run(&["logs", "--raw", agent]).await.unwrap().ok().unwrap().stdout;
        let said: Vec<&str> = logs.lines().filter(|line| line.starts_with("line ")).collect();
        let expected: Vec<String> = (1..=LINES).map(|line| format!("line {line}")).collect();
        assert_eq!(said, expected, "{agent}: {answer}");
    }
    assert_eq!(leftovers(&world), Vec::<String>::new());
    world.run(&["audit", "verify"]).await.unwrap().ok().unwrap();
    server.stop().await.unwrap();
}
