//! Keys over HTTP: on `POST /mcp/execute` and on `tools/call` of either era, the same call with the same
//! key is done once.

use axum::body::Body;
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};

use crate::world::{OPERATOR, Stream, World, newer_request, request, whole};

const KEY: &str = "idempotency-key";

fn keyed(mut request: Request<Body>, key: &str) -> Request<Body> {
    request.headers_mut().append(KEY, key.parse().unwrap());
    request
}

fn letter(subject: &str) -> Value {
    json!({ "toHuman": true, "subject": subject, "body": "b" })
}

fn execute(token: &str, subject: &str) -> Request<Body> {
    let body = json!({ "toolName": "mcp__mail__send", "input": letter(subject) });
    request(Method::POST, "/mcp/execute", Some(token), Body::from(body.to_string()))
}

/// Takes the short way, unless it asks for progress, which only the long way can report.
fn newer(token: &str, subject: &str, way: Way) -> Request<Body> {
    let mut params = json!({ "name": "send", "arguments": letter(subject) });
    if way == Way::Long {
        params["_meta"] = json!({ "progressToken": 1 });
    }
    newer_request("/mcp/mail", token, "tools/call", params)
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Short,
    Long,
}

async fn unread(world: &World) -> Value {
    let (_, inbox) = world.execute(OPERATOR, "mcp__mail__list_inbox", json!({})).await;
    inbox["data"]["unreadCount"].clone()
}

#[tokio::test]
async fn every_face_knows_the_same_key() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let (status, _, first) = whole(world.send(keyed(execute(&member.token, "s"), "k")).await).await;
    assert_eq!(status, StatusCode::OK, "{first}");
    let sent = &first["data"];
    for way in [Way::Short, Way::Long] {
        let request = keyed(newer(&member.token, "s", way), "k");
        let (_, _, answer) = whole(world.send(request).await).await;
        assert_eq!(answer["result"]["structuredContent"], *sent, "{answer}");
    }
    let session = world.open("/mcp/mail", &member.token).await;
    let message = json!({
        "jsonrpc": "2.0", "id": 3, "method": "tools/call",
        "params": { "name": "send", "arguments": letter("s") },
    });
    let request = keyed(session.request(Method::POST, Some(&message)), "k");
    let answer = Stream::of(world.send(request).await).answer().await;
    assert_eq!(answer["result"]["structuredContent"], *sent, "{answer}");
    let (_, _, again) = whole(world.send(keyed(execute(&member.token, "s"), "k")).await).await;
    assert_eq!(again["data"], *sent);
    assert_eq!(unread(&world).await, 1);
    whole(world.send(execute(&member.token, "s")).await).await;
    assert_eq!(unread(&world).await, 2, "without a key every call is another");
}

#[tokio::test]
async fn another_call_with_the_same_key_is_a_conflict() {
    let world = World::new();
    let member = world.enlist("coding").await;
    whole(world.send(keyed(execute(&member.token, "s"), "k")).await).await;
    let (status, _, body) = whole(world.send(keyed(execute(&member.token, "t"), "k")).await).await;
    assert_eq!(status, StatusCode::CONFLICT, "{body}");
    assert_eq!(body["error"]["code"], "CONFLICT");
    for way in [Way::Short, Way::Long] {
        let request = keyed(newer(&member.token, "t", way), "k");
        let (status, _, answer) = whole(world.send(request).await).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        assert_eq!(answer["result"]["isError"], true);
        assert_eq!(answer["result"]["structuredContent"]["code"], "CONFLICT");
    }
    let other = world.enlist("coding").await;
    let (status, _, _) = whole(world.send(keyed(execute(&other.token, "t"), "k")).await).await;
    assert_eq!(status, StatusCode::OK, "another's keys are another's");
}

#[tokio::test]
async fn a_header_that_is_no_key_is_invalid_input() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let long = "x".repeat(201);
    for key in ["", "two words", &long] {
        let request = keyed(execute(&member.token, "s"), key);
        let (status, _, body) = whole(world.send(request).await).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{key}: {body}");
        assert_eq!(body["error"]["code"], "INVALID_INPUT");
    }
    let twice = keyed(keyed(execute(&member.token, "s"), "a"), "b");
    let (status, _, body) = whole(world.send(twice).await).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
    let mut foreign = execute(&member.token, "s");
    let value = http::HeaderValue::from_bytes(b"k\xe4y").unwrap();
    foreign.headers_mut().insert(KEY, value);
    let (status, _, body) = whole(world.send(foreign).await).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
    for way in [Way::Short, Way::Long] {
        let request = keyed(newer(&member.token, "s", way), &long);
        let (_, _, answer) = whole(world.send(request).await).await;
        assert_eq!(answer["result"]["structuredContent"]["code"], "INVALID_INPUT", "{answer}");
    }
}

#[tokio::test]
async fn a_key_outlives_the_server() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let (_, _, first) = whole(world.send(keyed(execute(&member.token, "s"), "k")).await).await;
    let world = world.restarted().await;
    let (_, _, again) = whole(world.send(keyed(execute(&member.token, "s"), "k")).await).await;
    assert_eq!(again["data"], first["data"]);
    assert_eq!(unread(&world).await, 1);
}
