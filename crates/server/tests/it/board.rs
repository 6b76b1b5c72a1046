//! `/api/board`, `/api/tasks` and `/api/epics`: pages, names that are odd, who may look, and that looking is all they do.

use engine::Opened;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{OPERATOR, World};

async fn task(world: &World, input: Value) -> Value {
    let (status, made) = world.execute(OPERATOR, "mcp__task__create", input).await;
    assert_eq!(status, StatusCode::OK, "{made}");
    made["data"].clone()
}

#[tokio::test]
async fn the_board_has_five_columns_and_pages_go_on_where_they_ended() {
    let world = World::new();
    for at in 1..=5 {
        task(&world, json!({ "title": format!("Task {at}") })).await;
    }
    let board = world.get("/api/board?limit=2").await;
    let names: Vec<&str> =
        board["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["blocked", "ready", "inProgress", "inReview", "done"]);
    let ready = &board["columns"][1];
    assert_eq!((&ready["count"], ready["tasks"].as_array().unwrap().len()), (&json!(5), 2));
    let row = &ready["tasks"][0];
    assert_eq!(
        (&row["number"], &row["state"], &row["storedState"], &row["column"], &row["priority"]),
        (&json!(5), &json!("PENDING"), &json!("pending"), &json!("ready"), &json!(2))
    );
    assert_eq!(
        (&row["needs"], &row["agent"], &row["costUsd"]),
        (&json!([]), &json!(null), &json!(null))
    );
    let mut seen: Vec<i64> = numbers(&ready["tasks"]);
    let mut cursor = ready["nextCursor"].clone();
    while let Some(after) = cursor.as_str() {
        let page = world.get(&format!("/api/tasks?column=ready&limit=2&after={after}")).await;
        seen.extend(numbers(&page["tasks"]));
        cursor = page["nextCursor"].clone();
    }
    assert_eq!(seen, [5, 4, 3, 2, 1], "the newest first");
    assert_eq!(numbers(&world.get("/api/tasks?numbers=4,2").await["tasks"]), [4, 2]);
}

fn numbers(tasks: &Value) -> Vec<i64> {
    tasks.as_array().unwrap().iter().map(|task| task["number"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn a_task_is_found_by_id_number_and_slug_and_nonsense_is_told() {
    let world = World::new();
    let made = task(&world, json!({ "title": "Odd", "slug": "odd-one" })).await;
    for name in [made["id"].as_str().unwrap(), "TAS-1", "tas-1", "1", "odd-one"] {
        let whole = world.get(&format!("/api/tasks/{name}")).await;
        assert_eq!(whole["title"], "Odd", "{name}");
        assert_eq!(whole["history"][0]["text"], "created by the operator");
        let history = world.get(&format!("/api/tasks/{name}/history?limit=1")).await;
        assert_eq!(
            (&history["history"][0]["kind"], &history["nextCursor"]),
            (&json!("task.created"), &json!(null))
        );
    }
    for (name, status) in [
        ("TAS-77", StatusCode::NOT_FOUND),
        ("99999999999999999999", StatusCode::UNPROCESSABLE_ENTITY),
        ("no-such-slug", StatusCode::NOT_FOUND),
        ("task_12", StatusCode::UNPROCESSABLE_ENTITY),
        ("No%20Such", StatusCode::UNPROCESSABLE_ENTITY),
        ("%F0%9F%A6%80", StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        let (found, body) =
            world.ask(Method::GET, &format!("/api/tasks/{name}"), OPERATOR, None).await;
        assert_eq!(found, status, "{name}: {body}");
        assert!(body["message"].is_string() && body["code"].is_string(), "{name}: {body}");
    }
    // Names that routes have are not tasks.
    assert!(world.get("/api/tasks/review-queue").await["tasks"].is_array());
    assert_eq!(
        world.get("/api/tasks/graph").await,
        json!({ "nodes": [], "edges": [], "truncated": false })
    );
}

#[tokio::test]
async fn odd_questions_are_refused_with_the_field() {
    let world = World::new();
    let wrong = [
        ("/api/board?limit=0", "limit"),
        ("/api/board?limit=1001", "limit"),
        ("/api/tasks?column=todo", "column"),
        ("/api/tasks?after=12", "after"),
        ("/api/tasks?numbers=1,x", "numbers"),
        ("/api/epics?limit=0", "limit"),
        ("/api/epics/none", "id"),
    ];
    for (path, field) in wrong {
        let (status, body) = world.ask(Method::GET, path, OPERATOR, None).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{path}: {body}");
        assert_eq!(body["details"]["field"], field, "{path}: {body}");
    }
    for path in ["/api/board?colour=red", "/api/board?epic=x", "/api/tasks/graph?limit=5"] {
        let (status, body) = world.ask(Method::GET, path, OPERATOR, None).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{path}: {body}");
    }
    let (status, _) =
        world.ask(Method::GET, "/api/epics/epic_0000000000000001", OPERATOR, None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_visitor_may_look_and_not_move_anything_and_an_agent_may_neither() {
    let world = World::new();
    task(&world, json!({ "title": "Look at me" })).await;
    let link = world.engine().link_make(Opened::ToLook { days: None }).await.unwrap();
    let viewer = world.engine().log_in(&link.code).await.unwrap().token;
    let agent = world.enlist("worker").await.token;
    for path in [
        "/api/board",
        "/api/tasks",
        "/api/tasks/1",
        "/api/tasks/1/history",
        "/api/tasks/graph",
        "/api/epics",
    ] {
        let (status, _) = world.ask(Method::GET, path, &viewer, None).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        let (status, _) = world.ask(Method::GET, path, &agent, None).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}");
    }
    let moved = json!({ "id": "TAS-1", "status": "in_progress" });
    let (status, _) = world.execute(&viewer, "mcp__session__task-update", moved).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert_eq!(world.get("/api/tasks/1").await["column"], "ready");
}

#[tokio::test]
async fn epics_stand_above_with_their_counts() {
    let world = World::new();
    let (_, made) =
        world.execute(OPERATOR, "mcp__epic__create", json!({ "title": "Console" })).await;
    let id = made["data"]["id"].as_str().unwrap().to_owned();
    task(&world, json!({ "title": "One", "epicId": id })).await;
    task(&world, json!({ "title": "Two" })).await;
    let page = world.get("/api/epics").await;
    let epic = &page["epics"][0];
    assert_eq!(
        (&epic["title"], &epic["tasks"], &epic["done"]),
        (&json!("Console"), &json!(1), &json!(0))
    );
    assert_eq!(
        epic["counts"],
        json!({ "blocked": 0, "ready": 1, "inProgress": 0, "inReview": 0, "done": 0 })
    );
    assert_eq!(world.get(&format!("/api/epics/{id}")).await, *epic);
    let board = world.get(&format!("/api/board?epic={id}")).await;
    assert_eq!(board["columns"][1]["count"], 1);
}
