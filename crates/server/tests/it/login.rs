//! Into the page: links, tabs, what each may, and the page's own files.

use axum::body::Body;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{CHANGED, OPERATOR, Stream, World, request, whole};

async fn link(world: &World, input: Value) -> (String, String) {
    let (status, made) = world.ask(Method::POST, "/api/links", OPERATOR, Some(input)).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    let url = made["url"].as_str().unwrap();
    let code = url.strip_prefix("http://127.0.0.1:3001/#login=").unwrap();
    (made["id"].as_str().unwrap().to_owned(), code.to_owned())
}

/// Without any token, as a tab does it.
async fn log_in(world: &World, code: &str) -> (StatusCode, Value) {
    let body = Body::from(json!({ "code": code }).to_string());
    let (status, _, answer) =
        whole(world.send(request(Method::POST, "/api/login", None, body)).await).await;
    (status, answer)
}

async fn token(world: &World, code: &str) -> String {
    let (status, answer) = log_in(world, code).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    answer["token"].as_str().unwrap().to_owned()
}

async fn status(world: &World, token: &str) -> u16 {
    world.ask(Method::GET, "/api/agents", token, None).await.0.as_u16()
}

#[tokio::test]
async fn a_link_lets_a_tab_in_once_and_then_says_why_not() {
    let world = World::new();
    let (_, code) = link(&world, json!({})).await;
    let (code_status, answer) = log_in(&world, &code).await;
    assert_eq!((code_status, &answer["readOnly"]), (StatusCode::OK, &json!(false)));
    let token = answer["token"].as_str().unwrap();
    let (status, told) = world.execute(token, "mcp__mail__list_inbox", json!({})).await;
    assert_eq!(status, StatusCode::OK, "it acts as the operator: {told}");
    let (status, refused) = log_in(&world, &code).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert_eq!(refused["details"]["reason"], "used");
    assert_eq!(refused["suggestions"], json!(["run `adjutant open` for a new link"]));
}

#[tokio::test]
async fn a_link_for_looking_lets_in_often_and_nobody_act() {
    let world = World::new();
    let (_, code) = link(&world, json!({ "readOnly": true, "days": 2 })).await;
    for _ in 0..2 {
        let (_, answer) = log_in(&world, &code).await;
        assert_eq!(answer["readOnly"], true);
        let token = answer["token"].as_str().unwrap();
        assert_eq!(status(&world, token).await, 200);
        let (_, tools) = world.ask(Method::GET, "/api/tools", token, None).await;
        assert_eq!(tools["tools"], json!([]), "there is nothing that it may use");
        let (status, refused) = world.execute(token, "mcp__mail__list_inbox", json!({})).await;
        assert_eq!(
            (status, &refused["code"]),
            (StatusCode::FORBIDDEN, &json!("PERMISSION_DENIED"))
        );
        let run = json!({ "role": "worker", "prompt": "x" });
        let (status, _) = world.ask(Method::POST, "/api/runs", token, Some(run)).await;
        assert_eq!(status, StatusCode::FORBIDDEN);
        let (status, _) = world.ask(Method::POST, "/api/links", token, Some(json!({}))).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "nor let itself in as somebody else");
    }
    let input = json!({ "days": 2 });
    let (status, refused) = world.ask(Method::POST, "/api/links", OPERATOR, Some(input)).await;
    assert_eq!(
        (status, &refused["details"]["field"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &json!("days"))
    );
}

#[tokio::test]
async fn a_tab_stays_in_over_a_restart_and_a_used_link_stays_used() {
    let world = World::new();
    let (_, code) = link(&world, json!({})).await;
    let token = token(&world, &code).await;
    let world = world.restarted().await;
    assert_eq!(status(&world, &token).await, 200);
    assert_eq!(log_in(&world, &code).await.1["details"]["reason"], "used");
}

