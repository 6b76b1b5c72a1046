//! The session's tasks: adding, updating, listing, taking the next.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::event::EventKind;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::{Who, World};

const ADD: &str = "mcp__session__task-add";
const UPDATE: &str = "mcp__session__task-update";
const LIST: &str = "mcp__session__task-list";
const NEXT: &str = "mcp__session__task-next";

async fn add(world: &World, who: impl Into<Who>, contents: &[&str]) {
    let tasks: Vec<Value> = contents.iter().map(|content| json!({ "content": content })).collect();
    world.ok(who, ADD, json!({ "tasks": tasks })).await;
}

async fn update(world: &World, who: impl Into<Who>, id: &str, status: &str) -> Value {
    world.ok(who, UPDATE, json!({ "id": id, "status": status })).await
}

#[tokio::test]
async fn tasks_are_added_whole_and_priority_nought_is_kept() {
    let world = World::new();
    let worker = world.in_loop("worker", "night").await;
    let given = json!({ "tasks": [
        { "content": "first\nof all", "priority": 0 },
        { "content": "second", "status": "", "priority": "", "depends_on": "" },
        { "content": "third", "status": "blocked", "priority": 4, "depends_on": null },
    ] });
    let added = world.ok(worker, ADD, given).await;
    let expected = json!({ "count": 3, "tasks": [
        { "id": "TAS-1", "content": "first\nof all", "status": "remaining", "priority": 0, "depends_on": [] },
        { "id": "TAS-2", "content": "second", "status": "remaining", "priority": 2, "depends_on": [] },
        { "id": "TAS-3", "content": "third", "status": "blocked", "priority": 4, "depends_on": [] },
    ] });
    assert_eq!(added, expected);
    assert_eq!(world.told(EventKind::TaskCreated).len(), 3);
    // The same rows are the office's and the harness's.
    let office = world.ok(worker, "mcp__task__get", json!({ "taskId": "TAS-1" })).await;
    assert_eq!((&office["title"], &office["priority"]), (&json!("first\nof all"), &json!(0)));
    let slug = office["slug"].clone();
    let by_slug = world.ok(worker, UPDATE, json!({ "id": slug, "priority": 1 })).await;
    assert_eq!((&by_slug["id"], &by_slug["priority"]), (&json!("TAS-1"), &json!(1)));
    let by_id = world.ok(worker, UPDATE, json!({ "id": office["id"] })).await;
    assert_eq!(by_id["id"], "TAS-1");
}

#[tokio::test]
async fn a_batch_is_added_whole_or_not_at_all() {
    let world = World::new();
    let item = |content: &str| json!({ "content": content });
    let many: Vec<Value> = (0..101).map(|n| item(&n.to_string())).collect();
    for (tasks, code, in_message) in [
        (
            json!([item("a"), item("b"), item(" A ")]),
            "CONFLICT",
            "`tasks[2]`: session `default` already has an open task with this content: TAS-1",
        ),
        (
            json!([item("a"), { "content": "b", "depends_on": "TAS-9" }]),
            "RESOURCE_NOT_FOUND",
            "`tasks[1]`: there is no task `TAS-9`",
        ),
        (
            json!([item("a"), { "content": "b", "depends_on": "TAS-1" }]),
            "RESOURCE_NOT_FOUND",
            "`tasks[1]`: there is no task `TAS-1`",
        ),
        (
            json!([item("a"), { "content": "b", "priority": 5 }]),
            "INVALID_INPUT",
            "`tasks[1].priority`",
        ),
        (
            json!([item("a"), { "content": "b", "status": "nonsense" }]),
            "INVALID_INPUT",
            "`tasks[1].status`",
        ),
        (json!([item("a"), item("")]), "INVALID_INPUT", "`tasks[1].content`"),
        (json!([item("a"), item(&"x".repeat(4001))]), "INVALID_INPUT", "`tasks[1].content`"),
        (json!([]), "INVALID_INPUT", "`tasks`: has 0 items; it must have 1 to 100"),
        (json!(many), "INVALID_INPUT", "`tasks`: has 101 items"),
    ] {
        let refusal = world.refused(Who::Operator, ADD, json!({ "tasks": tasks }), code).await;
        assert!(refusal.message().starts_with(in_message), "{}", refusal.message());
    }
    assert_eq!(world.ok(Who::Operator, LIST, json!({})).await["count"], 0);
    assert_eq!(world.events().len(), 0, "nothing was told of either");
    add(&world, Who::Operator, &["a"]).await;
}

