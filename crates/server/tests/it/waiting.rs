//! Calls that wait: they say so, and they end when nobody waits for them any more.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{Member, OPERATOR, Stream, World, newer_request};

fn wait(seconds: u32, token: Option<Value>) -> Value {
    let mut params = json!({ "name": "list_inbox", "arguments": { "waitSeconds": seconds } });
    if let Some(token) = token {
        params["_meta"]["progressToken"] = token;
    }
    params
}

/// Waits until so many calls have been answered.
async fn answered(world: &World, calls: u64) {
    let all = async {
        while world.get("/api/status").await["calls"] != calls {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), all).await.unwrap();
}

#[tokio::test]
async fn a_waiting_call_reports_in_both_eras() {
    let world = World::new();
    let params = wait(1, Some("mine".into()));
    let response =
        world.send(newer_request("/mcp/mail", OPERATOR, "tools/call", params.clone())).await;
    let newer = Stream::of(response);
    let session = world.open("/mcp/mail", OPERATOR).await;
    let older = world.begin(&session, 5, "tools/call", params).await;
    for mut stream in [newer, older] {
        let word = stream.next().await.unwrap();
        assert_eq!(word["method"], "notifications/progress", "{word}");
        assert_eq!(word["params"]["progressToken"], "mine");
        assert_eq!(word["params"]["message"], "waiting, 0 s");
        let answer = stream.answer().await;
        assert_eq!(answer["result"]["structuredContent"]["count"], 0, "{answer}");
        assert!(stream.next().await.is_none());
    }
}

#[tokio::test]
async fn what_was_waited_for_ends_the_waiting() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let session = world.open("/mcp/mail", OPERATOR).await;
    let mut waiting = world.begin(&session, 5, "tools/call", wait(240, None)).await;
    let letter = json!({ "toHuman": true, "subject": "s", "body": "b" });
    let (status, body) = world.execute(&member.token, "mcp__mail__send", letter).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert_eq!(waiting.answer().await["result"]["structuredContent"]["unreadCount"], 1);
}

#[tokio::test]
async fn the_older_era_cancels() {
    let world = World::new();
    let session = world.open("/mcp/mail", OPERATOR).await;
    let mut waiting = world.begin(&session, 5, "tools/call", wait(240, None)).await;
    let cancel = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5 },
    });
    let response = world.send(session.request(Method::POST, Some(&cancel))).await;
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    answered(&world, 1).await;
    assert!(waiting.next().await.is_none(), "who cancels wants no answer");
}

#[tokio::test]
async fn who_leaves_ends_the_waiting_in_both_eras() {
    let world = World::new();
    let session = world.open("/mcp/mail", OPERATOR).await;
    drop(world.begin(&session, 5, "tools/call", wait(240, None)).await);
    answered(&world, 1).await;

    let params = wait(240, Some(1.into()));
    let stream = world.send(newer_request("/mcp/mail", OPERATOR, "tools/call", params)).await;
    drop(Stream::of(stream));
    answered(&world, 2).await;

    // Without a word of progress there is no answer yet to be dropped, only the request.
    let member = world.enlist("worker").await;
    let params = wait(240, None);
    let silent = world.send(newer_request("/mcp/mail", &member.token, "tools/call", params));
    leave_once_it_waits(&world, &member, silent).await;
    answered(&world, 3).await;

    let arguments = json!({ "waitSeconds": 240 });
    let execute = world.execute(&member.token, "mcp__mail__list_inbox", arguments);
    leave_once_it_waits(&world, &member, execute).await;
    answered(&world, 4).await;
}

/// Drops an agent's request as soon as its call waits.
async fn leave_once_it_waits(world: &World, member: &Member, request: impl Future) {
    let waits = world.engine().waits();
    // The call before may not have ended yet.
    let mut changed = waits.changed();
    let is_over = changed.wait_for(|_| !waits.is_waiting(member.id));
    tokio::time::timeout(Duration::from_secs(5), is_over).await.unwrap().unwrap();
    let members = [member];
    tokio::select! {
        _ = request => panic!("answered though nothing came"),
        () = all_wait(world, &members) => {}
    }
}

/// Waits until a call of each of these agents waits.
async fn all_wait(world: &World, members: &[&Member]) {
    let waits = world.engine().waits();
    let mut changed = waits.changed();
    let all = changed.wait_for(|_| members.iter().all(|member| waits.is_waiting(member.id)));
    tokio::time::timeout(Duration::from_secs(5), all).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_end_of_the_server_answers_what_waits() {
    let world = World::new();
    let [first, second, third] =
        [world.enlist("worker").await, world.enlist("worker").await, world.enlist("worker").await];
    let session = world.open("/mcp/mail", &first.token).await;
    let mut older = world.begin(&session, 5, "tools/call", wait(240, None)).await;
    let arguments = json!({ "waitSeconds": 240 });
    let newer = world.call("/mcp/mail", &second.token, "list_inbox", arguments.clone());
    let execute = world.execute(&third.token, "mcp__mail__list_inbox", arguments);
    let end = async {
        all_wait(&world, &[&first, &second, &third]).await;
        world.app.shutdown.cancel();
    };
    let (newer, (status, body), older, ()) = tokio::join!(newer, execute, older.answer(), end);
    assert_eq!(newer["structuredContent"]["count"], 0, "{newer}");
    assert_eq!(status, StatusCode::OK, "{body}");
    assert_eq!(older["result"]["structuredContent"]["count"], 0);
}
