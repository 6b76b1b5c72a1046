//! Epics.

use model::EpicState;
use model::event::EventKind;
use serde_json::json;

use crate::support::{Who, World};

const CREATE: &str = "mcp__epic__create";
const UPDATE: &str = "mcp__epic__update_status";
const GET: &str = "mcp__epic__get";
const LIST: &str = "mcp__epic__list";

#[tokio::test]
async fn an_epic_is_created_whole_and_once_per_issue() {
    let world = World::new();
    let supervisor = world.enlist("supervisor").await;
    let given = json!({
        "title": "Users", "description": "All of it", "linearIssueId": "LIN-123",
        "linearIssueUrl": "https://linear.app/LIN-123",
    });
    let made = world.ok(supervisor, CREATE, given.clone()).await;
    let at = "2025-11-15T12:05:09.042Z";
    assert_eq!(
        made,
        json!({
            "id": made["id"], "linearIssueId": "LIN-123",
            "linearIssueUrl": "https://linear.app/LIN-123", "title": "Users",
            "description": "All of it", "state": "PLANNING", "createdAt": at, "updatedAt": at,
            "completedAt": null,
        })
    );
    let refusal = world.refused(supervisor, CREATE, given, "CONFLICT").await;
    assert!(refusal.message().contains(made["id"].as_str().unwrap()));
    let told = world.told(EventKind::EpicCreated);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].data["epicId"], made["id"]);
    for title in ["b", "c"] {
        world.ok(supervisor, CREATE, json!({ "title": title })).await;
    }
}

#[tokio::test]
async fn an_epic_moves_only_as_it_may() {
    let world = World::new();
    for from in EpicState::ALL {
        for to in EpicState::ALL {
            let id = world.ok(Who::Operator, CREATE, json!({ "title": "e" })).await["id"].clone();
            let way = match from {
                EpicState::Completed => vec![EpicState::InProgress, EpicState::Completed],
                from => vec![from],
            };
            for status in way {
                world.ok(Who::Operator, UPDATE, json!({ "epicId": id, "status": status })).await;
            }
            let told = world.told(EventKind::EpicUpdated).len();
            world.clock.advance_seconds(1);
            let input = json!({ "epicId": id, "status": to });
            match (from.go(to), world.ask(Who::Operator, UPDATE, input).await) {
                (Ok(to), Ok(epic)) => {
                    assert_eq!(epic["state"], to.name());
                    assert_eq!(epic["completedAt"].is_string(), to == EpicState::Completed);
                    let news = usize::from(from != to);
                    assert_eq!(world.told(EventKind::EpicUpdated).len(), told + news);
                }
                (Err(_), Err(refusal)) => {
                    assert_eq!(refusal.code(), "CONFLICT");
                    assert_eq!(refusal.body["details"]["from"], from.name());
                }
                (model, tool) => panic!("{from:?} to {to:?}: {model:?}, but {tool:?}"),
            }
        }
    }
    let unknown = json!({ "epicId": "epic_00000000000000aa", "status": "BLOCKED" });
    world.refused(Who::Operator, UPDATE, unknown, "RESOURCE_NOT_FOUND").await;
}

#[tokio::test]
async fn an_epic_counts_its_tasks() {
    let world = World::new();
    let epic = world.ok(Who::Operator, CREATE, json!({ "title": "e" })).await["id"].clone();
    for title in ["a", "b", "c"] {
        let input = json!({ "title": title, "epicId": epic });
        world.ok(Who::Operator, "mcp__task__create", input).await;
    }
    let update = "mcp__session__task-update";
    world.ok(Who::Operator, update, json!({ "id": "TAS-2", "status": "in_progress" })).await;
    world.ok(Who::Operator, update, json!({ "id": "TAS-3", "status": "cancelled" })).await;
    let got = world.ok(Who::Operator, GET, json!({ "epicId": epic })).await;
    assert_eq!(got["title"], "e");
    assert_eq!(
        got["taskCounts"],
        json!({ "PENDING": 1, "ASSIGNED": 0, "IN_PROGRESS": 1, "REVIEW": 0, "BLOCKED": 0,
            "COMPLETED": 0, "FAILED": 1 })
    );
    let unknown = json!({ "epicId": "epic_00000000000000aa" });
    world.refused(Who::Operator, GET, unknown, "RESOURCE_NOT_FOUND").await;
}

#[tokio::test]
async fn epics_are_listed_in_pages() {
    let world = World::new();
    for title in ["a", "b", "c"] {
        world.ok(Who::Operator, CREATE, json!({ "title": title })).await;
    }
    let page = world.ok(Who::Operator, LIST, json!({ "limit": 2 })).await;
    assert_eq!(page["epics"][1]["title"], "b");
    let rest = json!({ "limit": 2, "cursor": page["nextCursor"] });
    let page = world.ok(Who::Operator, LIST, rest).await;
    assert_eq!((&page["epics"][0]["title"], page.get("nextCursor")), (&json!("c"), None));
}