#[tokio::test]
async fn outside_a_loop_adding_needs_the_right_to_create() {
    let world = World::new();
    for role in model::policy::BUILT_IN_CATEGORIES {
        let tasks = json!({ "tasks": [{ "content": role }] });
        let looped = world.in_loop(role, "night").await;
        world.ok(looped, ADD, tasks.clone()).await;
        let enlisted = world.enlist(role).await;
        if ["worker", "coding", "review"].contains(&role) {
            world.refused(enlisted, ADD, tasks, "PERMISSION_DENIED").await;
        } else {
            world.ok(enlisted, ADD, tasks).await;
        }
    }
}

#[tokio::test]
async fn an_update_changes_what_it_names_and_tells_of_it_once() {
    let world = World::new();
    let worker = world.in_loop("worker", "night").await;
    add(&world, worker, &["a", "b"]).await;
    let empty = json!({ "id": "TAS-1", "status": "", "priority": "", "depends_on": "" });
    for unchanged in [json!({ "id": "TAS-1" }), empty] {
        let task = world.ok(worker, UPDATE, unchanged).await;
        let expected = json!({ "id": "TAS-1", "content": "a", "status": "remaining", "priority": 2,
            "depends_on": [] });
        assert_eq!(task, expected);
    }
    assert_eq!(world.told(EventKind::TaskUpdated).len(), 0);
    for _ in 0..2 {
        let task = world.ok(worker, UPDATE, json!({ "id": "TAS-1", "priority": 0 })).await;
        assert_eq!(task["priority"], 0);
    }
    assert_eq!(world.told(EventKind::TaskUpdated).len(), 1);
    let all = json!({ "id": "TAS-1", "status": "blocked", "priority": 3, "depends_on": ["TAS-2"] });
    for _ in 0..2 {
        let task = world.ok(worker, UPDATE, all.clone()).await;
        let expected = json!({ "id": "TAS-1", "content": "a", "status": "blocked", "priority": 3,
            "depends_on": ["TAS-2"] });
        assert_eq!(task, expected);
    }
    assert_eq!(world.told(EventKind::TaskUpdated).len(), 2);
    let unknown = json!({ "id": "TAS-9", "priority": 1 });
    world.refused(worker, UPDATE, unknown, "RESOURCE_NOT_FOUND").await;
}

/// From every status to every other: only what is completed stays.
#[tokio::test]
async fn a_session_may_skip_steps() {
    let world = World::new();
    let worker = world.in_loop("worker", "night").await;
    let statuses = ["remaining", "in_progress", "blocked", "completed", "cancelled"];
    let mut number = 0;
    for from in statuses {
        for to in statuses {
            number += 1;
            let content = format!("{from} {to}");
            let tasks = json!({ "tasks": [{ "content": content, "status": from }] });
            let added = world.ok(worker, ADD, tasks).await;
            assert_eq!(added["tasks"][0]["status"], from);
            let input = json!({ "id": format!("TAS-{number}"), "status": to });
            let outcome = world.ask(worker, UPDATE, input).await;
            if from == "completed" && to != "completed" {
                assert_eq!(outcome.unwrap_err().code(), "CONFLICT", "{content}");
            } else {
                assert_eq!(outcome.unwrap()["status"], to, "{content}");
            }
        }
    }
}

