//! Thousands who wait for hundreds of agents: all hear of the end with the right answer, one that leaves
//! changes nothing, a killed server only interrupts, and a result stays.

use std::collections::HashMap;
use std::fs;

use serde_json::{Value, json};
use testkit::{Http, Server, World};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::crew::{role, until};

const ENLISTED: usize = 480;
const STARTED: usize = 20;
/// So many wait for each agent.
const EACH: usize = 4;
/// All who wait must not cost more; in a build for tests everything is larger.
const MOST_KILOBYTES: u64 = 200_000;

/// A role whose agents wait at a gate and then say who they are.
async fn gate(world: &World, name: &str) {
    world.shell(&format!("mkfifo {name}")).await.unwrap().ok().unwrap();
    let command = json!(["sh", "-c", format!("cat {name}; echo I am $ADJUTANT_AGENT_ID")]);
    role(world, name, &format!("category: worker\nagent: command\ncommand: {command}"));
}

/// Lets everybody through who waits at a gate.
async fn open(world: &World, name: &str) {
    world.shell(&format!(": > {name}")).await.unwrap().ok().unwrap();
}

async fn draft(http: &Http, role: &str) -> String {
    let input = json!({ "role": role, "prompt": "Wait, then say who you are." });
    let drafted = http.call("mcp__harness__draft_agent", input).await.unwrap().unwrap();
    drafted["agentId"].as_str().unwrap().to_owned()
}

async fn enlist(http: &Http) -> String {
    let (_, joined) = http.post("/api/agents", &json!({ "role": "worker" })).await.unwrap();
    joined["agentId"].as_str().unwrap().to_owned()
}

async fn discharge(http: &Http, agent: &str) {
    let reason = json!({ "reason": format!("{agent} was let go") });
    let path = format!("/api/agents/{agent}/discharge");
    assert!(http.post(&path, &reason).await.unwrap().0.is_success());
}

/// Waits for an agent; nothing where the server went away.
async fn wait(http: &Http, agent: &str, seconds: u32) -> Option<Value> {
    let input = json!({ "agentId": agent, "waitSeconds": seconds });
    Some(http.call("mcp__harness__await_agent", input).await.ok()?.unwrap())
}

/// Looks whether an answer is what became of that agent and of no other.
fn check(agent: &str, answer: &Value) {
    assert_eq!((&answer["status"], &answer["state"]), (&json!("completed"), &json!("succeeded")));
    let told = match answer["result"]["summary"].as_str() {
        Some(summary) => summary.trim() == format!("I am {agent}"),
        None => answer["reason"] == format!("{agent} was let go"),
    };
    assert!(told, "{agent}: {answer}");
}

async fn agents(http: &Http) -> Vec<String> {
    let mut agents = Vec::new();
    for _ in 0..ENLISTED {
        agents.push(enlist(http).await);
    }
    for _ in 0..STARTED {
        agents.push(draft(http, "gate").await);
    }
    agents
}

