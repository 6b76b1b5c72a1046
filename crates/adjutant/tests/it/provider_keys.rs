//! Provider keys are in no file, and an agent that waits over a restart gets them from who has them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use testkit::World;

use crate::crew::{crew, until};
use crate::kill::{answer, draft, ended, is_there, stage, states};

const KEY: &str = "sk-ant-s3cret-value-of-a-provider";

const SCENARIOS: &str = r#"
scenarios:
  keeper:
    steps:
      - &note {run: [sh, -c, 'printf %s "${#ANTHROPIC_API_KEY}" > "length-$ADJUTANT_AGENT_ID"']}
      - write: {path: ready, text: 'yes'}
      - wait_file: {path: go}
  heir:
    steps: [*note]
  parent:
    steps:
      - call: draft_agent
        with: {role: hand, prompt: heir}
        save: child
      - write: {path: ready, text: 'yes'}
      - wait_file: {path: go}
      - call: await_agent
        with: {agentId: '{{child.agentId}}'}
        until: {status: completed}
"#;

async fn with_key() -> World {
    let variables = [
        ("ADJUTANT_LIMITS_RUNNING", "1"),
        ("ADJUTANT_AGENTS_SCRIPT_ENVIRONMENT", "ANTHROPIC_API_KEY"),
        ("ANTHROPIC_API_KEY", KEY),
    ];
    stage(SCENARIOS, &variables).await
}

/// The files of the project, its state among them, that have the key in them.
fn files_with_key(world: &World) -> Vec<PathBuf> {
    files_with_key_below(&world.project(), KEY)
}

/// The files below a folder that have a text in them.
pub(crate) fn files_with_key_below(folder: &Path, key: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files_with_key_below(&path, key)),
            Ok(kind) if kind.is_file() => {
                // One that went meanwhile has nothing in it.
                let bytes = fs::read(&path).unwrap_or_default();
                if bytes.windows(key.len()).any(|part| part == key.as_bytes()) {
                    found.push(path);
                }
            }
            _ => {}
        }
    }
    found
}

/// Length of the key in an agent's environment.
fn length(world: &World, agent: &str) -> Option<String> {
    fs::read_to_string(world.project().join(format!("length-{agent}"))).ok()
}

#[tokio::test]
async fn no_file_has_a_provider_key_while_its_agent_runs_or_after() {
    let world = with_key().await;
    let server = world.up().await.unwrap();
    let agent = draft(&world, "hand", "keeper").await;
    until("it runs", || is_there(&world, "ready")).await;
    assert_eq!(length(&world, &agent), Some(KEY.len().to_string()), "it has the key");
    let nothing: [PathBuf; 0] = [];
    assert_eq!(files_with_key(&world), nothing);
    server.kill().await.unwrap();
    assert_eq!(files_with_key(&world), nothing, "after a SIGKILL");
    let _server = world.up().await.unwrap();
    fs::write(world.project().join("go"), "").unwrap();
    assert_eq!(ended(&world, &agent).await, "succeeded");
    assert_eq!(files_with_key(&world), nothing, "after its end");
}

#[tokio::test]
async fn keys_in_old_run_folders_are_removed_by_the_next_start() {
    let world = with_key().await;
    let old = world.state_dir().join("runs/sp_0123456789abcdef/1");
    fs::create_dir_all(&old).unwrap();
    let spec = json!({
        "program": "/bin/true", "arguments": [], "directory": "/", "stdin": "closed",
        "environment": [["ANTHROPIC_API_KEY", KEY]], "time_limit_ms": null, "grace_ms": 1,
        "max_output_bytes": 1,
    });
    fs::write(old.join("spec.json"), spec.to_string()).unwrap();
    fs::write(old.join("claim"), "supervisor\n").unwrap();
    assert_eq!(files_with_key(&world).len(), 1);
    let _server = world.up().await.unwrap();
    until("the old folder is clean", || files_with_key(&world).is_empty()).await;
    let left = fs::read_to_string(old.join("spec.json")).unwrap();
    assert!(left.contains("ANTHROPIC_API_KEY"), "{left}");
}

#[tokio::test]
async fn a_queued_agent_whose_key_is_missing_says_so_and_waits_for_it() {
    let mut world = with_key().await;
    let server = world.up().await.unwrap();
    let first = draft(&world, "hand", "keeper").await;
    let second = draft(&world, "hand", "heir").await;
    until("the first runs", || is_there(&world, "ready")).await;
    server.kill().await.unwrap();
    world.set("ANTHROPIC_API_KEY", "");
    let server = world.up().await.unwrap();
    fs::write(world.project().join("go"), "").unwrap();
    assert_eq!(ended(&world, &first).await, "succeeded");
    // It has a place now, and nothing to start with.
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    let reason = loop {
        let agents = crew(&world).await;
        let found = agents.iter().find(|agent| agent["id"] == second.as_str()).unwrap().clone();
        assert_eq!(found["state"], "queued", "{found}");
        if let Some(reason) = found["reason"].as_str() {
            break reason.to_owned();
        }
        assert!(tokio::time::Instant::now() < deadline, "{found}");
    };
    assert!(reason.contains("`ANTHROPIC_API_KEY`"), "{reason}");
    let listed = world.run(&["ps"]).await.unwrap().ok().unwrap().stdout;
    assert!(listed.contains("`ANTHROPIC_API_KEY`"), "{listed}");
    // One that needs no such variable is not kept from its turn.
    let third = draft(&world, "hand", "heir").await;
    assert_eq!(ended(&world, &third).await, "succeeded");
    assert_eq!(states(&world).await, ["succeeded", "queued", "succeeded"]);
    server.kill().await.unwrap();
    world.set("ANTHROPIC_API_KEY", KEY);
    let _server = world.up().await.unwrap();
    assert_eq!(ended(&world, &second).await, "succeeded");
    assert_eq!(length(&world, &second), Some(KEY.len().to_string()));
}

#[tokio::test]
async fn a_queued_child_gets_its_key_from_its_parents_supervisor() {
    let mut world = with_key().await;
    let server = world.up().await.unwrap();
    let parent = draft(&world, "lead", "parent").await;
    until("its child waits", || is_there(&world, "ready")).await;
    server.kill().await.unwrap();
    world.set("ANTHROPIC_API_KEY", "");
    let _server = world.up().await.unwrap();
    fs::write(world.project().join("go"), "").unwrap();
    assert_eq!(ended(&world, &parent).await, "succeeded");
    let agents = answer(&world, &["ps", "--all"]).await["agents"].clone();
    let child = agents[1]["id"].as_str().unwrap();
    assert_eq!(length(&world, child), Some(KEY.len().to_string()));
}
