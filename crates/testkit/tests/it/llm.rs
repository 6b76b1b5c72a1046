//! The scripted model API, asked as the real command lines ask it.

use axum::http::StatusCode;
use serde_json::{Value, json};
use testkit::Http;
use testkit::llm::{Fault, Llm, Script, Turn, Usage};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

fn http(llm: &Llm, script: &str) -> Http {
    Http::new(llm.url(script), "any")
}

/// A conversation as Claude Code sends it, with these messages.
fn claude(messages: &Value) -> Value {
    json!({
        "model": "sonnet",
        "stream": true,
        "tools": [{ "name": "Bash" }, { "name": "mcp__mail__send" }, { "name": "mcp__harness__draft_agent" }],
        "messages": messages,
    })
}

/// A conversation as Codex sends it, with these items.
fn codex(input: &Value) -> Value {
    let send = json!({ "type": "function", "name": "send" });
    let exec = json!({ "type": "custom", "name": "exec" });
    json!({
        "model": "gpt",
        "stream": true,
        "tools": [
            { "type": "namespace", "name": "mcp__mail", "tools": [send] },
            { "type": "namespace", "name": "functions", "tools": [exec] },
        ],
        "input": input,
    })
}

/// The events of a stream, with their names.
fn events(stream: &Value) -> Vec<(String, Value)> {
    let lines: Vec<&str> = stream.as_str().unwrap().lines().collect();
    let pair = |name: &str, data: &str| {
        let name = name.strip_prefix("event: ").unwrap().to_owned();
        (name, serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap())
    };
    lines.chunks(3).map(|event| pair(event[0], event[1])).collect()
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": [{ "type": "text", "text": text }] })
}

