//! The bridge against a small server that speaks either era, and can be killed.

mod fake;

use std::collections::HashSet;

use serde_json::{Value, json};

use super::message::MAX_BODY_BYTES;
use fake::{Conversation, Fake, RecordedRequest, call, initialize, modern, note};

const KEY: &str = "idempotency-key";

/// The next call. The session's stream is opened anew at moments of its own; a call's is not.
async fn called(fake: &mut Fake) -> RecordedRequest {
    loop {
        let seen = fake.seen().await;
        if seen.verb == "POST" {
            return seen;
        }
        assert!(!seen.header("last-event-id").starts_with("wait/"), "{seen:?}");
    }
}

/// A call of the older era.
fn in_session(id: u32, tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool } })
}

#[tokio::test]
async fn a_stateless_request_passes_with_its_headers() {
    let mut fake = Fake::start();
    let mut client = Conversation::with(&fake, &["mail"]);
    client.say(&modern(1, "tools/list", json!({}))).await;
    assert_eq!(
        client.hear().await,
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [] } })
    );
    let seen = fake.seen().await;
    assert_eq!((seen.verb.as_str(), seen.path.as_str()), ("POST", "/mcp/mail"));
    assert_eq!(seen.header("authorization"), "Bearer secret");
    assert_eq!(seen.header("mcp-method"), "tools/list");
    assert_eq!(seen.header("mcp-protocol-version"), "2026-07-28");

    client.say(&call(2, "echo", &json!({ "n": 1 }))).await;
    assert_eq!(client.hear().await["result"], json!({ "n": 1 }));
    assert_eq!(fake.seen().await.header("mcp-name"), "echo");
    client.end().await;
    fake.nothing_more();
}

#[tokio::test]
async fn several_toolsets_are_named_in_the_query() {
    let mut fake = Fake::start();
    let mut client = Conversation::with(&fake, &["mail", "task"]);
    client.say(&modern(1, "ping", json!({}))).await;
    client.hear().await;
    assert_eq!(fake.seen().await.path, "/mcp?toolsets=mail,task");
}

#[tokio::test]
async fn requests_do_not_wait_for_each_other_and_the_end_waits_for_them() {
    let fake = Fake::start();
    let mut client = Conversation::with(&fake, &[]);
    client.say(&call(1, "wait", &json!({}))).await;
    assert_eq!(client.hear().await["method"], "notifications/progress");
    client.say(&call("two", "echo", &json!({}))).await;
    assert_eq!(client.hear().await["id"], "two");
    client.close_input();
    fake.release();
    assert_eq!(client.hear().await["id"], 1);
    client.end().await;
}

#[tokio::test]
async fn a_stateless_cancellation_closes_the_stream_and_is_not_sent() {
    let mut fake = Fake::start();
    let mut client = Conversation::with(&fake, &[]);
    client.say(&call(1, "wait", &json!({}))).await;
    client.hear().await;
    fake.seen().await;
    client.say(&note("notifications/cancelled", &json!({ "requestId": 1 }))).await;
    fake.stream_closed().await;
    client.say(&call(2, "echo", &json!({}))).await;
    assert_eq!(client.hear().await["id"], 2, "the cancelled one is not answered");
    assert_eq!(fake.seen().await.body["id"], 2);
    client.end().await;
    fake.nothing_more();
}

