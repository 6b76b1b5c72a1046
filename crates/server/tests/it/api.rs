//! `/api`, `/metrics` and `/healthz`.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{OPERATOR, World};

#[tokio::test]
async fn an_agent_is_enlisted_and_discharged() {
    let world = World::new();
    let body = json!({ "role": "worker", "cwd": world.project() });
    let (status, joined) = world.ask(Method::POST, "/api/agents", OPERATOR, Some(body)).await;
    assert_eq!(status, StatusCode::CREATED, "{joined}");
    let (id, token) = (joined["agentId"].as_str().unwrap(), joined["token"].as_str().unwrap());
    assert_eq!(joined["url"], "http://127.0.0.1:3001");
    let claude = joined["mcpConfig"]["mcpServers"].as_object().unwrap();
    assert_eq!(
        claude["mail"],
        json!({
            "type": "http",
            "url": "http://127.0.0.1:3001/mcp/mail",
            "alwaysLoad": true,
            "timeout": 600_000,
            "headers": { "Authorization": format!("Bearer {token}") },
        })
    );
    assert!(!claude.contains_key("epic"), "a worker may use no tool of it");
    let codex = joined["codexConfig"].as_str().unwrap();
    let section = "[mcp_servers.mail]\nurl = \"http://127.0.0.1:3001/mcp/mail\"\n\
        bearer_token_env_var = \"ADJUTANT_TOKEN\"\ndefault_tools_approval_mode = \"approve\"\n\
        tool_timeout_sec = 600\n";
    assert!(codex.contains(section), "{codex}");

    let (status, body) = world.ask(Method::GET, "/api/status", token, None).await;
    assert_eq!((status, &body["operator"]), (StatusCode::OK, &json!(false)));
    let listed = world.get("/api/agents").await;
    let agent = &listed["agents"][0];
    assert_eq!(agent["id"], id);
    let keys: Vec<&String> = agent.as_object().unwrap().keys().collect();
    let expected = [
        "category",
        "costUsd",
        "depth",
        "finishedAt",
        "id",
        "kind",
        "model",
        "parentId",
        "reason",
        "role",
        "startedAt",
        "state",
        "summary",
        "taskSlug",
    ];
    assert_eq!(keys, expected);
    assert_eq!(agent["state"], "running");

    let path = format!("/api/agents/{id}/discharge");
    let (status, left) =
        world.ask(Method::POST, &path, OPERATOR, Some(json!({ "reason": "done" }))).await;
    assert_eq!((status, left), (StatusCode::OK, json!({ "agentId": id, "state": "succeeded" })));
    let (status, body) = world.ask(Method::POST, &path, OPERATOR, None).await;
    assert_eq!((status, &body["code"]), (StatusCode::CONFLICT, &json!("INVALID_AGENT_STATE")));
    let (status, _) = world.ask(Method::GET, "/api/status", token, None).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED, "its token is void");
    assert_eq!(world.get("/api/agents").await["agents"], json!([]));
    assert_eq!(world.get("/api/agents?all=true").await["agents"][0]["state"], "succeeded");
}

