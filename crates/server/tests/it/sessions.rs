//! Sessions of the older era belong to who opened them, and outlive the server.

use std::sync::Arc;

use axum::body::Body;
use http::{Method, StatusCode};
use rmcp::transport::streamable_http_server::session::SessionState;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinSet;

use crate::world::{NEWER, OPERATOR, Session, Stream, World, request, whole};

fn ping() -> serde_json::Value {
    json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" })
}

async fn knock(world: &World, session: &Session, method: Method) -> StatusCode {
    let message = (method == Method::POST).then(ping);
    world.send(session.request(method, message.as_ref())).await.status()
}

#[tokio::test]
async fn nobody_else_gets_into_a_session() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let own = world.open("/mcp/mail", &one.token).await;
    for token in [&*other.token, OPERATOR] {
        let foreign = own.with_token(token);
        for method in [Method::POST, Method::GET, Method::DELETE] {
            let (status, _, body) =
                whole(world.send(foreign.request(method.clone(), Some(&ping()))).await).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{method}: {body}");
            assert_eq!(body["code"], "RESOURCE_NOT_FOUND", "{method}: {body}");
        }
    }
    assert_eq!(knock(&world, &own, Method::POST).await, StatusCode::OK, "it is still there");
    assert_eq!(knock(&world, &own, Method::GET).await, StatusCode::OK);
    assert_eq!(knock(&world, &own, Method::DELETE).await, StatusCode::ACCEPTED);
    assert_eq!(knock(&world, &own, Method::POST).await, StatusCode::NOT_FOUND, "it has ended");
}

