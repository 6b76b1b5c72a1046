//! Notes, summaries and the end of a session.

use model::event::EventKind;
use serde_json::{Value, json};

use crate::support::{Who, World};

const ADD: &str = "mcp__session__note-add";
const LIST: &str = "mcp__session__note-list";
const SUMMARY: &str = "mcp__session__iteration-summary";
const COMPLETE: &str = "mcp__session__session-complete";
const TASK_ADD: &str = "mcp__session__task-add";
const TASK_UPDATE: &str = "mcp__session__task-update";

#[tokio::test]
async fn notes_are_written_together_and_read_in_pages() {
    let world = World::new();
    let worker = world.in_loop("worker", "night").await;
    let notes = json!({ "notes": [
        { "content": "the port is taken", "type": "stuck" },
        { "content": "use 0", "type": "tip" },
        { "content": "it picks one", "type": "learning" },
    ] });
    let added = world.ok(worker, ADD, notes).await;
    let expected = json!({ "count": 3, "notes": [
        { "id": "NOT-1", "type": "stuck" }, { "id": "NOT-2", "type": "tip" },
        { "id": "NOT-3", "type": "learning" },
    ] });
    assert_eq!(added, expected);
    assert_eq!(world.told(EventKind::NoteAdded).len(), 3);
    let page = world.ok(worker, LIST, json!({ "limit": 2, "type": "" })).await;
    assert_eq!(
        page["notes"][0],
        json!({ "id": "NOT-1", "type": "stuck", "content": "the port is taken", "iteration": 0,
            "agentId": worker, "createdAt": "2025-11-15T12:05:09.042Z" })
    );
    let rest = json!({ "limit": 2, "cursor": page["nextCursor"] });
    let rest = world.ok(worker, LIST, rest).await;
    assert_eq!((&rest["notes"][0]["id"], rest.get("nextCursor")), (&json!("NOT-3"), None));
    let tips = world.ok(worker, LIST, json!({ "type": "tip" })).await;
    assert_eq!(tips["notes"].as_array().unwrap().len(), 1);
    assert_eq!(world.ok(Who::Operator, LIST, json!({})).await, json!({ "notes": [] }));
}

#[tokio::test]
async fn a_bad_note_keeps_all_of_them_out() {
    let world = World::new();
    let too_many: Vec<Value> = (0..101).map(|_| json!({ "content": "x", "type": "tip" })).collect();
    for (notes, field) in [
        (
            json!([{ "content": "good", "type": "tip" }, { "content": "x", "type": "joke" }]),
            "notes[1].type",
        ),
        (
            json!([{ "content": "good", "type": "tip" }, { "content": " ", "type": "tip" }]),
            "notes[1].content",
        ),
        (json!([{ "content": "x".repeat(8001), "type": "tip" }]), "notes[0].content"),
        (json!([]), "notes"),
        (json!(too_many), "notes"),
    ] {
        let input = json!({ "notes": notes });
        let refusal = world.refused(Who::Operator, ADD, input, "INVALID_INPUT").await;
        assert_eq!(refusal.body["details"]["field"], field);
    }
    assert_eq!(world.ok(Who::Operator, LIST, json!({})).await, json!({ "notes": [] }));
}

#[tokio::test]
async fn an_iteration_has_one_summary_and_the_last_word_counts() {
    let world = World::new();
    let worker = world.in_loop("worker", "night").await;
    for summary in ["half", "whole"] {
        let answer = world.ok(worker, SUMMARY, json!({ "summary": summary })).await;
        assert_eq!(answer, json!({ "iteration": 0, "recorded": true }));
    }
    let kept = world.store.read(|tx| tx.iteration_list("night")).unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].summary.as_deref(), Some("whole"));
    assert_eq!(world.told(EventKind::IterationSummarised).len(), 2);
}

#[tokio::test]
async fn a_session_is_complete_when_nothing_is_open() {
    let world = World::new();
    let worker = world.in_loop("worker", "night").await;
    let tasks: Vec<Value> = (0..22).map(|n| json!({ "content": format!("task {n}") })).collect();
    world.ok(worker, TASK_ADD, json!({ "tasks": tasks })).await;
    // Another session's tasks are another session's business.
    world.ok(Who::Operator, TASK_ADD, json!({ "tasks": [{ "content": "else" }] })).await;
    let refusal = world.refused(worker, COMPLETE, json!({}), "CONFLICT").await;
    assert!(refusal.message().contains("TAS-20, and more"), "{}", refusal.message());
    let named = refusal.body["details"]["tasks"].as_array().unwrap();
    assert_eq!(named.len(), 20);
    assert_eq!(named[0], json!({ "id": "TAS-1", "content": "task 0", "status": "remaining" }));

    let set =
        |number: usize, status: &str| json!({ "id": format!("TAS-{number}"), "status": status });
    for number in 1..=22 {
        let status = ["completed", "blocked", "cancelled"][number % 3];
        world.ok(worker, TASK_UPDATE, set(number, status)).await;
    }
    world.ok(worker, TASK_UPDATE, set(1, "in_progress")).await;
    let refusal = world.refused(worker, COMPLETE, json!({}), "CONFLICT").await;
    assert_eq!(refusal.message(), "session `night` has open tasks: TAS-1");
    world.ok(worker, TASK_UPDATE, set(1, "blocked")).await;
    for _ in 0..2 {
        let answer = world.ok(worker, COMPLETE, json!({})).await;
        assert_eq!(answer, json!({ "session": "night", "complete": true }));
    }
    assert_eq!(world.told(EventKind::SessionCompleted).len(), 1);
}

#[tokio::test]
async fn new_work_opens_a_completed_session_again() {
    let world = World::new();
    let worker = world.in_loop("worker", "night").await;
    let supervisor = world.in_loop("supervisor", "night").await;
    let completed = || {
        let session = world.store.read(|tx| tx.session_get("night")).unwrap();
        session.is_some_and(|session| session.completed_at.is_some())
    };
    let cancelled = json!({ "tasks": [{ "content": "a", "status": "cancelled" }] });
    world.ok(worker, TASK_ADD, cancelled).await;
    let openings = [
        (worker, TASK_ADD, json!({ "tasks": [{ "content": "b" }] }), "TAS-2"),
        (supervisor, "mcp__task__create", json!({ "title": "c" }), "TAS-3"),
        (worker, TASK_UPDATE, json!({ "id": "TAS-1", "status": "remaining" }), "TAS-1"),
    ];
    for (who, tool, input, opened) in openings {
        world.ok(worker, COMPLETE, json!({})).await;
        assert!(completed());
        world.ok(who, tool, input).await;
        assert!(!completed(), "{tool}");
        world.ok(worker, TASK_UPDATE, json!({ "id": opened, "status": "completed" })).await;
    }
    assert!(!completed());
}