#[tokio::test]
async fn bad_requests_are_answered_in_one_shape() {
    let world = World::new();
    for (method, path, body, status, code) in [
        (Method::POST, "/api/agents", json!({}), 422, "INVALID_INPUT"),
        (Method::POST, "/api/agents", json!({ "rolle": "worker" }), 422, "INVALID_INPUT"),
        (Method::POST, "/api/agents", json!({ "role": "wroker" }), 404, "RESOURCE_NOT_FOUND"),
        (
            Method::POST,
            "/api/agents",
            json!({ "role": "worker", "parent": "x" }),
            422,
            "INVALID_INPUT",
        ),
        (
            Method::POST,
            "/api/agents",
            json!({ "role": "worker", "task": "nothing" }),
            404,
            "RESOURCE_NOT_FOUND",
        ),
        (Method::POST, "/api/agents/x/discharge", json!({}), 422, "INVALID_INPUT"),
        (
            Method::POST,
            "/api/agents/sp_0000000000000000/discharge",
            json!({}),
            404,
            "AGENT_NOT_FOUND",
        ),
        (Method::GET, "/api/agents?al=true", Value::Null, 422, "INVALID_INPUT"),
        (Method::GET, "/api/agents?all=perhaps", Value::Null, 422, "INVALID_INPUT"),
        (Method::GET, "/api/agents?limit=0", Value::Null, 422, "INVALID_INPUT"),
        (Method::GET, "/api/audit?limit=1001", Value::Null, 422, "INVALID_INPUT"),
        (Method::GET, "/api/audit?agentId=x", Value::Null, 422, "INVALID_INPUT"),
        (Method::GET, "/api/decisions?after=x", Value::Null, 422, "INVALID_INPUT"),
        (Method::GET, "/api/events?kind=mail.snet", Value::Null, 422, "INVALID_INPUT"),
        (Method::GET, "/api/events?waitSeconds=241", Value::Null, 422, "INVALID_INPUT"),
    ] {
        let (found, answer) = world.ask(method, path, OPERATOR, Some(body.clone())).await;
        assert_eq!(found.as_u16(), status, "{path} {body}: {answer}");
        assert_eq!(answer["code"], code, "{path} {body}: {answer}");
        assert!(answer["message"].is_string(), "{path} {body}: {answer}");
    }
}