#[tokio::test]
async fn the_newer_era_does_not_open_the_door_to_an_older_session() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let own = world.open("/mcp/mail", &one.token).await;
    let id = own.id.clone().unwrap();
    // An `initialize` is of the older era whatever its header says.
    let params = json!({
        "protocolVersion": NEWER, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" },
    });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let mut sneaky =
        request(Method::POST, "/mcp/mail", Some(&other.token), Body::from(message.to_string()));
    sneaky.headers_mut().insert("mcp-session-id", id.parse().unwrap());
    sneaky.headers_mut().insert("mcp-protocol-version", NEWER.parse().unwrap());
    let response = world.send(sneaky).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_ne!(response.headers()["mcp-session-id"], *id, "it is a session of its own");
    // A request of the newer era has no session, and a header changes nothing.
    let mut stray = crate::world::newer_request("/mcp/mail", &other.token, "tools/list", json!({}));
    stray.headers_mut().insert("mcp-session-id", id.parse().unwrap());
    assert_eq!(world.send(stray).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_session_outlives_the_server() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let own = world.open("/mcp/mail", &one.token).await;
    let ended = world.open("/mcp/mail", &one.token).await;
    assert_eq!(knock(&world, &ended, Method::DELETE).await, StatusCode::ACCEPTED);

    let world = world.restarted().await;
    let foreign = own.with_token(&other.token);
    for method in [Method::POST, Method::GET, Method::DELETE] {
        assert_eq!(knock(&world, &foreign, method).await, StatusCode::NOT_FOUND);
    }
    let answer = world.older(&own, "tools/call", json!({ "name": "list_inbox" })).await;
    assert_eq!(answer["result"]["structuredContent"]["count"], 0, "{answer}");
    assert_eq!(knock(&world, &own, Method::GET).await, StatusCode::OK);
    assert_eq!(knock(&world, &ended, Method::POST).await, StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_requests_at_once_bring_a_session_back_once() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let sessions = [
        world.open("/mcp/mail", &member.token).await,
        world.open("/mcp", &member.token).await,
        world.open("/mcp/mail", OPERATOR).await,
    ];
    let world = Arc::new(world.restarted().await);
    let mut asking = JoinSet::new();
    for (id, session) in (0..60).zip(sessions.iter().cycle()) {
        let (world, session) = (Arc::clone(&world), session.clone());
        asking.spawn(async move {
            world.begin(&session, id, "tools/list", json!({})).await.answer().await
        });
    }
    for answer in asking.join_all().await {
        assert!(answer["result"]["tools"].is_array(), "{answer}");
    }
}

#[tokio::test]
async fn a_discharged_agent_hears_nothing_more() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let session = world.open("/mcp/mail", &member.token).await;
    let mut stream = world.hear(&session).await;
    world.engine().discharge(member.id, "done".to_owned()).await.unwrap();
    assert!(stream.next().await.is_none(), "the stream ends");
    assert_eq!(knock(&world, &session, Method::POST).await, StatusCode::UNAUTHORIZED);
    let session = session.with_token(OPERATOR);
    assert_eq!(knock(&world, &session, Method::POST).await, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn every_request_says_who_asks_and_where() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let session = world.open("/mcp", &member.token).await;
    let names = |answer: serde_json::Value| -> Vec<String> {
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let all = names(world.older(&session, "tools/list", json!({})).await);
    assert_eq!(all, world.names("/mcp", &member.token).await, "both eras list the same");
    let there = Session { path: "/mcp/mail".to_owned(), ..session };
    let mail = names(world.older(&there, "tools/list", json!({})).await);
    assert_eq!(mail, world.names("/mcp/mail", &member.token).await);
}

#[tokio::test]
async fn the_end_of_the_server_ends_its_streams() {
    let world = World::new();
    let session = world.open("/mcp", OPERATOR).await;
    let mut stream: Stream = world.hear(&session).await;
    assert!(world.app.activity.idle_since().is_none(), "somebody is there");
    world.app.shutdown.cancel();
    assert!(stream.next().await.is_none());
    drop(stream);
    assert!(world.app.activity.idle_since().is_some(), "nobody is there any more");
}

#[tokio::test]
async fn a_server_on_a_port_ends_with_its_streams() {
    let world = World::new();
    let session = world.open("/mcp", OPERATOR).await;
    let (address, served) = world.listen("/other", testkit::conformance::handler).await;
    let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let id = session.id.unwrap();
    let head = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\
         Authorization: Bearer {OPERATOR}\r\nMcp-Session-Id: {id}\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut begin = [0; 12];
    socket.read_exact(&mut begin).await.unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");
    world.app.shutdown.cancel();
    let mut rest = Vec::new();
    socket.read_to_end(&mut rest).await.unwrap();
    let ended = tokio::time::timeout(std::time::Duration::from_secs(4), served).await;
    ended.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_session_that_nobody_came_back_to_is_forgotten() {
    let world = World::new();
    let session = world.open("/mcp", OPERATOR).await;
    let now = world.engine().now().after_seconds(1);
    let store = &world.store;
    store.write(move |tx| tx.mcp_session_prune(now)).await.unwrap();
    let world = world.restarted().await;
    assert_eq!(knock(&world, &session, Method::POST).await, StatusCode::NOT_FOUND);
}

/// The ids of the sessions in the record.
fn stored(world: &World) -> usize {
    world.store.read(|tx| tx.mcp_session_owners()).unwrap().len()
}

/// Waits until the record has so many sessions.
async fn until_stored(world: &World, count: usize) {
    let wait = async {
        while stored(world) != count {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), wait).await.unwrap();
}

#[tokio::test]
async fn of_too_many_idle_sessions_the_one_idle_longest_is_closed() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let foreign = world.open("/mcp/mail", &other.token).await;
    let mut sessions = Vec::new();
    for _ in 0..32 {
        sessions.push(world.open("/mcp/mail", &one.token).await);
    }
    // The first two are in use: one has a stream, one a call that waits; the third was used last.
    let mut stream = world.hear(&sessions[0]).await;
    let wait = json!({ "name": "list_inbox", "arguments": { "waitSeconds": 240 } });
    let waiting = world.begin(&sessions[1], 9, "tools/call", wait).await;
    assert_eq!(knock(&world, &sessions[2], Method::POST).await, StatusCode::OK);
    for _ in 0..3 {
        sessions.push(world.open("/mcp/mail", &one.token).await);
    }
    for (place, session) in sessions.iter().enumerate().skip(2) {
        let is_open = knock(&world, session, Method::POST).await == StatusCode::OK;
        assert_eq!(is_open, place != 3, "{place}");
    }
    assert_eq!(knock(&world, &foreign, Method::POST).await, StatusCode::OK, "another's");
    until_stored(&world, 35).await;
    // Those in use were never in question, and are idle now.
    world
        .execute(
            OPERATOR,
            "mcp__mail__send",
            json!({ "toAgentId": one.id, "subject": "s", "body": "b" }),
        )
        .await;
    drop(waiting);
    assert_eq!(knock(&world, &sessions[0], Method::POST).await, StatusCode::OK);
    world.engine().discharge(one.id, "done".to_owned()).await.unwrap();
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn idle_sessions_of_an_earlier_server_are_closed_in_the_record_too() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let mut sessions = Vec::new();
    for _ in 0..20 {
        sessions.push(world.open("/mcp/mail", &member.token).await);
    }
    let world = world.restarted().await;
    // The new server knows of them once it has read the record.
    assert_eq!(knock(&world, &sessions[0], Method::POST).await, StatusCode::OK);
    for _ in 0..20 {
        sessions.push(world.open("/mcp/mail", &member.token).await);
    }
    until_stored(&world, 32).await;
    assert_eq!(knock(&world, sessions.last().unwrap(), Method::POST).await, StatusCode::OK);
    assert_eq!(knock(&world, &sessions[1], Method::POST).await, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn opening_a_session_counts_as_a_call() {
    let mut settings = crate::world::settings();
    settings.limits.calls_per_minute = 1;
    let world = World::with_settings(settings);
    let member = world.enlist("worker").await;
    world.open("/mcp/mail", &member.token).await;
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let sent = request(Method::POST, "/mcp", Some(&member.token), Body::from(message.to_string()));
    let (status, headers, body) = whole(world.send(sent).await).await;
    assert_eq!((status.as_u16(), &body["code"]), (429, &"RATE_LIMITED".into()), "{body}");
    assert_eq!(headers["retry-after"], "1");
    world.open("/mcp", OPERATOR).await;
}

/// The golden file is the opening of a session as an earlier version recorded it. It must be read for ever.
#[test]
fn the_opening_of_a_session_is_read_as_it_was_written() {
    let golden = include_str!("../golden/mcp_session_opening.json");
    let opening: SessionState = serde_json::from_str(golden).unwrap();
    let written: serde_json::Value = serde_json::from_str(golden).unwrap();
    assert_eq!(serde_json::to_value(&opening).unwrap(), written);
    assert_eq!(opening.initialize_params.client_info.name, "claude-code");
}
