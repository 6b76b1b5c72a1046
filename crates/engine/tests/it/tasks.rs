//! The office's tasks.

use model::TaskRef;
use model::agent::AgentState;
use model::event::EventKind;
use serde_json::{Value, json};

use crate::support::{Who, World};

const CREATE: &str = "mcp__task__create";
const ASSIGN: &str = "mcp__task__assign";
const UPDATE: &str = "mcp__task__update_status";
const COMMENT: &str = "mcp__task__add_comment";
const GET: &str = "mcp__task__get";
const LIST: &str = "mcp__task__list";

async fn task(world: &World, title: &str) -> Value {
    world.ok(Who::Operator, CREATE, json!({ "title": title })).await
}

/// A task's state by its number, and to whom it was last given.
async fn standing(world: &World, number: &str) -> (Value, Value) {
    let task = world.ok(Who::Operator, GET, json!({ "taskId": number })).await;
    (task["state"].clone(), task["assignedAgentId"].clone())
}

#[tokio::test]
async fn a_task_is_created_whole() {
    let world = World::new();
    let supervisor = world.enlist("supervisor").await;
    let epic = world.ok(supervisor, "mcp__epic__create", json!({ "title": "Login" })).await;
    let first = task(&world, "Read the docs").await;
    let given = json!({
        "title": "Add the JWT login", "description": "With\ntests", "epicId": epic["id"],
        "priority": 0, "dependsOn": [first["slug"], "TAS-1", first["id"]],
    });
    let made = world.ok(supervisor, CREATE, given).await;
    let expected = json!({
        "id": made["id"], "slug": "add-jwt-login-1115-1205", "number": "TAS-2",
        "title": "Add the JWT login", "description": "With\ntests", "state": "PENDING",
        "storedState": "pending", "priority": 0, "dependsOn": [first["id"]], "epicId": epic["id"],
        "assignedAgentId": null, "worktreePath": null, "branchName": null, "prUrl": null,
        "createdAt": "2025-11-15T12:05:09.042Z", "updatedAt": "2025-11-15T12:05:09.042Z",
    });
    assert_eq!(made, expected);
    for name in ["id", "slug", "number"] {
        let mut got = world.ok(supervisor, GET, json!({ "taskId": made[name] })).await;
        let fields = got.as_object_mut().unwrap();
        assert_eq!(fields.remove("comments"), Some(json!([])));
        assert_eq!(fields.remove("history"), Some(json!([])));
        assert_eq!(got, expected);
    }
    let told = world.told(EventKind::TaskCreated);
    assert_eq!(told.len(), 2);
    assert_eq!((told[1].agent, &told[1].data["taskId"]), (Some(supervisor), &made["id"]));
}

#[tokio::test]
async fn what_a_new_task_names_must_be_there() {
    let world = World::new();
    let refused = |input| world.refused(Who::Operator, CREATE, input, "RESOURCE_NOT_FOUND");
    let epic = refused(json!({ "title": "a", "epicId": "epic_00000000000000aa" })).await;
    assert!(epic.message().contains("epic_00000000000000aa"));
    let need = refused(json!({ "title": "a", "dependsOn": ["TAS-77"] })).await;
    assert!(need.message().contains("TAS-77"));
    let list = world.ok(Who::Operator, LIST, json!({})).await;
    assert_eq!(list, json!({ "tasks": [] }), "what was refused leaves nothing");
}

#[tokio::test]
async fn content_is_unique_among_open_tasks_of_a_session() {
    const ADD: &str = "mcp__session__task-add";
    let world = World::new();
    task(&world, "Fix the parser").await;
    task(&world, "Fix the parser").await;
    let same = json!({ "tasks": [{ "content": " fix THE parser " }] });
    let refusal = world.refused(Who::Operator, ADD, same.clone(), "CONFLICT").await;
    assert!(refusal.message().contains("TAS-1"), "{}", refusal.message());
    let elsewhere = world.in_loop("supervisor", "night").await;
    world.ok(elsewhere, ADD, same.clone()).await;
    for number in ["TAS-1", "TAS-2"] {
        for status in ["IN_PROGRESS", "COMPLETED"] {
            world.ok(Who::Operator, UPDATE, json!({ "taskId": number, "status": status })).await;
        }
    }
    world.ok(Who::Operator, ADD, same).await;
}