#[tokio::test]
async fn events_are_listed_and_waited_for() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let all = world.get("/api/events").await;
    let events = all["events"].as_array().unwrap();
    assert_eq!(events[0]["kind"], "agent.created");
    assert_eq!(events[0]["agentId"], json!(member.id));
    assert_eq!(all["last"], events.last().unwrap()["number"]);
    let page = world.get("/api/events?limit=1").await;
    assert_eq!(page["events"], json!([events[0]]));
    assert_eq!(page["last"], 1, "go on from here");
    let last = all["last"].as_i64().unwrap();
    let none = world.get(&format!("/api/events?after={last}")).await;
    assert_eq!(none, json!({ "events": [], "last": last }));

    let path = format!("/api/events?after={last}&kind=mail.sent&waitSeconds=240");
    let waiting = world.get(&path);
    // Polled after the request, which waits by then.
    let letter = async {
        world.enlist("worker").await;
        let letter = json!({ "toHuman": true, "subject": "s", "body": "b" });
        world.execute(&member.token, "mcp__mail__send", letter).await
    };
    let (told, _) = tokio::join!(waiting, letter);
    assert_eq!(told["events"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!(told["events"][0]["kind"], "mail.sent");
    assert_eq!(told["events"][0]["data"]["isForHuman"], true);
    assert_eq!(told["last"], told["events"][0]["number"]);
}

#[tokio::test]
async fn the_record_is_paged_and_holds() {
    let world = World::new();
    let member = world.enlist("worker").await;
    for title in ["one", "two", "three"] {
        let input = json!({ "title": title, "body": "why" });
        world.execute(&member.token, "mcp__system__log_decision", input).await;
    }
    world.execute(&member.token, "mcp__epic__create", json!({ "title": "x" })).await;
    let path = format!("/api/audit?agentId={}&tool=mcp__system__log_decision&limit=2", member.id);
    let page = world.get(&path).await;
    assert_eq!(page["rows"].as_array().unwrap().len(), 2);
    let cursor = page["nextCursor"].as_i64().unwrap();
    let rest = world.get(&format!("{path}&after={cursor}")).await;
    assert_eq!(rest["rows"].as_array().unwrap().len(), 1);
    assert!(rest.get("nextCursor").is_none());
    let body: Value = serde_json::from_str(rest["rows"][0]["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["input"]["title"], "three");

    let verified = world.get("/api/audit/verify").await;
    assert_eq!(verified["ok"], true, "{verified}");
    let all = world.get("/api/audit").await;
    let last = all["rows"].as_array().unwrap().last().unwrap();
    assert_eq!((&verified["rows"], &verified["head"]), (&last["number"], &last["hash"]));

    let log = world.get(&format!("/api/decisions?agentId={}", member.id)).await;
    let words: Vec<&str> = log["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["decision"].as_str().unwrap())
        .collect();
    let tool = "mcp__system__log_decision";
    let (invoked, result) = (format!("Invoked tool: {tool}"), format!("Tool result: {tool}"));
    assert_eq!(words[..3], [&*invoked, "one", &*result]);
    assert_eq!(words[9..], ["Invoked tool: mcp__epic__create", "Tool error: mcp__epic__create"]);
    assert!(log["decisions"][1]["id"].as_str().unwrap().starts_with("log_"));
    assert_eq!(log["decisions"][10]["context"]["code"], "PERMISSION_DENIED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_that_hangs_makes_the_server_unhealthy_until_it_goes_on() {
    let world = World::with_writer_stall(Duration::from_millis(1));
    let health = async || {
        let asked = crate::world::request(Method::GET, "/healthz", None, axum::body::Body::empty());
        crate::world::whole(world.send(asked).await).await
    };
    let (release, released) = std::sync::mpsc::channel::<()>();
    let store = world.store.clone();
    let hanging = tokio_util::task::TaskTracker::new().spawn(async move {
        let wait = move |_: &mut store::Tx<'_>| {
            // Ends when the sender is gone.
            _ = released.recv();
            Ok::<_, store::StoreError>(())
        };
        store.write(wait).await
    });
    let (status, _, body) = loop {
        let answer = health().await;
        if answer.0 != StatusCode::OK {
            break answer;
        }
    };
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body["status"], "unhealthy");
    assert_eq!(body["reason"], "the database writer has been busy with one commit for 0 s");
    drop(release);
    hanging.await.unwrap().unwrap();
    while health().await.0 != StatusCode::OK {}
    world.store.close().await;
    let (status, _, body) = health().await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body["reason"], "the database writer has stopped");
}

#[tokio::test]
async fn the_server_tells_how_it_does() {
    let world = World::new();
    let health =
        world.send(crate::world::request(Method::GET, "/healthz", None, axum::body::Body::empty()));
    let (_, _, health) = crate::world::whole(health.await).await;
    assert_eq!(health, json!({ "status": "ok", "version": "0.1.0" }));
    let member = world.enlist("worker").await;
    world.execute(&member.token, "mcp__mail__list_inbox", json!({})).await;
    world.call("/mcp/mail", &member.token, "list_inbox", json!({})).await;
    world.call("/mcp", &member.token, "mail_read", json!({})).await;
    let status = world.get("/api/status").await;
    assert_eq!((&status["agents"], &status["calls"]), (&json!(1), &json!(3)));
    assert_eq!(status["pid"], std::process::id());
    assert_eq!(status["home"], world.project().display().to_string());

    let text = world.get("/metrics").await;
    let text = text.as_str().unwrap();
    for line in [
        r#"adjutant_tool_calls_total{tool="mcp__mail__list_inbox",outcome="ok"} 2"#,
        r#"adjutant_tool_calls_total{tool="mcp__mail__read",outcome="INVALID_INPUT"} 1"#,
        r#"adjutant_tool_duration_seconds_count{tool="mcp__mail__list_inbox"} 2"#,
        "adjutant_agents_live 1",
        "adjutant_last_event 2",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[tokio::test]
async fn configuration_is_read_again_and_the_server_ends() {
    let world = World::new();
    let (status, report) = world.ask(Method::POST, "/api/reload", OPERATOR, None).await;
    let read = json!({ "roles": 3, "warnings": ["odd"], "read": true, "changes": [] });
    assert_eq!((status, report), (StatusCode::OK, read));
    let events = world.get("/api/events?kind=config.reloaded").await;
    assert_eq!(events["events"].as_array().unwrap().len(), 1);
    assert_eq!(world.get("/api/audit/verify").await["ok"], true);
    let (status, _) = world.ask(Method::POST, "/api/shutdown", OPERATOR, None).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    assert!(world.app.shutdown.is_cancelled());
}

#[tokio::test]
async fn the_description_names_every_tool() {
    let world = World::new();
    let document = world.get("/api/openapi.json").await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{}", document["openapi"]);
    for tool in engine::TOOLS {
        let schema = &document["components"]["schemas"][tool.name];
        assert_eq!(schema["properties"], tool.described().input["properties"], "{}", tool.name);
    }
    // What is referred to is there.
    let text = document.to_string();
    for reference in text.split("#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(!document["components"]["schemas"][name].is_null(), "{name}");
    }
}
