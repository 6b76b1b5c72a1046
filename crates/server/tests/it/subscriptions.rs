//! Resources, and being told that they changed.

use http::StatusCode;
use serde_json::{Value, json};

use crate::world::{OPERATOR, Stream, World, newer_request, whole};

const CONTEXT: &str = "agents://context";

async fn listen(world: &World, token: &str, uris: &[&str]) -> Stream {
    let params = json!({ "notifications": { "resourceSubscriptions": uris } });
    let response = world.send(newer_request("/mcp", token, "subscriptions/listen", params)).await;
    assert_eq!(response.status(), StatusCode::OK);
    Stream::of(response)
}

fn updated(message: &Value) -> &str {
    assert_eq!(message["method"], "notifications/resources/updated", "{message}");
    message["params"]["uri"].as_str().unwrap()
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let list = world.newer("/mcp", &member.token, "resources/list", json!({})).await;
    let resources = list["result"]["resources"].as_array().unwrap();
    assert_eq!(list["result"]["cacheScope"], "private");
    for resource in resources {
        let params = json!({ "uri": resource["uri"] });
        let read = world.newer("/mcp/mail", &member.token, "resources/read", params).await;
        let contents = &read["result"]["contents"][0];
        assert_eq!(contents["uri"], resource["uri"]);
        assert_eq!(contents["mimeType"], resource["mimeType"], "{read}");
        assert!(contents["text"].is_string(), "{read}");
    }
    let templates = world.newer("/mcp", &member.token, "resources/templates/list", json!({})).await;
    let templates = templates["result"]["resourceTemplates"].as_array().unwrap().len();
    assert_eq!(templates, engine::RESOURCE_TEMPLATES.len());
    for uri in ["agents://nothing", "agents://agent/sp_ffffffffffffffff"] {
        let request = newer_request("/mcp", &member.token, "resources/read", json!({ "uri": uri }));
        let (_, _, answer) = whole(world.send(request).await).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[tokio::test]
async fn the_newer_era_listens() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let own = format!("agents://agent/{}", member.id);
    let mut stream = listen(&world, &member.token, &[CONTEXT, "agents://nothing"]).await;
    let first = stream.next().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    let accepted = &first["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(*accepted, json!([CONTEXT]), "what is not there is not accepted");
    let mut other = listen(&world, OPERATOR, &[&own]).await;
    other.next().await.unwrap();

    world.enlist("worker").await;
    let told = stream.next().await.unwrap();
    assert_eq!(updated(&told), CONTEXT);
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1, "{told}");
    world
        .execute(&member.token, "mcp__system__log_decision", json!({ "title": "t", "body": "b" }))
        .await;
    assert_eq!(updated(&other.next().await.unwrap()), own, "and not of what it did not ask for");

    world.app.shutdown.cancel();
    loop {
        let last = stream.next().await.unwrap();
        if last.get("result").is_some() {
            break;
        }
    }
    assert!(stream.next().await.is_none(), "the end of the server is told properly");
}

#[tokio::test]
async fn the_older_era_subscribes() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let session = world.open("/mcp", &member.token).await;
    let mut stream = world.hear(&session).await;
    let answer = world.older(&session, "resources/subscribe", json!({ "uri": CONTEXT })).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    let wrong =
        world.older(&session, "resources/subscribe", json!({ "uri": "agents://nothing" })).await;
    assert_eq!(wrong["error"]["code"], -32002, "{wrong}");

    world.enlist("worker").await;
    assert_eq!(updated(&stream.next().await.unwrap()), CONTEXT);

    let own = format!("agents://agent/{}", member.id);
    world.older(&session, "resources/subscribe", json!({ "uri": own })).await;
    world.older(&session, "resources/unsubscribe", json!({ "uri": CONTEXT })).await;
    world.enlist("worker").await;
    world
        .execute(&member.token, "mcp__system__log_decision", json!({ "title": "t", "body": "b" }))
        .await;
    assert_eq!(updated(&stream.next().await.unwrap()), own, "it heard no more of the other");
}

#[tokio::test]
async fn a_subscription_outlives_the_server() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let session = world.open("/mcp", &member.token).await;
    world.older(&session, "resources/subscribe", json!({ "uri": CONTEXT })).await;

    let world = world.restarted().await;
    let mut stream = world.hear(&session).await;
    assert_eq!(updated(&stream.next().await.unwrap()), CONTEXT, "it may have missed something");
    world.enlist("worker").await;
    assert_eq!(updated(&stream.next().await.unwrap()), CONTEXT);
}

#[tokio::test]
async fn who_does_not_read_holds_nobody_up() {
    let world = World::new();
    let lazy = world.open("/mcp", OPERATOR).await;
    let _unread = world.hear(&lazy).await;
    world.older(&lazy, "resources/subscribe", json!({ "uri": CONTEXT })).await;
    let mut stream = listen(&world, OPERATOR, &[CONTEXT]).await;
    stream.next().await.unwrap();
    for _ in 0..100 {
        world.enlist("worker").await;
    }
    assert_eq!(updated(&stream.next().await.unwrap()), CONTEXT);
}