#[tokio::test]
async fn no_step_skips_an_epics_review() {
    let world = World::new();
    let epic = world.ok(Who::Operator, "mcp__epic__create", json!({ "title": "e" })).await;
    let input = json!({ "title": "a", "epicId": epic["id"] });
    world.ok(Who::Operator, "mcp__task__create", input).await;
    let done = json!({ "id": "TAS-1", "status": "completed" });
    world.refused(Who::Operator, UPDATE, done, "CONFLICT").await;
}

#[tokio::test]
async fn who_begins_holds_and_only_the_holder_completes() {
    let world = World::new();
    let first = world.in_loop("worker", "night").await;
    let second = world.in_loop("supervisor", "night").await;
    add(&world, first, &["a", "b"]).await;
    update(&world, first, "TAS-1", "in_progress").await;
    for status in ["in_progress", "completed"] {
        let input = json!({ "id": "TAS-1", "status": status });
        let refusal = world.refused(second, UPDATE, input, "CONFLICT").await;
        assert_eq!(refusal.body["details"]["holder"], first.to_string());
    }
    let own = world.ok(first, "mcp__agent__get_task", json!({})).await;
    assert_eq!(own["number"], "TAS-1");
    // What else happens to a held task is for its holder, and for those who give tasks out.
    let third = world.in_loop("worker", "night").await;
    for status in ["remaining", "blocked", "cancelled"] {
        let input = json!({ "id": "TAS-1", "status": status });
        world.refused(third, UPDATE, input, "CONFLICT").await;
    }
    update(&world, second, "TAS-1", "blocked").await;
    update(&world, first, "TAS-1", "completed").await;
    // Who completes a task that nobody held has done it.
    update(&world, third, "TAS-2", "completed").await;
    let done = world.ok(third, "mcp__task__get", json!({ "taskId": "TAS-2" })).await;
    assert_eq!(done["assignedAgentId"], third.to_string());
    assert_eq!(done["history"][0]["agentId"], third.to_string());
}

#[tokio::test]
async fn the_operator_may_complete_what_an_agent_holds() {
    let world = World::new();
    let worker = world.enlist("worker").await;
    add(&world, Who::Operator, &["a"]).await;
    world.ok(worker, NEXT, json!({ "claim": true })).await;
    update(&world, Who::Operator, "TAS-1", "completed").await;
}

#[tokio::test]
async fn work_under_an_old_claim_is_refused() {
    let world = World::new();
    let worker = world.in_loop("worker", "night").await;
    let next = world.in_loop("worker", "night").await;
    add(&world, worker, &["a"]).await;
    let claimed = world.ok(worker, NEXT, json!({ "claim": true })).await;
    assert_eq!(claimed["claim"], 1);
    let report = |claim| json!({ "id": "TAS-1", "priority": 1, "claim": claim });
    world.ok(worker, UPDATE, report(1)).await;
    world.refused(worker, UPDATE, report(2), "CONFLICT").await;
    world.refused(worker, UPDATE, report(0), "CONFLICT").await;
    // Given back, the claim is void; taken by the next one, it has another number.
    update(&world, worker, "TAS-1", "remaining").await;
    world.refused(worker, UPDATE, report(1), "CONFLICT").await;
    assert_eq!(world.ok(next, NEXT, json!({ "claim": true })).await["claim"], 2);
    let refusal = world.refused(worker, UPDATE, report(1), "CONFLICT").await;
    assert!(refusal.message().starts_with("the claim "));
    let done = json!({ "id": "TAS-1", "status": "completed", "claim": 2 });
    for _ in 0..2 {
        world.ok(next, UPDATE, done.clone()).await;
    }
}