fn memory(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid().unwrap())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// How many connections and files a server holds.
fn open_files(server: &Server) -> usize {
    fs::read_dir(format!("/proc/{}/fd", server.pid().unwrap())).unwrap().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_who_wait_all_hear_the_right_end() {
    // Each who waits has a connection, here as there.
    host::process::raise_open_files().unwrap();
    let mut world = crate::world().await;
    world.set("ADJUTANT_LIMITS_RUNNING", STARTED.to_string());
    gate(&world, "gate").await;
    let server = world.up().await.unwrap();
    let http = Http::new(&server.url, world.operator().await.unwrap());
    let agents = agents(&http).await;
    let before = memory(&server);
    let mut waiting = JoinSet::new();
    for agent in agents.iter().cycle().take(agents.len() * EACH) {
        let (http, agent) = (http.clone(), agent.clone());
        waiting.spawn(async move { (wait(&http, &agent, 240).await.unwrap(), agent) });
    }
    until("all wait", || open_files(&server) >= agents.len() * EACH).await;
    let more = memory(&server).saturating_sub(before);
    assert!(more < MOST_KILOBYTES, "{more} kB for those who wait");
    assert!(waiting.try_join_next().is_none(), "nobody has ended yet");
    open(&world, "gate").await;
    for agent in &agents[..ENLISTED] {
        discharge(&http, agent).await;
    }
    let mut heard: HashMap<String, usize> = HashMap::new();
    while let Some(answer) = waiting.join_next().await {
        let (answer, agent) = answer.unwrap();
        check(&agent, &answer);
        *heard.entry(agent).or_default() += 1;
    }
    assert_eq!(heard.len(), agents.len());
    assert!(heard.values().all(|count| *count == EACH));

    // A result stays: for many, again and again, and after a restart.
    server.kill().await.unwrap();
    let server = world.up().await.unwrap();
    let http = Http::new(&server.url, world.operator().await.unwrap());
    let mut readers = JoinSet::new();
    for agent in agents.iter().skip(ENLISTED - 10).take(20).cycle().take(400) {
        let (http, agent) = (http.clone(), agent.clone());
        readers.spawn(async move { (wait(&http, &agent, 0).await.unwrap(), agent) });
    }
    while let Some(answer) = readers.join_next().await {
        let (answer, agent) = answer.unwrap();
        check(&agent, &answer);
    }
    server.stop().await.unwrap();
}

/// Waits over MCP until it has been told of progress twice, and leaves.
async fn hear_progress_and_leave(url: &str, token: &str, agent: &str) {
    let address = url.trim_start_matches("http://");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "progressToken": "mine",
    });
    let arguments = json!({ "agentId": agent, "waitSeconds": 240 });
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "await_agent", "arguments": arguments, "_meta": meta },
    });
    let body = body.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: await_agent\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = BufReader::new(TcpStream::connect(address).await.unwrap());
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut lines, mut told) = (stream.lines(), Vec::new());
    while told.len() < 2 {
        let line = lines.next_line().await.unwrap().unwrap();
        let Some(event) = line.strip_prefix("data: ").filter(|event| !event.trim().is_empty())
        else {
            assert!(!line.starts_with("HTTP/1.1 4"), "{line}");
            continue;
        };
        let event: Value = serde_json::from_str(event).unwrap();
        assert_eq!(event["method"], "notifications/progress", "{event}");
        assert_eq!(event["params"]["progressToken"], "mine");
        told.push(event["params"]["progress"].as_f64().unwrap());
    }
    assert!(told[0] < told[1], "progress goes on: {told:?}");
}

#[tokio::test]
async fn who_waits_is_told_of_progress_and_leaves_without_harm() {
    let mut world = crate::world().await;
    world.set("ADJUTANT_MCP_PROGRESS_INTERVAL", "20");
    gate(&world, "gate").await;
    let server = world.up().await.unwrap();
    let token = world.operator().await.unwrap();
    let http = Http::new(&server.url, &token);
    let agent = draft(&http, "gate").await;
    let stays = {
        let (http, agent) = (http.clone(), agent.clone());
        async move { wait(&http, &agent, 240).await.unwrap() }
    };
    let leave = async {
        let mut leaving = JoinSet::new();
        for _ in 0..20 {
            let (url, token, agent) = (server.url.clone(), token.clone(), agent.clone());
            leaving.spawn(async move { hear_progress_and_leave(&url, &token, &agent).await });
        }
        while let Some(left) = leaving.join_next().await {
            left.unwrap();
        }
        let standing = wait(&http, &agent, 0).await.unwrap();
        assert_eq!(standing["status"], "running", "who leaves ends nobody: {standing}");
        open(&world, "gate").await;
    };
    let (answer, ()) = tokio::join!(stays, leave);
    check(&agent, &answer);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_wait_that_a_killed_server_cut_short_is_answered_when_called_again() {
    let world = crate::world().await;
    gate(&world, "early").await;
    gate(&world, "late").await;
    let server = world.up().await.unwrap();
    let url = server.url.clone();
    let http = Http::new(&url, world.operator().await.unwrap());
    let (early, late) = (draft(&http, "early").await, draft(&http, "late").await);
    let file =
        |agent: &str, name: &str| world.state_dir().join("runs").join(agent).join("1").join(name);
    until("both run", || {
        [&early, &late].iter().all(|agent| file(agent, "supervisor.json").exists())
    })
    .await;
    let cut = tokio::join!(wait(&http, &early, 240), wait(&http, &late, 240), async {
        server.kill().await.unwrap();
    });
    assert!(cut.0.is_none() && cut.1.is_none(), "the server is gone: {cut:?}");
    // One ends while nobody is there to see it, the other when the server is back.
    open(&world, "early").await;
    until("it has ended", || file(&early, "exit.json").exists()).await;
    let server = world.up().await.unwrap();
    assert_eq!(server.url, url);
    check(&early, &wait(&http, &early, 240).await.unwrap());
    let (answer, ()) = tokio::join!(wait(&http, &late, 240), open(&world, "late"));
    check(&late, &answer.unwrap());
    server.stop().await.unwrap();
}