#[tokio::test]
async fn a_turn_comes_as_anthropics_stream_and_as_one_document() {
    let turn = Turn::call("send", json!({ "subject": "hello" })).saying("I write.").thinking("Hm.");
    let turn = turn.usage(Usage { input: 7, output: 3, cached: 2 });
    let llm = Llm::start([("one", Script::new([turn]))]).await.unwrap();
    let mut body = claude(&json!([user("Go.")]));

    let (status, stream) = http(&llm, "one").post("/v1/messages?beta=true", &body).await.unwrap();
    assert_eq!(status, StatusCode::OK);
    let events = events(&stream);
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names[0], names[names.len() - 1]), ("message_start", "message_stop"));
    assert!(events.iter().all(|(name, event)| event["type"] == *name), "{events:?}");
    let texts: Vec<&Value> =
        events.iter().map(|(_, event)| &event["delta"]["partial_json"]).collect();
    assert!(texts.contains(&&json!(r#"{"subject":"hello"}"#)), "{events:?}");

    body["stream"] = false.into();
    let (_, whole) = http(&llm, "one").post("/v1/messages", &body).await.unwrap();
    assert_eq!(whole["stop_reason"], "tool_use");
    assert_eq!(whole["usage"]["input_tokens"], 7);
    assert_eq!(whole["usage"]["cache_read_input_tokens"], 2);
    let kinds: Vec<&Value> = (0..3).map(|index| &whole["content"][index]["type"]).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use"]);
    assert_eq!(whole["content"][2]["name"], "mcp__mail__send");
}

#[tokio::test]
async fn a_turn_comes_as_openais_stream_with_the_tools_own_namespace() {
    let turn = Turn::call("send", json!({ "subject": "hello" })).and_call("exec", json!("text(1)"));
    let turn = turn.usage(Usage { input: 7, output: 3, cached: 2 });
    let llm = Llm::start([("one", Script::new([turn]))]).await.unwrap();
    let body = codex(&json!([{ "type": "message", "role": "user", "content": [] }]));

    let (_, stream) = http(&llm, "one").post("/v1/responses", &body).await.unwrap();
    let events = events(&stream);
    let (name, last) = events.last().unwrap();
    assert_eq!(name, "response.completed");
    assert_eq!(last["response"]["usage"]["input_tokens"], 9);
    let output = &last["response"]["output"];
    assert_eq!(output[0]["type"], "function_call");
    assert_eq!(
        (&output[0]["namespace"], &output[0]["name"]),
        (&json!("mcp__mail"), &json!("send"))
    );
    assert_eq!(output[0]["arguments"], r#"{"subject":"hello"}"#);
    assert_eq!(output[1]["type"], "custom_tool_call");
    assert_eq!((&output[1]["namespace"], &output[1]["input"]), (&Value::Null, &json!("text(1)")));
}

#[tokio::test]
async fn the_conversation_says_which_turn_is_due_and_fills_its_templates() {
    let llm = Llm::start([(
        "two",
        Script::new([
            Turn::call("draft_agent", json!({})),
            Turn::call("draft_agent", json!({})),
            Turn::text("{{result.0.agentId}} and {{last.agentId}}, said {{user}}{{last.nobody}}"),
        ]),
    )])
    .await
    .unwrap();
    let tool = json!({ "role": "assistant", "content": [{ "type": "tool_use" }] });
    let result = |text: &str| json!({ "role": "user", "content": [{ "type": "tool_result", "content": text }] });
    let mut body = claude(&json!([
        user("Go."),
        tool,
        result(r#"{"agentId":"sp_1"}"#),
        tool,
        result("Wall time: 1 s\n{\"agentId\":\"sp_2\"}\n<system-reminder/>"),
    ]));
    body["stream"] = false.into();
    for _ in 0..2 {
        let (_, whole) = http(&llm, "two").post("/v1/messages", &body).await.unwrap();
        let text = &whole["content"][0]["text"];
        assert_eq!(text, "sp_1 and sp_2, said Go.(nothing at last.nobody)");
    }
    let asked = llm.asked("two");
    assert_eq!((asked.len(), asked[0].turn), (2, 2));
    assert_eq!(asked[0].tools, ["Bash", "mcp__mail__send", "mcp__harness__draft_agent"]);
    assert!(asked[0].mentions("<system-reminder/>") && asked[0].mentions("s\n{\"agentId\""));
}

#[tokio::test]
async fn codexs_items_in_a_row_are_one_turn() {
    let script = Script::new([Turn::text("zero"), Turn::text("one")]);
    let llm = Llm::start([("two", script)]).await.unwrap();
    let body = codex(&json!([
        { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Go." }] },
        { "type": "reasoning" },
        { "type": "message", "role": "assistant", "content": [] },
        { "type": "function_call", "name": "send" },
        { "type": "function_call_output", "output": "{}" },
    ]));
    let (_, stream) = http(&llm, "two").post("/v1/responses", &body).await.unwrap();
    assert!(stream.as_str().unwrap().contains("one"), "{stream}");
    assert_eq!(llm.asked("two")[0].results, ["{}"]);
}

#[tokio::test]
async fn the_last_marker_in_the_users_words_chooses_the_script() {
    let script = |text| Script::new([]).then_always(Turn::text(text));
    let llm = Llm::start([("a", script("I am a")), ("b", script("I am b"))]).await.unwrap();
    let said =
        "Before: [[script:a]] was asked.\n---\n[[script:b]] Do your part of [[script:none]].";
    let (_, stream) =
        http(&llm, "a").post("/v1/messages", &claude(&json!([user(said)]))).await.unwrap();
    assert!(stream.as_str().unwrap().contains("I am b"), "{stream}");
    assert_eq!((llm.asked("a").len(), llm.asked("b").len()), (0, 1));
}

#[tokio::test]
async fn a_tool_that_is_only_spoken_of_can_be_called() {
    let script = Script::new([Turn::call("task__get", json!({}))]);
    let llm = Llm::start([("one", script)]).await.unwrap();
    let said = "There are more:\nmcp__epic__get\nmcp__task__get\nmcp__task__list";
    let (_, stream) =
        http(&llm, "one").post("/v1/messages", &claude(&json!([user(said)]))).await.unwrap();
    assert!(stream.as_str().unwrap().contains("\"name\":\"mcp__task__get\""), "{stream}");
}

#[tokio::test]
async fn a_request_without_tools_is_no_turn() {
    let llm = Llm::start([("one", Script::new([Turn::text("zero")]))]).await.unwrap();
    let body =
        json!({ "model": "haiku", "messages": [{ "role": "user", "content": "A title, please" }] });
    let (_, whole) = http(&llm, "one").post("/v1/messages", &body).await.unwrap();
    assert_eq!(whole["content"][0]["text"], "An aside");
    assert!(llm.asked("one").is_empty());
}

#[tokio::test]
async fn a_turn_waits_behind_its_gate() {
    let llm =
        Llm::start([("one", Script::new([Turn::text("zero").behind("gate")]))]).await.unwrap();
    let (client, body) = (http(&llm, "one"), claude(&json!([user("Go.")])));
    let opens = async {
        let asked = llm.reached("one", 0).await.unwrap();
        assert_eq!(asked.user, ["Go."]);
        llm.open("gate");
    };
    let (answer, ()) = tokio::join!(client.post("/v1/messages", &body), opens);
    assert!(answer.unwrap().1.as_str().unwrap().contains("zero"));
}

#[tokio::test]
async fn a_fault_comes_as_often_as_it_should() {
    let fault = Fault::new(429, "usage_limit_reached", "Enough.").times(2);
    let fault = fault.details(json!({ "resets_at": 5 }));
    let llm = Llm::start([("one", Script::new([Turn::text("zero").after(fault)]))]).await.unwrap();
    let body = claude(&json!([user("Go.")]));
    for _ in 0..2 {
        let (status, answer) = http(&llm, "one").post("/v1/messages", &body).await.unwrap();
        assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(answer["error"]["type"], "usage_limit_reached");
        assert_eq!(answer["error"]["resets_at"], 5);
    }
    let (status, _) = http(&llm, "one").post("/v1/messages", &body).await.unwrap();
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test]
async fn what_else_command_lines_ask_is_answered() {
    let llm = Llm::start([]).await.unwrap();
    let client = http(&llm, "none");
    let (status, models) = client.get("/v1/models").await.unwrap();
    assert_eq!((status, &models["data"][0]["id"]), (StatusCode::OK, &json!("scripted")));
    let (_, count) =
        client.post("/v1/messages/count_tokens", &json!({ "messages": [] })).await.unwrap();
    assert!(count["input_tokens"].is_u64(), "{count}");
    let (status, _) = client.post("/v1/elsewhere", &json!({})).await.unwrap();
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (_, stream) = client.post("/v1/messages", &claude(&json!([user("Go.")]))).await.unwrap();
    assert!(stream.as_str().unwrap().contains("The script has ended."), "{stream}");
}

#[tokio::test]
async fn a_turn_that_hangs_begins_and_does_not_end() {
    let turn = Turn::text("I think about it").hanging();
    let llm = Llm::start([("one", Script::new([turn]))]).await.unwrap();
    let body = claude(&json!([user("Go.")])).to_string();
    let url = llm.url("one");
    let mut stream = TcpStream::connect(url.split('/').nth(2).unwrap()).await.unwrap();
    let head = "POST /s/one/v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length";
    stream.write_all(format!("{head}: {}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
    let mut text = String::new();
    while !text.contains("I think about it") {
        let mut bytes = [0; 4096];
        let length = stream.read(&mut bytes).await.unwrap();
        assert_ne!(length, 0, "it ended: {text}");
        text.push_str(&String::from_utf8_lossy(&bytes[..length]));
    }
    assert!(text.contains("message_start") && !text.contains("message_stop"), "{text}");
}
