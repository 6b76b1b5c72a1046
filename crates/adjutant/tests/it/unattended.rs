//! An agent that keeps the server from its supervisor is read, charged and ended all the same; and one that
//! is killed is asked first, in its own protocol.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use serde_json::Value;
use testkit::World;

use crate::crew::{leftovers, role, until};
use crate::going_on::claude;
use crate::kill::{answer, draft, ended, is_there, lines, stage, states, until_is};

/// Takes its socket away, and goes on.
const SCENARIOS: &str = r"
scenarios:
  hide:
    steps:
      - &hide {run: [sh, hide.sh]}
      - &ready {write: {path: ready, text: 'yes'}}
      - sleep: 1000
  spend:
    steps:
      - *hide
      - *ready
      - wait_file: {path: go}
      - repeat: {times: 1000, steps: [{burn: {input_tokens: 10, output_tokens: 10, cost_usd: 0.05}}, {sleep: 0.05}]}
  rest:
    steps:
      - *ready
      - sleep: 1000
  buy:
    steps:
      - *ready
      - wait_file: {path: go}
      - repeat: {times: 1000, steps: [{burn: {input_tokens: 10, output_tokens: 10, cost_usd: 0.05}}, {sleep: 0.05}]}
";

const HIDE: &str = r#"
until [ -e "$ADJUTANT_RUN/supervisor.json" ]; do :; done
rm -f "$(sed 's/.*"socket":"\([^"]*\)".*/\1/' "$ADJUTANT_RUN/supervisor.json")"
rm -f "$ADJUTANT_RUN/control" "$ADJUTANT_RUN/supervisor.json"
"#;

/// A short grace, so that nothing takes long.
const GRACE: (&str, &str) = ("ADJUTANT_LIMITS_GRACE", "500");

async fn hiding() -> World {
    let world = stage(SCENARIOS, &[GRACE]).await;
    fs::write(world.project().join("hide.sh"), HIDE).unwrap();
    world
}

/// The folder of an agent's first attempt.
fn folder(world: &World, agent: &str) -> PathBuf {
    world.state_dir().join("runs").join(agent).join("1")
}

#[tokio::test]
async fn an_agent_without_a_socket_is_killed() {
    let world = hiding().await;
    let server = world.up().await.unwrap();
    let agent = draft(&world, "hand", "hide").await;
    until("it has hidden", || is_there(&world, "ready")).await;
    assert!(!folder(&world, &agent).join("supervisor.json").exists());
    // The next server has never been connected to it.
    server.kill().await.unwrap();
    let _server = world.up().await.unwrap();
    assert_eq!(answer(&world, &["kill", &agent]).await["success"], true);
    assert_eq!(leftovers(&world), Vec::<String>::new());
    assert_eq!(states(&world).await, ["killed"]);
}

#[tokio::test]
async fn an_agent_without_a_socket_is_charged_and_stopped_at_its_budget() {
    let world = hiding().await;
    let server = world.up().await.unwrap();
    let typed = ["draft", "--role", "hand", "--budget", "0.20", "spend"];
    let drafted = answer(&world, &typed).await;
    let agent = drafted["agentId"].as_str().unwrap().to_owned();
    until("it has hidden", || is_there(&world, "ready")).await;
    server.kill().await.unwrap();
    let _server = world.up().await.unwrap();
    fs::write(world.project().join("go"), "").unwrap();
    assert_eq!(ended(&world, &agent).await, "over_budget");
    assert_eq!(leftovers(&world), Vec::<String>::new());
}

#[tokio::test]
async fn an_agent_that_names_a_socket_of_its_own_is_charged_and_stopped_at_its_budget() {
    let world = hiding().await;
    let server = world.up().await.unwrap();
    let typed = ["draft", "--role", "hand", "--budget", "0.20", "buy"];
    let drafted = answer(&world, &typed).await;
    let agent = drafted["agentId"].as_str().unwrap().to_owned();
    until("it runs", || is_there(&world, "ready")).await;
    server.kill().await.unwrap();
    let path = world.scratch().join("forged");
    let _listener = UnixListener::bind(&path).unwrap();
    let file = folder(&world, &agent).join("supervisor.json");
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    record["socket"] = path.display().to_string().into();
    fs::write(&file, record.to_string()).unwrap();
    let _server = world.up().await.unwrap();
    fs::write(world.project().join("go"), "").unwrap();
    assert_eq!(ended(&world, &agent).await, "over_budget");
    assert_eq!(leftovers(&world), Vec::<String>::new());
}

#[tokio::test]
async fn who_holds_every_connection_of_a_supervisor_does_not_save_its_agent() {
    let world = hiding().await;
    let server = world.up().await.unwrap();
    let agent = draft(&world, "hand", "rest").await;
    until("it runs", || is_there(&world, "ready")).await;
    server.kill().await.unwrap();
    let record = folder(&world, &agent).join("supervisor.json");
    let record: Value = serde_json::from_str(&fs::read_to_string(record).unwrap()).unwrap();
    let path = record["socket"].as_str().unwrap();
    let held: Vec<UnixStream> = (0..64).map(|_| UnixStream::connect(path).unwrap()).collect();
    let _server = world.up().await.unwrap();
    assert_eq!(answer(&world, &["kill", &agent]).await["success"], true);
    assert_eq!(leftovers(&world), Vec::<String>::new());
    drop(held);
}

/// Returns whether one line was heard, and before the signal if that came at all.
fn is_asked_first(world: &World, words: &str) -> bool {
    let heard = lines(world, "heard");
    let at = |words: &str| heard.iter().position(|line| line.contains(words));
    match (at(words), at("SIGTERM")) {
        (Some(asked), Some(signal)) => asked < signal,
        (asked, _) => asked.is_some(),
    }
}

const ACP: &str = r#"#!/bin/sh
trap 'echo SIGTERM >> heard' TERM
while read -r line; do
  printf '%s\n' "$line" >> heard
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}}}}' ;;
    *'"session/new"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"s-1"}}' ;;
    *'"session/prompt"'*) prompt=$id; : > ready ;;
    *'"session/cancel"'*) echo '{"jsonrpc":"2.0","id":'$prompt',"result":{"stopReason":"cancelled"}}' ;;
  esac