#[tokio::test]
async fn slugs_are_unique_and_may_be_chosen() {
    let world = World::new();
    assert_eq!(task(&world, "Fix: parser").await["slug"], "fix-parser-1115-1205");
    assert_eq!(task(&world, "Fix, parser").await["slug"], "fix-parser-1115-1205-2");
    assert_eq!(task(&world, "Fix; parser").await["slug"], "fix-parser-1115-1205-3");
    let chosen = world.ok(Who::Operator, CREATE, json!({ "title": "a", "slug": "my-own" })).await;
    assert_eq!(chosen["slug"], "my-own");
    let taken = json!({ "title": "b", "slug": "my-own" });
    world.refused(Who::Operator, CREATE, taken, "CONFLICT").await;
    for slug in ["My Own", "tas-7", "task_7", "-a", "../a"] {
        let input = json!({ "title": "b", "slug": slug });
        let refusal = world.refused(Who::Operator, CREATE, input, "INVALID_INPUT").await;
        assert_eq!(refusal.body["details"]["field"], "slug");
    }
}

#[tokio::test]
async fn slugs_stay_free_when_a_hundred_are_taken() {
    let world = World::new();
    let mut seen = std::collections::HashSet::new();
    for count in 0..105 {
        let task = task(&world, &"?".repeat(count + 1)).await;
        assert!(seen.insert(task["slug"].clone()), "{task}");
        assert!(matches!(task["slug"].as_str().unwrap().parse(), Ok(TaskRef::Slug(_))));
    }
}

#[tokio::test]
async fn an_assigned_task_is_its_agents_current_one() {
    let world = World::new();
    let (supervisor, worker) = (world.enlist("supervisor").await, world.enlist("worker").await);
    let made = task(&world, "Fix the parser").await;
    let input = json!({ "taskId": "TAS-1", "agentId": worker });
    for _ in 0..2 {
        let assigned = world.ok(supervisor, ASSIGN, input.clone()).await;
        assert_eq!(assigned["state"], "ASSIGNED");
        assert_eq!(assigned["assignedAgentId"], worker.to_string());
    }
    assert_eq!(world.told(EventKind::TaskAssigned).len(), 1, "told once");
    let own = world.ok(worker, "mcp__agent__get_task", json!({})).await;
    assert_eq!(own["id"], made["id"]);
    let got = world.ok(worker, GET, json!({ "taskId": "TAS-1" })).await;
    assert_eq!(
        got["history"],
        json!([{ "agentId": worker, "role": "worker", "status": "running",
            "startedAt": "2025-11-15T12:05:09.042Z", "endedAt": null }])
    );
    // Given to another one, it is no longer the first one's to begin.
    let other = world.enlist("worker").await;
    world.ok(supervisor, ASSIGN, json!({ "taskId": "TAS-1", "agentId": other })).await;
    assert_eq!(world.told(EventKind::TaskAssigned).len(), 2);
    let begin = json!({ "status": "IN_PROGRESS" });
    world.refused(worker, UPDATE, begin, "INVALID_AGENT_STATE").await;
    let named = json!({ "taskId": "TAS-1", "status": "IN_PROGRESS" });
    world.refused(worker, UPDATE, named, "PERMISSION_DENIED").await;
}