#[tokio::test]
async fn sessions_keep_to_themselves() {
    let world = World::new();
    let night = world.in_loop("worker", "night").await;
    let day = world.in_loop("worker", "day").await;
    add(&world, night, &["a"]).await;
    add(&world, day, &["a"]).await;
    let list = world.ok(night, LIST, json!({})).await;
    assert_eq!((&list["count"], &list["remaining"][0]["id"]), (&json!(1), &json!("TAS-1")));
    assert_eq!(world.ok(day, NEXT, json!({})).await["task"]["id"], "TAS-2");
    let foreign = json!({ "id": "TAS-1", "status": "cancelled" });
    world.refused(day, UPDATE, foreign, "RESOURCE_NOT_FOUND").await;
    // But what was given to an agent is its own wherever it comes from, and the operator reaches all.
    let assign = json!({ "taskId": "TAS-1", "agentId": day });
    world.ok(Who::Operator, "mcp__task__assign", assign).await;
    update(&world, day, "TAS-1", "in_progress").await;
    update(&world, Who::Operator, "TAS-2", "blocked").await;
    // One may need what another session does.
    world.ok(night, ADD, json!({ "tasks": [{ "content": "b", "depends_on": "TAS-2" }] })).await;
}

#[tokio::test]
async fn tasks_are_grouped_by_status_in_pages() {
    let world = World::new();
    let statuses = ["remaining", "in_progress", "blocked", "completed", "cancelled"];
    let tasks: Vec<Value> =
        (0..12).map(|n| json!({ "content": format!("t{n}"), "status": statuses[n % 5] })).collect();
    world.ok(Who::Operator, ADD, json!({ "tasks": tasks })).await;
    let list = world.ok(Who::Operator, LIST, json!({})).await;
    assert_eq!((&list["count"], list.get("nextCursor")), (&json!(12), None));
    let ids = |list: &Value, status: &str| -> Vec<String> {
        let group = list[status].as_array().unwrap();
        group.iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&list, "remaining"), ["TAS-1", "TAS-6", "TAS-11"], "ten comes after nine");
    assert_eq!(ids(&list, "cancelled"), ["TAS-5", "TAS-10"]);
    let page = world.ok(Who::Operator, LIST, json!({ "limit": 10 })).await;
    assert_eq!(page["count"], 10);
    let rest = json!({ "limit": 10, "cursor": page["nextCursor"] });
    let rest = world.ok(Who::Operator, LIST, rest).await;
    assert_eq!((&rest["count"], ids(&rest, "remaining")), (&json!(2), vec!["TAS-11".into()]));
    let some = world.ok(Who::Operator, LIST, json!({ "status": "blocked" })).await;
    assert_eq!((&some["count"], ids(&some, "blocked").len()), (&json!(2), 2));
    let all = world.ok(Who::Operator, LIST, json!({ "status": "" })).await;
    assert_eq!(all["count"], 12);
}

#[tokio::test]
async fn next_is_the_first_by_priority_then_age_that_needs_nothing() {
    let world = World::new();
    let worker = world.in_loop("worker", "night").await;
    assert_eq!(world.ok(worker, NEXT, json!({})).await, json!({ "task": null }));
    let tasks = json!({ "tasks": [
        { "content": "old" }, { "content": "needed", "priority": 3 }, { "content": "young" },
    ] });
    world.ok(worker, ADD, tasks).await;
    let urgent = json!({ "content": "urgent", "priority": 0, "depends_on": "TAS-2" });
    world.ok(worker, ADD, json!({ "tasks": [urgent] })).await;
    let next = world.ok(worker, NEXT, json!({})).await;
    let expected = json!({ "task": { "id": "TAS-1", "content": "old", "priority": 2,
        "status": "remaining" } });
    assert_eq!(next, expected);
    assert_eq!(
        world.ok(worker, NEXT, json!({ "claim": false })).await,
        expected,
        "to look is not to take"
    );
    update(&world, worker, "TAS-2", "cancelled").await;
    assert_eq!(world.ok(worker, NEXT, json!({})).await["task"]["id"], "TAS-4", "cancelled is met");
    let claimed = world.ok(worker, NEXT, json!({ "claim": true })).await;
    let expected = json!({ "claim": 1, "task": { "id": "TAS-4", "content": "urgent", "priority": 0,
        "status": "in_progress" } });
    assert_eq!(claimed, expected);
    let own = world.ok(worker, "mcp__agent__get_task", json!({})).await;
    assert_eq!((&own["number"], &own["assignedAgentId"]), (&json!("TAS-4"), &json!(worker)));
    let got = world.ok(worker, "mcp__task__get", json!({ "taskId": "TAS-4" })).await;
    assert_eq!(got["history"][0]["agentId"], worker.to_string());
    // What is given to another is not next for me.
    let other = world.in_loop("worker", "night").await;
    let assign = json!({ "taskId": "TAS-1", "agentId": other });
    world.ok(Who::Operator, "mcp__task__assign", assign).await;
    assert_eq!(world.ok(worker, NEXT, json!({})).await["task"]["id"], "TAS-3");
    assert_eq!(world.ok(other, NEXT, json!({ "claim": true })).await["task"]["id"], "TAS-1");
}