done
"#;

const CODEX: &str = r#"#!/bin/sh
trap 'echo SIGTERM >> heard' TERM
while read -r line; do
  printf '%s\n' "$line" >> heard
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"id":'$id',"result":{}}' ;;
    *'"thread/start"'*) echo '{"id":'$id',"result":{"thread":{"id":"t-1"}}}' ;;
    *'"turn/start"'*) echo '{"id":'$id',"result":{"turn":{"id":"turn-1"}}}'; : > ready ;;
    *'"turn/interrupt"'*) echo '{"id":'$id',"result":{}}'
      echo '{"method":"turn/completed","params":{"threadId":"t-1","turn":{"id":"turn-1","status":"interrupted"}}}' ;;
  esac
done
"#;

/// A program of the project that the tests wrote.
fn script(world: &World, name: &str, text: &str) -> PathBuf {
    let program = world.project().join(name);
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[tokio::test]
async fn a_killed_codex_is_asked_to_interrupt_its_turn_first() {
    let mut world = stage(SCENARIOS, &[]).await;
    let program = script(&world, "codex.sh", CODEX);
    world.set("ADJUTANT_AGENTS_CODEX_BINARY", program.display().to_string());
    role(&world, "codex-hand", "category: worker\nagent: codex");
    let _server = world.up().await.unwrap();
    let agent = draft(&world, "codex-hand", "Work").await;
    until("it works", || is_there(&world, "ready")).await;
    until_is(&world, &agent, "running").await;
    assert_eq!(answer(&world, &["kill", &agent]).await["success"], true);
    assert!(is_asked_first(&world, "turn/interrupt"), "{:?}", lines(&world, "heard"));
    assert_eq!(states(&world).await, ["killed"]);
}

#[tokio::test]
async fn a_killed_acp_agent_is_asked_to_cancel_first() {
    let world = stage(SCENARIOS, &[]).await;
    let program = script(&world, "acp.sh", ACP);
    role(&world, "speaker", &format!("category: worker\nagent: acp\nacp: [{}]", program.display()));
    let _server = world.up().await.unwrap();
    let agent = draft(&world, "speaker", "Work").await;
    until("it works", || is_there(&world, "ready")).await;
    until_is(&world, &agent, "running").await;
    assert_eq!(answer(&world, &["kill", &agent]).await["success"], true);
    assert!(is_asked_first(&world, "session/cancel"), "{:?}", lines(&world, "heard"));
    assert_eq!(states(&world).await, ["killed"]);
}

#[tokio::test]
async fn a_killed_claude_is_asked_to_interrupt_first() {
    let mut world = stage(SCENARIOS, &[]).await;
    let body = "trap 'echo SIGTERM >> heard' TERM\n\
        say '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\",\"model\":\"m\",\"mcp_servers\":[]}'\n\
        : > ready\nhear\nexit 0\n";
    claude(&mut world, body);
    let _server = world.up().await.unwrap();
    let agent = draft(&world, "claude-hand", "Work").await;
    until("it works", || is_there(&world, "ready")).await;
    until_is(&world, &agent, "running").await;
    assert_eq!(answer(&world, &["kill", &agent]).await["success"], true);
    assert!(is_asked_first(&world, "\"interrupt\""), "{:?}", lines(&world, "heard"));
    assert_eq!(states(&world).await, ["killed"]);
}