#[tokio::test]
async fn a_revoked_link_ends_its_tabs_and_what_they_hear_at_once() {
    let world = World::new();
    let (id, code) = link(&world, json!({ "readOnly": true })).await;
    let token = token(&world, &code).await;
    let events = request(Method::GET, "/api/events?stream=sse", Some(&token), Body::empty());
    let mut heard = Stream::of(world.send(events).await);
    let listed = world.get("/api/links").await;
    assert_eq!((&listed["links"][0]["id"], &listed["links"][0]["tabs"]), (&json!(id), &json!(1)));
    let path = format!("/api/links/{id}/revoke");
    let (_, revoked) = world.ask(Method::POST, &path, OPERATOR, None).await;
    assert_eq!(revoked, json!({ "tabs": 1 }));
    while heard.next().await.is_some() {}
    assert_eq!(status(&world, &token).await, 401);
    assert_eq!(world.get("/api/links").await["links"], json!([]));
    let (status, _) = world.ask(Method::POST, &path, OPERATOR, None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, _) = world.ask(Method::POST, "/api/links/x/revoke", OPERATOR, None).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn who_logs_out_is_out() {
    let world = World::new();
    let visitor = world.visitor().await;
    assert_eq!(status(&world, &visitor).await, 200);
    let out = world.send(request(Method::POST, "/api/logout", Some(&visitor), Body::empty())).await;
    assert_eq!(out.status(), StatusCode::NO_CONTENT);
    assert_eq!(status(&world, &visitor).await, 401);
    let (status, refused) = world.ask(Method::POST, "/api/logout", OPERATOR, None).await;
    assert_eq!(
        status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "the operator's own token stays: {refused}"
    );
}

#[tokio::test]
async fn guessing_is_refused_after_a_while() {
    let world = World::new();
    let mut last = StatusCode::OK;
    for n in 0..31 {
        last = log_in(&world, &format!("adjlink_{n}")).await.0;
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn links_are_listed_in_pages() {
    let world = World::new();
    for _ in 0..3 {
        link(&world, json!({ "readOnly": true })).await;
    }
    let first = world.get("/api/links?limit=2").await;
    let next = first["nextCursor"].as_str().unwrap();
    let rest = world.get(&format!("/api/links?after={next}")).await;
    assert_eq!(first["links"].as_array().unwrap().len(), 2);
    assert_eq!(rest["links"].as_array().unwrap().len(), 1);
    assert_eq!(rest["nextCursor"], Value::Null);
}

#[tokio::test]
async fn the_page_itself_needs_no_token_but_the_right_name() {
    let world = World::new();
    let ask = async |path: &str, host: &str| {
        let mut request = request(Method::GET, path, None, Body::empty());
        request.headers_mut().insert("host", host.parse().unwrap());
        request.headers_mut().insert("accept", "text/html".parse().unwrap());
        world.send(request).await
    };
    for path in ["/", "/crew", "/agents/sp_0000000000000001"] {
        let page = ask(path, "127.0.0.1:3001").await;
        assert_eq!(page.status(), StatusCode::OK, "{path}");
        let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        let (_, _, html) = whole(page).await;
        assert!(html.as_str().unwrap().starts_with("<!doctype html>"), "{html}");
        assert_eq!(ask(path, "evil.example").await.status(), StatusCode::FORBIDDEN);
    }
    for path in ["/api/agents", "/mcp", "/metrics", "/api/nothing"] {
        let refused = ask(path, "127.0.0.1:3001").await;
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
}

#[tokio::test]
async fn what_a_person_does_on_the_page_reads_changed_settings_first() {
    let world = World::new();
    let (_, code) = link(&world, json!({})).await;
    let tab = token(&world, &code).await;
    let reloads = async || {
        let events = world.get("/api/events?kind=config.reloaded").await;
        events["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["data"].clone())
            .collect::<Vec<_>>()
    };
    let mark = || std::fs::write(world.home().join(CHANGED), "").unwrap();
    world.execute(&tab, "mcp__mail__list_inbox", json!({})).await;
    assert_eq!(reloads().await, Vec::<Value>::new(), "nothing has changed");
    // A program with the operator's token, and an agent, go on with what was read last.
    mark();
    let worker = world.enlist("worker").await;
    world.execute(&worker.token, "mcp__mail__list_inbox", json!({})).await;
    world.execute(OPERATOR, "mcp__mail__list_inbox", json!({})).await;
    assert_eq!(reloads().await, Vec::<Value>::new());
    world.execute(&tab, "mcp__mail__list_inbox", json!({})).await;
    let read =
        json!({ "roles": 3, "warnings": ["odd"], "changes": ["role coder: tools gains Bash"] });
    assert_eq!(reloads().await, std::slice::from_ref(&read));
    mark();
    let (status, _) = world.ask(Method::POST, "/api/links", &tab, Some(json!({}))).await;
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!(reloads().await, [read.clone(), read]);
    // Who asks only for changed files is told whether there were any.
    let (_, report) = world.ask(Method::POST, "/api/reload?changed=true", OPERATOR, None).await;
    assert_eq!((&report["read"], &report["changes"]), (&json!(false), &json!([])));
    assert_eq!(reloads().await.len(), 2);
}