#[tokio::test]
async fn only_live_agents_are_given_tasks_and_only_tasks_not_begun() {
    let world = World::new();
    let worker = world.enlist("worker").await;
    task(&world, "Fix the parser").await;
    let unknown = json!({ "taskId": "TAS-1", "agentId": "sp_00000000000000ff" });
    world.refused(Who::Operator, ASSIGN, unknown, "AGENT_NOT_FOUND").await;
    let input = json!({ "taskId": "TAS-1", "agentId": worker });
    world.ok(Who::Operator, ASSIGN, input.clone()).await;
    world.ok(worker, UPDATE, json!({ "status": "IN_PROGRESS" })).await;
    let other = world.enlist("worker").await;
    let late = json!({ "taskId": "TAS-1", "agentId": other });
    world.refused(Who::Operator, ASSIGN, late, "CONFLICT").await;
    world.discharge(worker).await;
    world.refused(Who::Operator, ASSIGN, input, "INVALID_AGENT_STATE").await;
    assert_eq!(standing(&world, "TAS-1").await.0, "PENDING", "its end gave it back");
}

#[tokio::test]
async fn without_a_task_one_must_be_named() {
    let world = World::new();
    let worker = world.enlist("worker").await;
    let status = json!({ "status": "IN_PROGRESS" });
    world.refused(worker, UPDATE, status.clone(), "INVALID_AGENT_STATE").await;
    world.refused(Who::Operator, UPDATE, status, "INVALID_AGENT_STATE").await;
    world.refused(worker, COMMENT, json!({ "body": "x" }), "INVALID_AGENT_STATE").await;
}

#[tokio::test]
async fn a_worker_touches_only_its_own_tasks() {
    let world = World::new();
    for title in ["free", "another's", "given", "current"] {
        task(&world, title).await;
    }
    let (worker, other) = (world.enlist("worker").await, world.enlist("coding").await);
    for (task, agent) in [("TAS-2", other), ("TAS-3", worker), ("TAS-4", worker)] {
        world.ok(Who::Operator, ASSIGN, json!({ "taskId": task, "agentId": agent })).await;
    }
    world.ok(other, UPDATE, json!({ "status": "IN_PROGRESS" })).await;
    for task in ["TAS-1", "TAS-2"] {
        for status in ["IN_PROGRESS", "BLOCKED", "COMPLETED", "FAILED", "PENDING"] {
            let input = json!({ "taskId": task, "status": status });
            world.refused(worker, UPDATE, input, "PERMISSION_DENIED").await;
        }
        let input = json!({ "taskId": task, "body": "hm" });
        world.refused(worker, COMMENT, input, "PERMISSION_DENIED").await;
    }
    for task in ["TAS-3", "TAS-4"] {
        world.ok(worker, COMMENT, json!({ "taskId": task, "body": "hm" })).await;
        world.ok(worker, UPDATE, json!({ "taskId": task, "status": "IN_PROGRESS" })).await;
    }
    // A reviewer remarks on what others did, and moves nothing.
    let reviewer = world.enlist("review").await;
    world.ok(reviewer, COMMENT, json!({ "taskId": "TAS-2", "body": "hm" })).await;
    let input = json!({ "taskId": "TAS-2", "status": "COMPLETED" });
    world.refused(reviewer, UPDATE, input, "PERMISSION_DENIED").await;
    // In an agent's name the operator may what the agent may.
    let input = json!({ "taskId": "TAS-1", "status": "IN_PROGRESS" });
    world.refused(Who::As(worker), UPDATE, input.clone(), "PERMISSION_DENIED").await;
    world.ok(world.enlist("planning").await, UPDATE, input).await;
}

