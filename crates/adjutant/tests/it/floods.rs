//! Agents that say far too much, in odd ways, or nothing any more: memory stays bounded, and the record
//! is clear.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{Server, World};

use crate::crew::{leftovers, role, until};
use crate::kill::{answer, draft, ended, events, is_there, stage, supervisor, until_is};

const SCENARIOS: &str = r"
scenarios:
  flood:
    steps:
      - say: the beginning
      - print: {bytes: 200000000, line: 4000}
      - result: {summary: flooded}
  long:
    steps:
      - print: {bytes: 50000000, line: 50000000}
      - say: after the line
      - result: {summary: long}
  noise:
    steps:
      - print: {bytes: 100000, utf8: false}
      - say: after the noise
      - result: {summary: noise}
  mute:
    steps:
      - say: the last words
      - write: {path: spoken, text: ''}
      - wait_file: {path: hush}
      - close_output: true
      - wait_file: {path: unheard}
      - call: system_log_decision
        with: {title: still here, body: though nobody hears me}
";

/// How much memory a server has used at most, in kilobytes.
fn most_memory(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid().unwrap())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// How an agent's only attempt ended, as its supervisor wrote it down.
fn exit(world: &World, agent: &str) -> Value {
    let file = world.state_dir().join("runs").join(agent).join("1/exit.json");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Names of the pipes that a process has open as these file descriptors, or as any if none are given.
fn pipes(pid: &str, descriptors: &[&str]) -> Vec<PathBuf> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let named = |entry: &fs::DirEntry| {
        descriptors.is_empty() || descriptors.iter().any(|number| entry.file_name() == *number)
    };
    let targets = open.filter(named).filter_map(|entry| fs::read_link(entry.path()).ok());
    targets.filter(|target| target.to_string_lossy().starts_with("pipe:")).collect()
}

async fn logs(world: &World, agent: &str) -> String {
    world.run(&["logs", agent]).await.unwrap().ok().unwrap().stdout
}

#[tokio::test]
async fn a_flood_is_bounded_in_memory_and_on_disk() {
    let world = stage(SCENARIOS, &[("ADJUTANT_LIMITS_MAX_OUTPUT_BYTES", "4000000")]).await;
    let server = world.up().await.unwrap();
    let before = most_memory(&server);
    let ran = answer(&world, &["run", "--role", "hand", "flood"]).await;
    assert_eq!(
        (&ran["state"], &ran["result"]["summary"]),
        (&json!("succeeded"), &json!("flooded"))
    );
    let agent = ran["agentId"].as_str().unwrap();
    let grown = most_memory(&server) - before;
    assert!(grown < 200_000, "{grown} kB more");
    let exit = exit(&world, agent);
    assert!(exit["bytes"].as_u64().unwrap() > 200_000_000, "{exit}");
    let dropped = exit["droppedBytes"].as_u64().unwrap();
    assert!(dropped > 190_000_000, "{exit}");
    let kept: u64 = fs::read_dir(world.state_dir().join("runs").join(agent).join("1"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert!(kept < 5_000_000, "{kept}");
    let warned = events(&world, "agent.warned").await;
    let said = warned.iter().any(|event| event["data"]["warning"].to_string().contains("dropped"));
    assert!(said, "{warned:?}");
    let logs = logs(&world, agent).await;
    assert!(logs.contains("the beginning") && logs.contains("flooded"), "head and tail are there");
}

#[tokio::test]
async fn a_line_without_end_is_bounded_in_memory() {
    let world = stage(SCENARIOS, &[]).await;
    let server = world.up().await.unwrap();
    let before = most_memory(&server);
    let ran = answer(&world, &["run", "--role", "hand", "long"]).await;
    assert_eq!((&ran["state"], &ran["result"]["summary"]), (&json!("succeeded"), &json!("long")));
    let grown = most_memory(&server) - before;
    assert!(grown < 200_000, "{grown} kB more");
    let logs = logs(&world, ran["agentId"].as_str().unwrap()).await;
    assert!(logs.contains("bytes of this line were left out"), "{}", logs.len());
    assert!(logs.contains("after the line"));
}

#[tokio::test]
async fn noise_and_silence_are_accepted() {
    let world = stage(SCENARIOS, &[]).await;
    let _server = world.up().await.unwrap();
    let noise = answer(&world, &["run", "--role", "hand", "noise"]).await;
    assert_eq!(
        (&noise["state"], &noise["result"]["summary"]),
        (&json!("succeeded"), &json!("noise"))
    );
    let heard = logs(&world, noise["agentId"].as_str().unwrap()).await;
    assert!(heard.contains('\u{fffd}') && heard.contains("after the noise"));

    let agent = draft(&world, "hand", "mute").await;
    until("the agent has spoken", || is_there(&world, "spoken")).await;
    let supervisor = supervisor(&world, &agent);
    let children = format!("/proc/{supervisor}/task/{supervisor}/children");
    let children = fs::read_to_string(children).unwrap();
    let outputs = pipes(children.split_whitespace().next().unwrap(), &["1", "2"]);
    let is_heard = || {
        let heard = pipes(&supervisor, &[]);
        outputs.iter().any(|pipe| heard.contains(pipe))
    };
    assert!(is_heard(), "the supervisor reads {outputs:?}");
    fs::write(world.project().join("hush"), "").unwrap();
    until("the supervisor has read the end of the output", || !is_heard()).await;
    fs::write(world.project().join("unheard"), "").unwrap();
    let mute = answer(&world, &["await", &agent]).await;
    assert_eq!(
        (&mute["state"], &mute["result"]["summary"]),
        (&json!("succeeded"), &json!("the last words"))
    );
    let decisions = answer(&world, &["decisions"]).await;
    assert!(decisions.to_string().contains("still here"), "it went on: {decisions}");
    assert_eq!(leftovers(&world), Vec::<String>::new());
}

#[tokio::test]
async fn an_endless_flood_is_ended_by_a_kill() {
    let variables =
        [("ADJUTANT_LIMITS_MAX_OUTPUT_BYTES", "4000000"), ("ADJUTANT_LIMITS_GRACE", "500")];
    let world = stage(SCENARIOS, &variables).await;
    role(&world, "endless", "category: worker\nagent: command\ncommand: ['yes']");
    let server = world.up().await.unwrap();
    let agent = draft(&world, "endless", "Say yes").await;
    until_is(&world, &agent, "running").await;
    let killed = answer(&world, &["kill", &agent]).await;
    assert_eq!(killed["success"], true, "{killed}");
    assert_eq!(ended(&world, &agent).await, "killed");
    assert_eq!(leftovers(&world), Vec::<String>::new());
    server.stop().await.unwrap();
}
