//! `adjutant mcp`: a client that knows only stdin and stdout.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Agent, Http, World};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

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

/// What every request of the newer era says of itself.
fn newer() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
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
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "mail_list_inbox", "arguments": {}, "_meta": newer() } });
    let answers = talk(&world, &["mcp"], &[call]).await;
    assert_eq!(answers[0]["result"]["structuredContent"]["unreadCount"], 0, "{answers:?}");
}

/// A bridge that an agent keeps.
struct Bridge {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    /// What each call carries in the era it speaks
    meta: Option<Value>,
}

impl Bridge {
    fn start(world: &World, agent: &Agent, meta: Option<Value>) -> Self {
        let mut command = world.command(&["mcp"]);
        command.env("ADJUTANT_AGENT_ID", &agent.id).env("ADJUTANT_TOKEN", &agent.token);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output).lines(), meta }
    }

    async fn say(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn call(&mut self, id: u32, tool: &str, arguments: Value) {
        let mut params = json!({ "name": tool, "arguments": arguments });
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.say(&call).await;
    }

    async fn hear(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(60), self.output.next_line()).await;
        serde_json::from_str(&line.unwrap().unwrap().unwrap()).unwrap()
    }
}

/// The server dies in the middle of calls again and again. The client is answered every one of them,
/// each is done once, and a call that waits goes on waiting.
async fn survives_crashes(meta: Option<Value>) {
    const CALLS: u32 = 160;
    const AT_ONCE: u32 = 16;
    const WAITING: u32 = 1000;
    let world = world().await;
    let mut server = world.up().await.unwrap();
    let agent = world.enlist("worker", &[]).await.unwrap();
    let mut bridge = Bridge::start(&world, &agent, meta);
    if bridge.meta.is_none() {
        bridge.say(&initialize()).await;
        bridge.hear().await;
        bridge.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    }
    bridge.call(WAITING, "mail_list_inbox", json!({ "waitSeconds": 240 })).await;
    let letter = |n: u32| json!({ "toHuman": true, "subject": format!("s{n}"), "body": "b" });
    for n in 0..AT_ONCE {
        bridge.call(n, "mail_send", letter(n)).await;
    }
    for answered in 1..=CALLS {
        let answer = bridge.hear().await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        let next = answered + AT_ONCE - 1;
        if next < CALLS {
            bridge.call(next, "mail_send", letter(next)).await;
        }
        if answered % 25 == 0 {
            server.kill().await.unwrap();
            server = world.up().await.unwrap();
        }
    }
    let operator = Http::new(&server.url, world.operator().await.unwrap());
    let inbox = operator.call("mcp__mail__list_inbox", json!({ "limit": 500 })).await;
    let inbox = inbox.unwrap().unwrap();
    let mails = inbox["mails"].as_array().unwrap();
    let subjects: BTreeSet<&str> = mails.iter().map(|m| m["subject"].as_str().unwrap()).collect();
    assert_eq!((mails.len(), subjects.len()), (160, 160), "each once");
    let end = json!({ "toAgentId": agent.id, "subject": "at last", "body": "b" });
    operator.call("mcp__mail__send", end).await.unwrap().unwrap();
    let answer = bridge.hear().await;
    assert_eq!(answer["id"], WAITING, "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["mails"][0]["subject"], "at last");
    let Bridge { mut child, input, .. } = bridge;
    drop(input);
    assert!(child.wait().await.unwrap().success());
    assert_eq!(server.stop().await.unwrap(), Some(0));
}

#[tokio::test]
async fn a_crash_is_not_noticed_in_the_newer_era() {
    survives_crashes(Some(newer())).await;
}

#[tokio::test]
async fn a_crash_is_not_noticed_in_the_older_era() {
    survives_crashes(None).await;
}
