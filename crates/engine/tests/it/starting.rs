//! An agent whose supervisor dies before it begins it.

use std::path::Path;

use engine::settings::{Role, Settings};
use engine::{Call, CrewService, Engine, Options, Principal, Progress, by_name};
use model::agent::{AgentState, Outcome};
use model::{AgentId, Timestamp};
use serde_json::{Value, json};
use store::{StopRequest, Store};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

async fn call(engine: &Engine, tool: &str, input: Value) -> Value {
    let tool = by_name(tool).unwrap();
    let call = Call { principal: Principal::Operator, as_agent: None, tool, input, key: None };
    let answer = engine.call(call, &Progress::default()).await;
    answer.map_err(|failure| failure.body()).unwrap().value()
}

/// An engine whose role `hand` runs `true` under a supervisor of this program.
fn engine_with(folder: &Path, supervisor: &str) -> Engine {
    let store = Store::open(&folder.join("state.db")).unwrap();
    let role = Role {
        name: "hand".into(),
        category: "worker".into(),
        kind: Some("command".into()),
        programs: [("command".to_owned(), vec!["true".to_owned()])].into_iter().collect(),
        ..Role::default()
    };
    let mut settings = Settings::default();
    settings.roles.insert("hand".into(), role);
    let options = Options {
        adjutant: supervisor.into(),
        agent_environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        ..Options::new(folder.to_owned(), "nobody's".into())
    };
    Engine::new(store, settings, options)
}

#[tokio::test]
async fn an_agent_that_never_began_is_queued_again_and_given_up_after_three_starts() {
    let folder = tempfile::tempdir().unwrap();
    // Every supervisor dies before it takes the claim.
    let engine = engine_with(folder.path(), "/bin/false");
    let (tasks, shutdown) = (TaskTracker::new(), CancellationToken::new());
    tasks.spawn(CrewService::new(&engine, tasks.clone(), shutdown.clone()).run());
    let draft = json!({ "role": "hand", "prompt": "work" });
    let agent = call(&engine, "mcp__harness__draft_agent", draft).await["agentId"].clone();
    let ended = loop {
        let wait = json!({ "agentId": agent, "waitSeconds": 100 });
        let answer = call(&engine, "mcp__harness__await_agent", wait).await;
        if answer["status"] != "running" {
            break answer;
        }
    };
    assert_eq!(ended["state"], "lost", "{ended}");
    let runs = folder.path().join(".adjutant/runs").join(agent.as_str().unwrap());
    let attempts: Vec<bool> = (1..=4).map(|n: u32| runs.join(n.to_string()).is_dir()).collect();
    assert_eq!(attempts, [true, true, true, false]);
    shutdown.cancel();
    tasks.close();
    tasks.wait().await;
}

#[tokio::test]
async fn an_agent_that_was_ended_before_it_began_is_not_started_by_the_next_server() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with(folder.path(), "/bin/false");
    let draft = json!({ "role": "hand", "prompt": "work" });
    let agent = call(&engine, "mcp__harness__draft_agent", draft).await["agentId"].clone();
    // A server that died when its turn had come, and nothing of it was there yet.
    let id: AgentId = agent.as_str().unwrap().parse().unwrap();
    let store = Store::open(&folder.path().join("state.db")).unwrap();
    let stop = StopRequest { outcome: Outcome::Killed, reason: "killed by the operator".into() };
    let begin = store.write(move |tx| {
        let now = Timestamp::from_millis(1_800_000_000_000);
        tx.run_begin(id, None, None, now)?;
        tx.agent_advance(id, &AgentState::Starting, now)?;
        tx.run_stop(id, &stop)
    });
    assert!(begin.await.unwrap());
    store.close().await;
    let (tasks, shutdown) = (TaskTracker::new(), CancellationToken::new());
    tasks.spawn(CrewService::new(&engine, tasks.clone(), shutdown.clone()).run());
    let wait = json!({ "agentId": agent, "waitSeconds": 100 });
    let ended = call(&engine, "mcp__harness__await_agent", wait).await;
    assert_eq!(ended["state"], "killed", "{ended}");
    assert!(!folder.path().join(".adjutant/runs").exists(), "nothing of it was started");
    shutdown.cancel();
    tasks.close();
    tasks.wait().await;
}
