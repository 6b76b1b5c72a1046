//! Resources, and being told that they changed.

use engine::toolsets::TOOLSETS;
use http::StatusCode;
use model::glob::Glob;
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

/// Reads a resource: its text, or the code of the refusal.
async fn read(world: &World, token: &str, uri: &str) -> Result<String, String> {
    let request = newer_request("/mcp", token, "resources/read", json!({ "uri": uri }));
    let (_, _, answer) = whole(world.send(request).await).await;
    match answer["result"]["contents"][0]["text"].as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(answer["error"]["data"]["code"].as_str().unwrap().to_owned()),
    }
}

async fn listed(world: &World, token: &str) -> Vec<String> {
    let list = world.newer("/mcp", token, "resources/list", json!({})).await;
    let resources = list["result"]["resources"].as_array().unwrap().clone();
    resources.iter().map(|resource| resource["uri"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_resource_tells_no_more_than_the_readers_reach() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let above = world.enlist("supervisor").await;
    let (own, foreign) =
        (format!("agents://agent/{}", one.id), format!("agents://agent/{}", other.id));
    assert!(read(&world, &one.token, &own).await.unwrap().contains("worker"));
    assert_eq!(read(&world, &one.token, &foreign).await.unwrap_err(), "PERMISSION_DENIED");
    for token in [&*above.token, OPERATOR] {
        read(&world, token, &foreign).await.unwrap();
    }
    assert!(!listed(&world, &one.token).await.contains(&foreign));
    assert!(listed(&world, &above.token).await.contains(&foreign));
    // Nor does one hear of it, in either era.
    let mut stream = listen(&world, &one.token, &[&own, &foreign]).await;
    let first = stream.next().await.unwrap();
    assert_eq!(first["params"]["notifications"]["resourceSubscriptions"], json!([own]));
    let session = world.open("/mcp", &one.token).await;
    let answer = world.older(&session, "resources/subscribe", json!({ "uri": foreign })).await;
    assert_eq!(answer["error"]["data"]["code"], "PERMISSION_DENIED", "{answer}");
    let answer = world.older(&session, "resources/subscribe", json!({ "uri": own })).await;
    assert!(answer["error"].is_null(), "{answer}");
    // The log of runs tells of others to who may read them.
    world.engine().discharge(other.id, "secret reason".to_owned()).await.unwrap();
    for (token, told) in [(&*one.token, false), (&*above.token, true), (OPERATOR, true)] {
        let log = read(&world, token, "agents://iac-log").await.unwrap();
        assert_eq!(log.contains(&other.id.to_string()), told, "{log}");
        let page = read(&world, token, CONTEXT).await.unwrap();
        let recent = page.split("## Recent Runs").nth(1).unwrap();
        assert_eq!(recent.contains("worker"), told, "{page}");
    }
    let reads = world.get("/api/record?tool=mcp__resources__read&limit=100").await;
    let agent = one.id.to_string();
    let denied = world.get("/api/record?tool=mcp__resources__read&outcome=denied").await;
    assert!(reads.to_string().contains(&agent), "reading is on record: {reads}");
    assert_eq!(denied["rows"].as_array().unwrap().len(), 1, "{denied}");
}

#[tokio::test]
async fn a_role_that_is_denied_the_tool_is_denied_the_resource() {
    let mut settings = crate::world::settings();
    let deny = |pattern| vec![Glob::new(pattern, &TOOLSETS).unwrap()];
    settings.roles.get_mut("worker").unwrap().rules.deny = deny("mcp__harness__*");
    settings.limits.calls_per_minute = 8;
    let world = World::with_settings(settings.clone());
    let member = world.enlist("worker").await;
    let (_, task) = world.execute(OPERATOR, "mcp__task__create", json!({ "title": "One" })).await;
    let task = task.to_string();
    let task = task.split('"').find(|part| part.starts_with("task_")).unwrap();
    let own = format!("agents://agent/{}", member.id);
    let of_task = format!("agents://task/{task}");
    let uris = [CONTEXT, "agents://iac-log", &*own, &*of_task];
    for uri in uris {
        assert_eq!(
            read(&world, &member.token, uri).await.unwrap_err(),
            "PERMISSION_DENIED",
            "{uri}"
        );
        read(&world, OPERATOR, uri).await.unwrap();
    }
    assert_eq!(listed(&world, &member.token).await, Vec::<String>::new());
    let mut stream = listen(&world, &member.token, &uris).await;
    let first = stream.next().await.unwrap();
    let accepted = &first["params"]["notifications"]["resourceSubscriptions"];
    assert!(accepted.is_null(), "{first}");
    // What is taken away by a reload is not heard of any more.
    let mut allowed = settings.clone();
    allowed.roles.get_mut("worker").unwrap().rules.deny.clear();
    world.engine().set_settings(allowed);
    let session = world.open("/mcp", &member.token).await;
    let mut heard = world.hear(&session).await;
    for uri in [CONTEXT, &of_task] {
        let answer = world.older(&session, "resources/subscribe", json!({ "uri": uri })).await;
        assert!(answer["error"].is_null(), "{answer}");
    }
    let mut partly = settings;
    partly.roles.get_mut("worker").unwrap().rules.deny = deny("mcp__harness__list_agents");
    world.engine().set_settings(partly);
    world.enlist("worker").await;
    let comment = json!({ "taskId": task, "body": "x" });
    let (_, commented) = world.execute(OPERATOR, "mcp__task__add_comment", comment).await;
    let assigned = json!({ "taskId": task, "agentId": member.id });
    let (_, assigned) = world.execute(OPERATOR, "mcp__task__assign", assigned).await;
    let told = heard.next().await.unwrap();
    assert!(updated(&told).starts_with("agents://task/"), "{told} {commented} {assigned}");
    // And reading counts as a call.
    let mut last = String::new();
    for _ in 0..30 {
        last = read(&world, &member.token, &of_task).await.err().unwrap_or_default();
    }
    assert_eq!(last, "RATE_LIMITED");
}
