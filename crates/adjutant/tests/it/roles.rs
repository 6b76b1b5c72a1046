//! Permissions of live agents whose role file breaks or disappears.

use std::fs;

use serde_json::{Value, json};
use testkit::{Http, World};

use crate::crew::{role, until};
use crate::kill::{draft, is_there, operator, stage};

const SCENARIOS: &str = "
scenarios:
  stay:
    steps: [{write: {path: there, text: ''}}, {wait_file: {path: go}}]
";

const FRONT: &str = "category: worker\ndeny: [mcp__mail__send]\nagent: script\nscript: crew.yaml";

/// Calls a tool in an agent's name and gives the code of its error, if it failed.
async fn code(http: &Http, agent: &str, tool: &str, input: Value) -> Option<String> {
    let body = json!({ "agentId": agent, "toolName": tool, "input": input });
    let (_, answer) = http.post("/mcp/execute", &body).await.unwrap();
    let error = answer.pointer("/error/code").or_else(|| answer.get("code"));
    error.and_then(Value::as_str).map(str::to_owned)
}

/// A denied tool is denied and an allowed one allowed, to each of them.
async fn holds(http: &Http, agents: &[&str], when: &str) {
    let letter = json!({ "toHuman": true, "subject": "Hi", "body": "Hi" });
    for agent in agents {
        let denied = code(http, agent, "mcp__mail__send", letter.clone()).await;
        assert_eq!(denied.as_deref(), Some("PERMISSION_DENIED"), "{when}: {agent}");
        let allowed = code(http, agent, "mcp__mail__list_inbox", json!({})).await;
        assert_eq!(allowed, None, "{when}: {agent}");
    }
}

async fn reload(world: &World) -> String {
    world.run(&["reload"]).await.unwrap().ok().unwrap().stdout
}

#[tokio::test]
async fn a_broken_or_missing_role_gives_its_agents_nothing_more() {
    let world = stage(SCENARIOS, &[]).await;
    role(&world, "guard", FRONT);
    let mut server = world.up().await.unwrap();
    let drafted = draft(&world, "guard", "stay").await;
    until("the agent runs", || is_there(&world, "there")).await;
    let enlisted = world.enlist("guard", &[]).await.unwrap().id;
    let both = [drafted.as_str(), enlisted.as_str()];
    let mut http = operator(&world, &server).await;
    holds(&http, &both, "as written").await;
    let file = world.home().join("roles/guard.md");
    let broken = [
        ("a pattern is wrong", FRONT.replace("mcp__mail__send", "mcp__mial__send")),
        ("the category is unknown", FRONT.replace("worker", "wroker")),
        ("a key is mistyped", FRONT.replace("deny", "denny")),
        ("it is no YAML", FRONT.replace("[mcp", "{mcp")),
    ];
    for (when, front) in broken {
        role(&world, "guard", &front);
        assert!(reload(&world).await.contains("use the last good version"), "{when}");
        holds(&http, &both, when).await;
    }
    fs::remove_file(&file).unwrap();
    reload(&world).await;
    holds(&http, &both, "the file is gone").await;
    server.kill().await.unwrap();
    server = world.up().await.unwrap();
    http = operator(&world, &server).await;
    holds(&http, &both, "the file is gone, after a restart").await;
    // A configuration that cannot be read is refused whole, and the one before stays in force.
    let config = world.home().join("config.yaml");
    let good = fs::read_to_string(&config).unwrap();
    fs::write(&config, "categories: {worker: {deny: [mcp__mial__*]}}\n").unwrap();
    assert_ne!(world.run(&["reload"]).await.unwrap().code, Some(0));
    holds(&http, &both, "the configuration is broken").await;
    fs::write(&config, good).unwrap();
    // Whoever wants the role meanwhile is told what is wrong with it.
    let refused = world.run(&["draft", "--role", "guard", "stay"]).await.unwrap();
    assert_eq!(refused.code, Some(4), "{refused:?}");
    role(&world, "guard", &FRONT.replace("deny: [mcp__mail__send]", "deny: []"));
    reload(&world).await;
    let letter = json!({ "toHuman": true, "subject": "Hi", "body": "Hi" });
    assert_eq!(code(&http, &enlisted, "mcp__mail__send", letter).await, None);
    fs::write(world.project().join("go"), "").unwrap();
    world.run(&["await", &drafted]).await.unwrap();
}