#[tokio::test]
async fn the_operator_looks_and_does_not_claim() {
    let world = World::new();
    add(&world, Who::Operator, &["a"]).await;
    assert_eq!(world.ok(Who::Operator, NEXT, json!({})).await["task"]["id"], "TAS-1");
    let claim = json!({ "claim": true });
    world.refused(Who::Operator, NEXT, claim.clone(), "INVALID_AGENT_STATE").await;
    let worker = world.enlist("worker").await;
    assert_eq!(world.ok(Who::As(worker), NEXT, claim).await["claim"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn two_agents_never_get_the_same_task() {
    let world = Arc::new(World::new());
    let contents: Vec<String> = (0..64).map(|n| format!("task {n}")).collect();
    let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
    add(&world, Who::Operator, &contents).await;
    let mut crew = JoinSet::new();
    for _ in 0..16 {
        let (world, worker) = (Arc::clone(&world), world.enlist("worker").await);
        crew.spawn(async move {
            let mut mine = Vec::new();
            loop {
                let next = world.ok(worker, NEXT, json!({ "claim": true })).await;
                if next["task"].is_null() {
                    return (worker, mine);
                }
                assert_eq!(next["claim"], 1);
                mine.push(next["task"]["id"].as_str().unwrap().to_owned());
            }
        });
    }
    let mut all = BTreeSet::new();
    let mut taken = 0;
    for (worker, mine) in crew.join_all().await {
        let held = world.store.read(|tx| tx.tasks_claimed_by(worker)).unwrap();
        assert_eq!(held.len(), mine.len(), "the record agrees with the answers");
        taken += mine.len();
        all.extend(mine);
    }
    assert_eq!((taken, all.len()), (64, 64));
}

/// The same race for one task by its name: one wins, the others learn who did.
#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn one_task_has_one_winner() {
    let world = Arc::new(World::new());
    add(&world, Who::Operator, &["a"]).await;
    let mut crew = JoinSet::new();
    for round in 0..16 {
        let (world, agent) = (Arc::clone(&world), world.enlist("planning").await);
        crew.spawn(async move {
            let outcome = if round % 2 == 0 {
                let input = json!({ "taskId": "TAS-1", "status": "IN_PROGRESS" });
                world.ask(agent, "mcp__task__update_status", input).await
            } else {
                world.ask(agent, UPDATE, json!({ "id": "TAS-1", "status": "in_progress" })).await
            };
            match outcome {
                Ok(_) => Ok(agent.to_string()),
                Err(refusal) => {
                    Err((refusal.code().to_owned(), refusal.body["details"]["holder"].clone()))
                }
            }
        });
    }
    let (won, lost): (Vec<_>, Vec<_>) = crew.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 15));
    let winner = json!(won[0].clone().unwrap());
    for refusal in lost {
        assert_eq!(refusal.unwrap_err(), ("CONFLICT".to_owned(), winner.clone()));
    }
}
