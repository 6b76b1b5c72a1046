//! Cleaning and copies of the record over HTTP, and what those hear who ask for what is gone.

use http::{Method, StatusCode};
use model::event::EventKind;
use serde_json::{Value, json};
use store::{EventRetention, StoreError, Tx};

use crate::events::{Sse, write};
use crate::world::{OPERATOR, World, request, whole};

/// Removes all events but the last.
pub(crate) async fn remove_events(world: &World) {
    let before = world.engine().now().after_seconds(1);
    let remove =
        move |tx: &mut Tx<'_>| tx.events_remove(EventRetention { before, slack: false }, 1_000_000);
    world.store.write::<_, StoreError>(remove).await.unwrap();
}

async fn get(world: &World, path: &str) -> (StatusCode, Value) {
    let (status, _, body) = whole(
        world.send(request(Method::GET, path, Some(OPERATOR), axum::body::Body::empty())).await,
    )
    .await;
    (status, body)
}

async fn post(world: &World, path: &str, token: &str, body: &Value) -> (StatusCode, Value) {
    let mut asked = request(Method::POST, path, Some(token), body.to_string().into());
    asked.headers_mut().insert("content-type", "application/json".parse().unwrap());
    let (status, _, body) = whole(world.send(asked).await).await;
    (status, body)
}

#[tokio::test]
async fn an_after_behind_which_events_were_removed_is_answered_410_in_every_form() {
    let world = World::new();
    write(&world, EventKind::NoteAdded, 10).await;
    remove_events(&world).await;
    for path in ["/api/events?after=3", "/api/events?after=0", "/api/events?after=8&stream=sse"] {
        let (status, body) = get(&world, path).await;
        assert_eq!(status, StatusCode::GONE, "{path}");
        assert_eq!(
            (&body["code"], &body["details"]["oldest"]),
            (&json!("RESOURCE_NOT_FOUND"), &json!(9))
        );
        assert!(body["suggestions"][0].as_str().unwrap().contains("`after=9`"), "{body}");
    }
    let mut resumed =
        request(Method::GET, "/api/events?stream=sse", Some(OPERATOR), axum::body::Body::empty());
    resumed.headers_mut().insert("last-event-id", "4".parse().unwrap());
    assert_eq!(world.send(resumed).await.status(), StatusCode::GONE);
    // Who says nothing begins with the oldest there is.
    for path in ["/api/events", "/api/events?after=9"] {
        let (status, body) = get(&world, path).await;
        assert_eq!((status, &body["events"][0]["number"]), (StatusCode::OK, &json!(10)), "{path}");
    }
    assert_eq!(get(&world, "/api/events?after=now").await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_stream_that_is_behind_is_told_that_events_were_removed() {
    let world = World::new();
    write(&world, EventKind::NoteAdded, 3000).await;
    let asked = request(
        Method::GET,
        "/api/events?after=0&stream=sse",
        Some(OPERATOR),
        axum::body::Body::empty(),
    );
    let mut stream = Sse::of(world.send(asked).await);
    assert_eq!(stream.next().await.unwrap().name, "head");
    assert_eq!(stream.next().await.unwrap().id, Some(1));
    remove_events(&world).await;
    let mut last = None;
    while let Some(said) = stream.next().await {
        last = Some(said);
    }
    let last = last.unwrap();
    assert_eq!((last.name.as_str(), &last.data["details"]["oldest"]), ("failed", &json!(2999)));
}

#[tokio::test]
async fn only_the_operator_cleans_and_copies() {
    let world = World::new();
    let (visitor, agent) = (world.visitor().await, world.enlist("worker").await);
    for path in ["/api/clean", "/api/snapshot"] {
        for token in [visitor.as_str(), agent.token.as_str()] {
            assert_eq!(
                post(&world, path, token, &json!({})).await.0,
                StatusCode::FORBIDDEN,
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn cleaning_says_what_went_and_what_is_wrong_with_a_request() {
    let world = World::new();
    write(&world, EventKind::NoteAdded, 5).await;
    let input = json!({ "olderThan": "0s", "dryRun": true, "only": ["events", "answers"] });
    let (status, body) = post(&world, "/api/clean", OPERATOR, &input).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let parts: Vec<&str> =
        body["parts"].as_array().unwrap().iter().filter_map(|part| part["part"].as_str()).collect();
    assert_eq!((parts, &body["dryRun"]), (vec!["events", "answers"], &json!(true)));
    for (input, field) in [
        (json!({ "olderThan": "a month" }), "olderThan"),
        (json!({ "olderThan": "-1d" }), "olderThan"),
        (json!({ "only": ["everything"] }), "only"),
        (json!({ "dryrun": true }), "dryrun"),
    ] {
        let (status, body) = post(&world, "/api/clean", OPERATOR, &input).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{input}");
        assert_eq!(body["details"]["field"], field, "{body}");
    }
}

#[tokio::test]
async fn a_copy_of_the_record_is_whole_and_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    write(&world, EventKind::NoteAdded, 5).await;
    let (status, body) = post(&world, "/api/snapshot", OPERATOR, &json!({})).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let file = std::path::PathBuf::from(body["file"].as_str().unwrap());
    store::check_database(&file).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn the_check_of_the_chain_names_its_archives() {
    let world = World::new();
    for _ in 0..5 {
        world.enlist("worker").await;
    }
    let input = json!({ "olderThan": "0s", "only": ["audit"] });
    let (status, body) = post(&world, "/api/clean", OPERATOR, &input).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let name = body["parts"][0]["archives"][0].clone();
    let checked = world.get("/api/audit/verify").await;
    assert_eq!((&checked["ok"], &checked["archives"][0]["archive"]), (&json!(true), &name));
    assert_eq!(checked["archived"], checked["archives"][0]["lastRow"]);
    assert_eq!(world.get("/api/audit/verify?full=false").await["ok"], true);
}