#[tokio::test]
async fn a_session_is_kept_listened_to_and_ended() {
    let mut fake = Fake::start();
    let mut client = Conversation::with(&fake, &[]);
    client.say(&initialize()).await;
    assert_eq!(client.hear().await["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(fake.seen().await.header("mcp-session-id"), "");
    client.say(&note("notifications/initialized", &json!({}))).await;
    assert_eq!(fake.seen().await.header("mcp-session-id"), "s1");

    let stream = fake.seen().await;
    assert_eq!(stream.verb, "GET");
    assert_eq!(stream.header("mcp-protocol-version"), "2025-06-18");
    fake.push("id: 5\ndata: {\"method\":\"notifications/a\",\ndata: \"x\":1}\n\n");
    assert_eq!(client.hear().await, json!({ "method": "notifications/a", "x": 1 }));
    fake.end_push();
    let again = fake.seen().await;
    assert_eq!((again.verb.as_str(), again.header("last-event-id")), ("GET", "5"));
    fake.push("data: {\"method\":\"notifications/b\"}\n\n");
    assert_eq!(client.hear().await["method"], "notifications/b");

    client.say(&json!({ "jsonrpc": "2.0", "id": 9, "result": {} })).await;
    let answer = fake.seen().await;
    assert_eq!((answer.header("mcp-session-id"), answer.header("mcp-method")), ("s1", ""));
    client.end().await;
    let delete = fake.seen().await;
    assert_eq!((delete.verb.as_str(), delete.header("mcp-session-id")), ("DELETE", "s1"));
}

#[tokio::test]
async fn a_cancellation_in_a_session_is_sent() {
    let mut fake = Fake::start();
    let mut client = Conversation::in_session(&mut fake).await;
    client.say(&in_session(1, "wait")).await;
    client.hear().await;
    fake.seen().await;
    client.say(&note("notifications/cancelled", &json!({ "requestId": 1 }))).await;
    let cancelled = fake.seen().await;
    assert_eq!(cancelled.body["method"], "notifications/cancelled");
    assert_eq!(cancelled.header("mcp-session-id"), "s1");
    fake.stream_closed().await;
}

#[tokio::test]
async fn a_forgotten_session_is_made_anew_unseen() {
    let mut fake = Fake::start();
    let mut client = Conversation::in_session(&mut fake).await;
    let about = json!({ "uri": "a://b" });
    let subscribe =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": about });
    client.say(&subscribe).await;
    client.hear().await;
    fake.seen().await;
    fake.forget_sessions();
    client.say(&in_session(2, "echo")).await;
    assert_eq!(client.hear().await["id"], 2, "the client hears its own answer only");
    let mut told = Vec::new();
    while told.len() < 5 {
        let seen = fake.seen().await;
        // The stream of the session is opened anew as well, at a moment of its own.
        if seen.verb == "POST" {
            let session = seen.header("mcp-session-id").to_owned();
            told.push((seen.body["method"].as_str().unwrap().to_owned(), session));
        }
    }
    let expected = [
        ("tools/call", "s1"),
        ("initialize", ""),
        ("notifications/initialized", "s2"),
        ("resources/subscribe", "s2"),
        ("tools/call", "s2"),
    ];
    assert_eq!(told, expected.map(|(method, session)| (method.to_owned(), session.to_owned())));
}

#[tokio::test]
async fn a_stream_that_was_left_is_taken_up_again() {
    let mut fake = Fake::start();
    let mut client = Conversation::in_session(&mut fake).await;
    client.say(&in_session(7, "leave")).await;
    fake.seen().await;
    let resumed = fake.seen().await;
    assert_eq!((resumed.verb.as_str(), resumed.header("last-event-id")), ("GET", "leave/1"));
    assert_eq!(client.hear().await["id"], 7);
}

#[tokio::test]
async fn a_server_that_is_gone_and_back_is_found_again() {
    let mut fake = Fake::start();
    let mut client = Conversation::with(&fake, &[]);
    client.say(&call(1, "echo", &json!({}))).await;
    client.hear().await;
    fake.seen().await;
    fake.kill();
    client.say(&call(2, "echo", &json!({ "n": 2 }))).await;
    // It comes back at another address.
    fake.revive();
    assert_eq!(client.hear().await["result"], json!({ "n": 2 }));
    assert_eq!(fake.seen().await.body["id"], 2);
    fake.nothing_more();
}

#[tokio::test]
async fn the_first_message_may_come_before_the_server() {
    let mut fake = Fake::start();
    fake.kill();
    fake.remove_note();
    let mut client = Conversation::with(&fake, &[]);
    client.say(&modern(1, "tools/list", json!({}))).await;
    fake.revive();
    assert_eq!(client.hear().await["id"], 1);
}

#[tokio::test]
async fn a_call_that_breaks_again_and_again_is_unknown() {
    let mut fake = Fake::start();
    let mut client = Conversation::with(&fake, &[]);
    client.say(&call(1, "break", &json!({}))).await;
    let error = &client.hear().await["error"];
    assert_eq!(
        (&error["code"], &error["data"]),
        (&json!(-32603), &json!({ "outcome": "unknown" }))
    );
    assert!(error["message"].as_str().unwrap().contains("outcome of this call is unknown"));
    let first = fake.seen().await;
    assert_eq!(first.body["id"], 1);
    for _ in 1..4 {
        assert_eq!(fake.seen().await.header(KEY), first.header(KEY));
    }
    client.end().await;
    fake.nothing_more();
}

#[tokio::test]
async fn a_broken_call_and_a_broken_reading_are_sent_again() {
    let mut fake = Fake::start();
    let mut client = Conversation::with(&fake, &[]);
    fake.break_once();
    client.say(&call(1, "fragile", &json!({ "n": 1 }))).await;
    assert_eq!(client.hear().await["result"], json!({ "n": 1 }));
    let (first, again) = (fake.seen().await, fake.seen().await);
    assert_eq!((&first.body, first.header(KEY)), (&again.body, again.header(KEY)));
    assert_eq!(first.header(KEY).len(), 64);
    client.say(&call(1, "echo", &json!({}))).await;
    client.hear().await;
    assert_ne!(fake.seen().await.header(KEY), first.header(KEY), "another call, another key");

    fake.break_once();
    client.say(&modern(2, "tools/list", json!({}))).await;
    assert_eq!(client.hear().await["result"], json!({ "tools": [] }));
    for _ in 0..2 {
        let seen = fake.seen().await;
        assert_eq!((&seen.body["id"], seen.header(KEY)), (&json!(2), ""));
    }
    fake.nothing_more();
}

#[tokio::test]
async fn a_call_that_waits_outlives_many_servers_in_both_eras() {
    let mut fake = Fake::start();
    let mut client = Conversation::in_session(&mut fake).await;
    let stateless = call(1, "wait", &json!({}));
    for message in [stateless, in_session(2, "wait")] {
        client.say(&message).await;
        let mut keys = HashSet::new();
        for _ in 0..6 {
            assert_eq!(client.hear().await["method"], "notifications/progress");
            let seen = called(&mut fake).await;
            assert_eq!(seen.body, message);
            keys.insert(seen.header(KEY).to_owned());
            fake.kill();
            fake.revive();
        }
        assert_eq!(client.hear().await["method"], "notifications/progress");
        fake.release();
        assert_eq!(client.hear().await["id"], message["id"]);
        keys.insert(called(&mut fake).await.header(KEY).to_owned());
        assert_eq!(keys.len(), 1, "it is the same call: {keys:?}");
    }
}

#[tokio::test]
async fn a_subscription_outlives_the_server_and_does_not_delay_the_end() {
    let mut fake = Fake::start();
    let mut client = Conversation::with(&fake, &[]);
    client.say(&modern(1, "subscriptions/listen", json!({}))).await;
    assert_eq!(client.hear().await["method"], "notifications/progress");
    fake.seen().await;
    fake.kill();
    fake.revive();
    assert_eq!(client.hear().await["method"], "notifications/progress");
    assert_eq!(fake.seen().await.body["method"], "subscriptions/listen");
    let before = tokio::time::Instant::now();
    client.end().await;
    assert!(before.elapsed() < super::FINISH);
}

#[tokio::test]
async fn refusals_and_bad_lines_are_answered_and_the_next_line_is_read() {
    let fake = Fake::start();
    let mut client = Conversation::with(&fake, &[]);
    client.say(&call(1, "refuse", &json!({}))).await;
    let refused = client.hear().await;
    assert_eq!(refused["id"], 1);
    assert_eq!(refused["error"]["message"], "who are you?");
    assert_eq!(refused["error"]["data"]["code"], "UNAUTHENTICATED");

    client.say(&call(2, "mismatch", &json!({}))).await;
    let mismatch = client.hear().await;
    assert_eq!((&mismatch["id"], &mismatch["error"]["code"]), (&json!(2), &json!(-32020)));

    client.say_line("not json").await;
    assert_eq!(client.hear().await["error"]["code"], -32700);
    client.say(&call(3, "echo", &json!({ "text": "x".repeat(MAX_BODY_BYTES) }))).await;
    assert_eq!(client.hear().await["id"], 3);
    client.say(&call(4, "echo", &json!({ "text": "x".repeat(3 << 20) }))).await;
    assert_eq!(client.hear().await["result"]["text"].as_str().unwrap().len(), 3 << 20);
    client.end().await;
}

#[tokio::test]
async fn a_client_that_takes_no_output_ends_the_bridge() {
    let fake = Fake::start();
    let mut client = Conversation::with(&fake, &[]);
    client.stop_hearing();
    client.say(&call(1, "echo", &json!({}))).await;
    client.ended().await;
}
