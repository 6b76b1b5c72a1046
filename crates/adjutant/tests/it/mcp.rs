//! `adjutant mcp`: a client that knows only stdin and stdout.

use serde_json::{Value, json};
use testkit::World;

use crate::world;

/// Says these messages and returns the answers by id.
async fn talk(world: &World, arguments: &[&str], messages: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = messages.iter().map(Value::to_string).collect();
    let input = lines.join("\n") + "\n";
    let ran = world.run_with_input(arguments, &input).await.unwrap().ok().unwrap();
    let mut answers: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
}

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } })
}

fn list() -> Value {
    json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" })
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn it_starts_the_server_it_needs_and_lists_tools() {
    let world = world().await;
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let answers = talk(&world, &["mcp"], &[initialize(), ready, list()]).await;
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-11-25");
    assert!(names(&answers[1]).contains(&"mail_send"));
    assert!(world.server_file().unwrap().is_some());
}

#[tokio::test]
async fn one_toolset_has_bare_names_and_several_have_joined_ones() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let one = talk(&world, &["mcp", "--toolset", "mail"], &[initialize(), list()]).await;
    assert_eq!(names(&one[1]), ["list_inbox", "read", "send", "reply"]);
    let arguments = ["mcp", "--toolset", "mail", "--toolset", "system"];
    let two = talk(&world, &arguments, &[initialize(), list()]).await;
    let joined = ["mail_list_inbox", "mail_read", "mail_send", "mail_reply", "system_log_decision"];
    assert_eq!(names(&two[1]), joined);
    let wrong = world.run(&["mcp", "--toolset", "male"]).await.unwrap();
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""));
    assert!(wrong.stderr.contains("did you mean `mail`?"), "{}", wrong.stderr);
}

#[tokio::test]
async fn the_newer_era_needs_no_handshake() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "mail_list_inbox", "arguments": {}, "_meta": meta } });
    let answers = talk(&world, &["mcp"], &[call]).await;
    assert_eq!(answers[0]["result"]["structuredContent"]["unreadCount"], 0, "{answers:?}");
}