#[tokio::test]
async fn to_begin_is_to_claim() {
    let world = World::new();
    let first = world.enlist("planning").await;
    let second = world.enlist("planning").await;
    task(&world, "Fix the parser").await;
    let begin = json!({ "taskId": "TAS-1", "status": "IN_PROGRESS" });
    for _ in 0..2 {
        let begun = world.ok(first, UPDATE, begin.clone()).await;
        assert_eq!(begun["assignedAgentId"], first.to_string());
    }
    assert_eq!(world.told(EventKind::TaskUpdated).len(), 1, "to begin twice is to begin once");
    let refusal = world.refused(second, UPDATE, begin.clone(), "CONFLICT").await;
    assert!(refusal.message().contains(&first.to_string()), "{}", refusal.message());
    let own = world.ok(first, "mcp__agent__get_task", json!({})).await;
    assert_eq!(own["number"], "TAS-1");
    // The holder is gone: the next may have it, under a greater number.
    world.discharge(first).await;
    world.ok(second, UPDATE, begin).await;
    let claims = world.store.read(|tx| tx.tasks_claimed_by(second)).unwrap();
    assert_eq!(claims.len(), 1);
    let claim = claims[0].state.claim().unwrap();
    assert_eq!((claim.number, claim.attempt), (2, 1));
}

#[tokio::test]
async fn what_another_holds_is_not_moved_by_those_who_share_it() {
    let world = World::new();
    task(&world, "Fix the parser").await;
    let holder = world.enlist_for("worker", TaskRef::Number(1)).await;
    let helper = world.enlist_for("worker", TaskRef::Number(1)).await;
    for status in ["IN_PROGRESS", "BLOCKED", "COMPLETED", "FAILED"] {
        let refusal = world.refused(helper, UPDATE, json!({ "status": status }), "CONFLICT").await;
        assert_eq!(refusal.body["details"]["holder"], holder.to_string());
    }
    world.ok(helper, COMMENT, json!({ "body": "it is the lexer" })).await;
    // Who gives tasks out may block one, and send it back to the one who holds it.
    let supervisor = world.enlist("supervisor").await;
    for status in ["BLOCKED", "IN_PROGRESS"] {
        world.ok(supervisor, UPDATE, json!({ "taskId": "TAS-1", "status": status })).await;
    }
    assert_eq!(standing(&world, "TAS-1").await.1, holder.to_string());
    world.ok(holder, UPDATE, json!({ "status": "COMPLETED" })).await;
}

