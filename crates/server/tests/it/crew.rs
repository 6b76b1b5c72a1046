//! The crew and the frame around every page, as the page asks for them.

use engine::Opened;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{OPERATOR, World};

async fn refused(world: &World, path: &str, field: &str) {
    let (status, body) = world.ask(Method::GET, path, OPERATOR, None).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{path}: {body}");
    assert_eq!(body["details"]["field"], json!(field), "{path}: {body}");
}

#[tokio::test]
async fn the_frame_tells_where_one_is_and_who_is_there() {
    let world = World::new();
    world.enlist("worker").await;
    let frame = world.get("/api/overview").await;
    assert_eq!(frame["readOnly"], json!(false));
    assert_eq!(frame["agents"]["running"], json!(1));
    assert_eq!(frame["today"], json!({ "usd": 0.0, "limitUsd": null, "tokens": 0 }));
    for field in ["version", "project", "home", "now", "startedAt"] {
        assert!(frame[field].is_string(), "{field}: {frame}");
    }
    let day = world.get("/api/overview?day=2026-11-15T00:00:00Z").await;
    assert_eq!(day["needsYouCount"], json!(0));
}

#[tokio::test]
async fn the_crew_unfolds_and_is_renewed_row_by_row() {
    let world = World::new();
    let parent = world.enlist("worker").await;
    let body = json!({ "role": "worker", "parent": parent.id });
    let (status, child) = world.ask(Method::POST, "/api/agents", OPERATOR, Some(body)).await;
    assert_eq!(status, StatusCode::CREATED, "{child}");
    let child = child["agentId"].as_str().unwrap().to_owned();
    let roots = world.get("/api/crew?past=leave&window=3600").await;
    let rows = roots["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["liveBelow"], &rows[0]["depth"]), (&json!(1), &json!(0)));
    assert_eq!(rows[0]["segments"][0]["state"], json!("running"));
    let below = world.get(&format!("/api/crew?parent={}", parent.id)).await;
    assert_eq!(below["rows"][0]["id"], json!(child));
    assert_eq!((&below["rows"][0]["segments"], &below["nextCursor"]), (&Value::Null, &Value::Null));
    let again = world.get(&format!("/api/crew/rows?ids={child},{}", parent.id)).await;
    assert_eq!(again["rows"].as_array().unwrap().len(), 2);
    let found = world.get("/api/crew?q=WORKER&limit=1").await;
    assert_eq!(found["rows"].as_array().unwrap().len(), 1);
    assert!(found["nextCursor"].is_number());
    let ended = world.get("/api/crew?state=ended").await;
    assert_eq!(ended["rows"], json!([]));
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_and_named() {
    let world = World::new();
    let id = world.enlist("worker").await.id;
    refused(&world, "/api/crew?state=busy", "state").await;
    refused(&world, "/api/crew?past=yes", "past").await;
    refused(&world, "/api/crew?limit=0", "limit").await;
    refused(&world, "/api/crew?window=0", "window").await;
    refused(&world, &format!("/api/crew?q={}", "x".repeat(201)), "q").await;
    refused(&world, &format!("/api/crew?parent={id}&state=running"), "parent").await;
    refused(&world, "/api/crew/rows?ids=nobody", "ids").await;
    let many = vec![id.to_string(); 201].join(",");
    refused(&world, &format!("/api/crew/rows?ids={many}"), "ids").await;
    let (status, _) = world.ask(Method::GET, "/api/crew?colour=blue", OPERATOR, None).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "an unknown parameter");
}

#[tokio::test]
async fn roles_are_told_with_what_plays_them() {
    let world = World::new();
    let roles = world.get("/api/roles").await;
    let worker = roles["roles"].as_array().unwrap().iter().find(|role| role["name"] == "worker");
    let worker = worker.unwrap();
    for field in ["displayName", "description", "category", "kind", "model"] {
        assert!(worker.get(field).is_some(), "{field}: {worker}");
    }
}

#[tokio::test]
async fn agents_are_not_shown_the_crew() {
    let world = World::new();
    let member = world.enlist("worker").await;
    for path in ["/api/overview", "/api/crew", "/api/crew/rows?ids=", "/api/roles"] {
        let (status, _) = world.ask(Method::GET, path, &member.token, None).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}");
    }
}

#[tokio::test]
async fn a_viewer_sees_it_all_and_is_told_that_it_may_only_look() {
    let world = World::new();
    let agent = world.enlist("worker").await.id;
    let link = world.engine().link_make(Opened::ToLook { days: None }).await.unwrap();
    let viewer = world.engine().log_in(&link.code).await.unwrap().token;
    let rows = format!("/api/crew/rows?ids={agent}");
    for path in ["/api/overview", "/api/crew", &rows, "/api/roles"] {
        let (status, body) = world.ask(Method::GET, path, &viewer, None).await;
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        if path == "/api/overview" {
            assert_eq!(body["readOnly"], json!(true));
        }
    }
    let run = json!({ "role": "worker", "prompt": "p" });
    let (status, _) = world.ask(Method::POST, "/api/runs", &viewer, Some(run)).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    let kill = json!({ "agentId": agent });
    let (status, _) = world.execute(&viewer, "mcp__harness__kill_agent", kill).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
}
