//! Whatever is sent: an answer, never a failure inside.

use axum::body::Body;
use http::{Method, StatusCode};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use crate::world::{NEWER, OPERATOR, World, newer_request, request, whole};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("sp_0000000000000001")),
        Just(json!("mail_00000000000000ff")),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((any_key(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Names that mean something somewhere, and names that mean nothing.
fn any_key() -> impl Strategy<Value = String> {
    const KNOWN: [&str; 18] = [
        "agentId",
        "toolName",
        "input",
        "name",
        "arguments",
        "uri",
        "title",
        "body",
        "subject",
        "tasks",
        "content",
        "depends_on",
        "cursor",
        "limit",
        "waitSeconds",
        "id",
        "status",
        "_meta",
    ];
    prop_oneof![prop::sample::select(&KNOWN[..]).prop_map(str::to_owned), any::<String>()]
}

fn any_tool() -> impl Strategy<Value = Value> {
    let names: Vec<&str> = engine::TOOLS.iter().map(|tool| tool.name).collect();
    prop_oneof![
        4 => prop::sample::select(names).prop_map(Value::from),
        1 => any::<String>().prop_map(Value::from),
        1 => any_json(),
    ]
}

/// A tool's input in which some fields are right by name and wrong by value. Nothing waits.
fn any_input() -> impl Strategy<Value = Value> {
    prop_oneof![
        any_json(),
        prop::collection::vec((any_key(), any_json()), 0..6).prop_map(|fields| {
            let mut fields: Map<String, Value> = fields.into_iter().collect();
            fields.remove("waitSeconds");
            Value::Object(fields)
        }),
    ]
}

fn fuzz<T: std::fmt::Debug>(
    cases: u32,
    strategy: impl Strategy<Value = T>,
    check: &impl AsyncFn(&World, T) -> Result<(), TestCaseError>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let world = runtime.block_on(async { World::new() });
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&strategy, |input| runtime.block_on(check(&world, input)));
    if let Err(problem) = outcome {
        panic!("{problem}");
    }
    let verdict = world.store.read(|tx| tx.audit_verify()).unwrap();
    assert_eq!(verdict.broken, None, "the record holds whatever was sent");
}

/// An answer that is JSON, and not a failure inside.
async fn answered(world: &World, body: Body, path: &str) -> Result<(), TestCaseError> {
    let response = world.send(request(Method::POST, path, Some(OPERATOR), body)).await;
    let (status, _, value) = whole(response).await;
    prop_assert!(status != StatusCode::INTERNAL_SERVER_ERROR, "{}: {}", status, value);
    Ok(())
}

#[test]
fn any_bytes_get_an_answer() {
    const PATHS: [&str; 3] = ["/mcp", "/mcp/mail", "/mcp/execute"];
    let bytes = (prop::collection::vec(any::<u8>(), 0..300), prop::sample::select(&PATHS[..]));
    fuzz(200, bytes, &async |world, (bytes, path)| answered(world, Body::from(bytes), path).await);
}

#[test]
fn any_execute_body_gets_an_answer() {
    let body = prop_oneof![
        any_json(),
        (any_tool(), any_input())
            .prop_map(|(tool, input)| json!({ "toolName": tool, "input": input })),
        (any_json(), any_tool(), any_input()).prop_map(
            |(agent, tool, input)| json!({ "agentId": agent, "toolName": tool, "input": input })
        ),
    ];
    fuzz(300, body, &async |world, body| {
        let request =
            request(Method::POST, "/mcp/execute", Some(OPERATOR), Body::from(body.to_string()));
        let (status, _, value) = whole(world.send(request).await).await;
        prop_assert!(status != StatusCode::INTERNAL_SERVER_ERROR, "{}: {}", body, value);
        prop_assert!(value["success"].is_boolean(), "{}: {}", body, value);
        prop_assert_eq!(value["success"] == true, status == StatusCode::OK);
        Ok(())
    });
}

#[test]
fn any_json_rpc_message_gets_an_answer() {
    const METHODS: [&str; 10] = [
        "tools/call",
        "tools/list",
        "resources/read",
        "resources/list",
        "prompts/get",
        "ping",
        "server/discover",
        "completion/complete",
        "initialize",
        "notifications/cancelled",
    ];
    let method =
        prop_oneof![prop::sample::select(&METHODS[..]).prop_map(str::to_owned), any::<String>(),];
    let message = prop_oneof![
        any_json(),
        (method, any_json(), any_json()).prop_map(|(method, id, params)| {
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
        }),
    ];
    fuzz(300, message, &async |world, message| {
        answered(world, Body::from(message.to_string()), "/mcp").await
    });
}

#[test]
fn any_tool_call_of_the_newer_era_gets_a_result() {
    let call = (any_tool(), any_input()).prop_filter("a name fits a header", |(name, _)| {
        name.as_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_graphic()))
    });
    fuzz(300, call, &async |world, (name, arguments)| {
        let params = json!({ "name": name, "arguments": arguments });
        let response = world.send(newer_request("/mcp", OPERATOR, "tools/call", params)).await;
        let (status, _, value) = whole(response).await;
        prop_assert!(status != StatusCode::INTERNAL_SERVER_ERROR, "{} {}: {}", NEWER, name, value);
        Ok(())
    });
}