/// The office's table: which status may follow which, for a task on its own and one of an epic.
#[tokio::test]
async fn only_the_offices_transitions_are_made() {
    let world = World::new();
    let epic = world.ok(Who::Operator, "mcp__epic__create", json!({ "title": "e" })).await;
    let worker = world.enlist("worker").await;
    let table: [(&str, &[&str]); 7] = [
        ("PENDING", &["IN_PROGRESS"]),
        ("ASSIGNED", &["IN_PROGRESS", "PENDING"]),
        ("IN_PROGRESS", &["REVIEW", "BLOCKED", "FAILED"]),
        ("REVIEW", &["COMPLETED", "IN_PROGRESS", "BLOCKED"]),
        ("BLOCKED", &["IN_PROGRESS", "FAILED"]),
        ("FAILED", &["IN_PROGRESS"]),
        ("COMPLETED", &[]),
    ];
    let way = |state: &str| -> &[&str] {
        match state {
            "IN_PROGRESS" => &["IN_PROGRESS"],
            "REVIEW" => &["IN_PROGRESS", "REVIEW"],
            "BLOCKED" => &["IN_PROGRESS", "BLOCKED"],
            "FAILED" => &["IN_PROGRESS", "FAILED"],
            "COMPLETED" => &["IN_PROGRESS", "REVIEW", "COMPLETED"],
            _ => &[],
        }
    };
    for epic_id in [Value::Null, epic["id"].clone()] {
        for (from, may) in table {
            for (to, _) in table {
                let title = format!("{from} {to} {epic_id}");
                let made = json!({ "title": title, "epicId": epic_id });
                let id = world.ok(Who::Operator, CREATE, made).await["id"].clone();
                if from == "ASSIGNED" {
                    let input = json!({ "taskId": id, "agentId": worker });
                    world.ok(Who::Operator, ASSIGN, input).await;
                }
                for step in way(from) {
                    let input = json!({ "taskId": id, "status": step });
                    world.ok(Who::Operator, UPDATE, input).await;
                }
                let alone = epic_id.is_null() && (from, to) == ("IN_PROGRESS", "COMPLETED");
                let input = json!({ "taskId": id, "status": to });
                let outcome = world.ask(Who::Operator, UPDATE, input).await;
                match outcome {
                    Ok(task) => {
                        assert_eq!(task["state"], to);
                        assert!(from == to || may.contains(&to) || alone, "{title}");
                    }
                    Err(refusal) => {
                        assert!(from != to && !may.contains(&to) && !alone, "{title}");
                        let code = if to == "ASSIGNED" { "INVALID_INPUT" } else { "CONFLICT" };
                        assert_eq!(refusal.code(), code, "{title}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_reason_is_kept_and_told() {
    let world = World::new();
    task(&world, "Fix the parser").await;
    for (status, reason) in [("IN_PROGRESS", None), ("BLOCKED", Some("no key"))] {
        let input = json!({ "taskId": "TAS-1", "status": status, "reason": reason });
        world.clock.advance_seconds(1);
        world.ok(Who::Operator, UPDATE, input).await;
    }
    let told = world.told(EventKind::TaskUpdated);
    assert_eq!(told[1].data["reason"], "no key");
    assert_eq!(told[1].data["to"], "blocked");
    let got = world.ok(Who::Operator, GET, json!({ "taskId": "TAS-1" })).await;
    assert_eq!(got["updatedAt"], "2025-11-15T12:05:11.042Z");
}

#[tokio::test]
async fn remarks_are_read_with_the_task() {
    let world = World::new();
    let worker = world.enlist("worker").await;
    task(&world, "Fix the parser").await;
    world.ok(Who::Operator, ASSIGN, json!({ "taskId": "TAS-1", "agentId": worker })).await;
    for count in 0..51 {
        world.ok(worker, COMMENT, json!({ "body": format!("remark {count}") })).await;
    }
    let said = world.ok(Who::Operator, COMMENT, json!({ "taskId": "TAS-1", "body": "!" })).await;
    assert_eq!(said["commentId"], 52);
    let got = world.ok(worker, GET, json!({ "taskId": "TAS-1" })).await;
    let comments = got["comments"].as_array().unwrap();
    let at = "2025-11-15T12:05:09.042Z";
    assert_eq!(comments.len(), 50);
    assert_eq!(
        comments[0],
        json!({ "id": 3, "agentId": worker, "body": "remark 2", "createdAt": at })
    );
    assert_eq!(comments[49], json!({ "id": 52, "agentId": null, "body": "!", "createdAt": at }));
    assert_eq!(world.told(EventKind::TaskCommented).len(), 52);
}

#[tokio::test]
async fn tasks_are_listed_in_pages_and_by_what_they_are() {
    let world = World::new();
    let epic = world.ok(Who::Operator, "mcp__epic__create", json!({ "title": "e" })).await;
    for count in 1..=5 {
        let epic_id = if count % 2 == 0 { epic["id"].clone() } else { Value::Null };
        let input = json!({ "title": format!("task {count}"), "epicId": epic_id });
        world.ok(Who::Operator, CREATE, input).await;
    }
    let numbers = |answer: &Value| -> Vec<String> {
        let tasks = answer["tasks"].as_array().unwrap();
        tasks.iter().map(|task| task["number"].as_str().unwrap().to_owned()).collect()
    };
    let page = world.ok(Who::Operator, LIST, json!({ "limit": 3 })).await;
    assert_eq!(numbers(&page), ["TAS-1", "TAS-2", "TAS-3"]);
    let next = json!({ "limit": 3, "cursor": page["nextCursor"] });
    let page = world.ok(Who::Operator, LIST, next).await;
    assert_eq!(
        (numbers(&page), page.get("nextCursor")),
        (vec!["TAS-4".into(), "TAS-5".into()], None)
    );
    let of_epic = world.ok(Who::Operator, LIST, json!({ "epicId": epic["id"] })).await;
    assert_eq!(numbers(&of_epic), ["TAS-2", "TAS-4"]);
    let unknown = json!({ "epicId": "epic_00000000000000aa" });
    world.refused(Who::Operator, LIST, unknown, "RESOURCE_NOT_FOUND").await;
    let cancel = json!({ "id": "TAS-1", "status": "cancelled" });
    world.ok(Who::Operator, "mcp__session__task-update", cancel).await;
    for (state, expected) in [("FAILED", vec!["TAS-1"]), ("REVIEW", vec![])] {
        let listed = world.ok(Who::Operator, LIST, json!({ "state": state })).await;
        assert_eq!(numbers(&listed), expected);
    }
}

#[tokio::test]
async fn critical_tools_mail_the_human_at_once() {
    let world = World::new();
    let supervisor = world.enlist("supervisor").await;
    task(&world, "Fix the parser").await;
    let input = json!({ "taskId": "TAS-1", "status": "REVIEW" });
    world.refused(supervisor, UPDATE, input, "CONFLICT").await;
    let inbox = world.ok(Who::Operator, "mcp__mail__list_inbox", json!({})).await;
    assert_eq!(inbox["mails"][0]["subject"], format!("⚠️ CRITICAL: Tool Failure - {UPDATE}"));
    let critical = |name| engine::by_name(name).unwrap().critical;
    assert!(critical("mcp__epic__update_status"));
    assert!(!critical("mcp__session__task-update"));
}

/// The agent is looked up in the transaction of the call: its new task counts at once.
#[tokio::test]
async fn the_current_task_outlives_the_call() {
    let world = World::new();
    let worker = world.enlist("worker").await;
    task(&world, "Fix the parser").await;
    world.ok(Who::Operator, ASSIGN, json!({ "taskId": "TAS-1", "agentId": worker })).await;
    world.ok(worker, UPDATE, json!({ "status": "IN_PROGRESS" })).await;
    world.ok(worker, UPDATE, json!({ "status": "COMPLETED" })).await;
    let agent = world.store.read(|tx| tx.agent_get(worker)).unwrap().unwrap();
    assert_eq!(agent.state, AgentState::Running);
    assert!(agent.task.is_some());
    assert_eq!(standing(&world, "TAS-1").await, (json!("COMPLETED"), json!(worker)));
}

#[tokio::test]
async fn a_task_that_is_given_to_another_agent_is_no_longer_the_first_ones() {
    const CURRENT: &str = "mcp__agent__get_task";
    let world = World::new();
    let (first, second) = (world.enlist("worker").await, world.enlist("worker").await);
    task(&world, "Move house").await;
    for agent in [first, second] {
        let give = json!({ "taskId": "TAS-1", "agentId": agent });
        world.ok(Who::Operator, ASSIGN, give).await;
    }
    assert_eq!(world.ok(second, CURRENT, json!({})).await["number"], "TAS-1");
    world.refused(first, CURRENT, json!({}), "INVALID_AGENT_STATE").await;
    let touch = json!({ "taskId": "TAS-1", "body": "mine?" });
    world.refused(first, COMMENT, touch, "PERMISSION_DENIED").await;
    // The same where another agent takes it by itself.
    task(&world, "Paint it").await;
    world.ok(Who::Operator, ASSIGN, json!({ "taskId": "TAS-2", "agentId": first })).await;
    let lead = world.enlist("supervisor").await;
    world.ok(lead, UPDATE, json!({ "taskId": "TAS-2", "status": "IN_PROGRESS" })).await;
    world.refused(first, CURRENT, json!({}), "INVALID_AGENT_STATE").await;
    // Another task that the first one has got since stays.
    task(&world, "Clean it").await;
    task(&world, "Heat it").await;
    for number in ["TAS-3", "TAS-4"] {
        world.ok(Who::Operator, ASSIGN, json!({ "taskId": number, "agentId": first })).await;
    }
    world.ok(Who::Operator, ASSIGN, json!({ "taskId": "TAS-3", "agentId": second })).await;
    assert_eq!(world.ok(first, CURRENT, json!({})).await["number"], "TAS-4");
}

/// Moves a new task to a stored state as the operator; gives its number.
async fn task_in(world: &World, epic: Option<&Value>, state: &str) -> Value {
    let input = json!({ "title": format!("Be {state}"), "epicId": epic });
    let made = world.ok(Who::Operator, CREATE, input).await;
    let steps: &[&str] = match state {
        "pending" => &[],
        "in_progress" => &["IN_PROGRESS"],
        "review" => &["IN_PROGRESS", "REVIEW"],
        "blocked" => &["IN_PROGRESS", "BLOCKED"],
        "failed" => &["IN_PROGRESS", "FAILED"],
        "completed" => &["IN_PROGRESS", "REVIEW", "COMPLETED"],
        "assigned" => {
            let agent = world.enlist("worker").await;
            world
                .ok(Who::Operator, ASSIGN, json!({ "taskId": made["id"], "agentId": agent }))
                .await;
            &[]
        }
        "cancelled" => {
            let cancel = json!({ "id": made["number"], "status": "cancelled" });
            world.ok(Who::Operator, "mcp__session__task-update", cancel).await;
            &[]
        }
        _ => &["REVIEW"],
    };
    for status in steps {
        world.ok(Who::Operator, UPDATE, json!({ "taskId": made["id"], "status": status })).await;
    }
    made["number"].clone()
}

#[tokio::test]
async fn every_move_that_a_refusal_advises_is_accepted() {
    let world = World::new();
    let lead = world.enlist("supervisor").await;
    let epic = world.ok(lead, "mcp__epic__create", json!({ "title": "All" })).await;
    let (agent, mut advised) = (world.enlist("worker").await, 0);
    let wanted = ["ASSIGNED", "PENDING", "IN_PROGRESS", "REVIEW", "BLOCKED", "COMPLETED", "FAILED"];
    for state in model::TaskStateName::ALL {
        for epic in [None, Some(&epic["id"])] {
            for wanted in wanted {
                let number = task_in(&world, epic, state.stored()).await;
                let tried = match wanted {
                    "ASSIGNED" => {
                        world.ask(lead, ASSIGN, json!({ "taskId": number, "agentId": agent })).await
                    }
                    status => {
                        world.ask(lead, UPDATE, json!({ "taskId": number, "status": status })).await
                    }
                };
                let Err(refusal) = tried else { continue };
                let Some(first) = refusal.body["details"]["first"].as_str() else { continue };
                advised += 1;
                let step = json!({ "taskId": number, "status": first.to_uppercase() });
                let moved = world.ok(lead, UPDATE, step).await;
                assert_eq!(moved["storedState"], first, "{} to {wanted}", state.stored());
            }
        }
    }
    assert!(advised > 20, "{advised}");
}

#[tokio::test]
async fn only_who_approves_completes_what_is_in_review() {
    const SESSION: &str = "mcp__session__task-update";
    let world = World::new();
    let lead = world.enlist("supervisor").await;
    let epic = world.ok(lead, "mcp__epic__create", json!({ "title": "Login" })).await;
    let id: model::EpicId = epic["id"].as_str().unwrap().parse().unwrap();
    let submitted = async |by: model::AgentId, epic: Option<&Value>| {
        let task = json!({ "title": "Work", "epicId": epic });
        let task = world.ok(Who::Operator, CREATE, task).await["number"].clone();
        world.ok(Who::Operator, ASSIGN, json!({ "taskId": task, "agentId": by })).await;
        for status in ["IN_PROGRESS", "REVIEW"] {
            world.ok(by, UPDATE, json!({ "taskId": task, "status": status })).await;
        }
        task
    };
    for category in ["worker", "coding", "planning", "conversational"] {
        for epic in [Some(&epic["id"]), None] {
            let agent = world.enlist_in(category, id).await;
            let task = submitted(agent, epic).await;
            let office = json!({ "taskId": task, "status": "COMPLETED" });
            let session = json!({ "id": task, "status": "completed" });
            let refusal = world.refused(agent, UPDATE, office.clone(), "PERMISSION_DENIED").await;
            assert!(refusal.message().contains("supervisor"), "{}", refusal.body);
            world.refused(agent, SESSION, session.clone(), "PERMISSION_DENIED").await;
            // Its end does not complete it either.
            world.discharge(agent).await;
            assert_eq!(standing(&world, task.as_str().unwrap()).await.0, "REVIEW");
            // In an epic nobody else of these categories does it for it.
            if epic.is_some() {
                let other = world.enlist_in(category, id).await;
                assert!(world.ask(other, UPDATE, office).await.is_err(), "{category}");
                assert!(world.ask(other, SESSION, session).await.is_err(), "{category}");
            }
        }
    }
    for approver in ["supervisor", "orchestrator"] {
        let worker = world.enlist_in("worker", id).await;
        let task = submitted(worker, Some(&epic["id"])).await;
        let approver = world.enlist(approver).await;
        world.ok(approver, UPDATE, json!({ "taskId": task, "status": "COMPLETED" })).await;
    }
    let worker = world.enlist_in("worker", id).await;
    let task = submitted(worker, Some(&epic["id"])).await;
    world.ok(Who::Operator, UPDATE, json!({ "taskId": task, "status": "COMPLETED" })).await;
}

#[tokio::test]
async fn remarks_that_are_left_out_are_counted_and_can_be_read_on() {
    let world = World::new();
    task(&world, "Talk").await;
    for number in 1..=120 {
        let body = format!("remark {number}.");
        world.ok(Who::Operator, COMMENT, json!({ "taskId": "TAS-1", "body": body })).await;
    }
    let (mut seen, mut cursor, mut left) = (Vec::new(), Value::Null, vec![]);
    loop {
        let input = json!({ "taskId": "TAS-1", "commentsCursor": cursor });
        let got = world.ok(Who::Operator, GET, input).await;
        let bodies = got["comments"].as_array().unwrap().iter();
        let page: Vec<String> =
            bodies.map(|one| one["body"].as_str().unwrap().to_owned()).collect();
        seen.splice(0..0, page);
        left.push(got["earlierComments"].as_u64());
        cursor = got["commentsCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(left, [Some(70), Some(20), None]);
    let all: Vec<String> = (1..=120).map(|number| format!("remark {number}.")).collect();
    assert_eq!(seen, all);
    let context = json!({ "taskSlug": "TAS-1" });
    let context = world.ok(Who::Operator, "mcp__harness__get_task_context", context).await;
    let context = context["context"].as_str().unwrap();
    assert!(context.contains("remark 71.") && !context.contains("remark 70."), "{context}");
    let said = "[... truncated ...] 70 earlier; `mcp__task__get` with `commentsCursor` lists them";
    assert!(context.contains(said), "{context}");
}

#[tokio::test]
async fn notes_that_are_left_out_of_the_context_are_counted() {
    let world = World::new();
    task(&world, "Talk").await;
    for number in 1..=60 {
        let note = json!({ "notes": [{ "content": format!("note {number}."), "type": "tip" }] });
        world.ok(Who::Operator, "mcp__session__note-add", note).await;
    }
    let context = json!({ "taskSlug": "TAS-1" });
    let context = world.ok(Who::Operator, "mcp__harness__get_task_context", context).await;
    let context = context["context"].as_str().unwrap();
    assert!(context.contains("10 earlier; `mcp__session__note-list` lists them"), "{context}");
}
