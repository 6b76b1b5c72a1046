//! What supervisors decide beside approving: who may, and what follows.

use engine::Recruit;
use model::event::EventKind;
use serde_json::{Value, json};
use store::Recipient;

use super::{APPROVE, LINES, commit};
use crate::support::Who;
use crate::support::repository::{Project, git};

const CHANGES: &str = "mcp__supervisor__request_changes";
const FORCE: &str = "mcp__supervisor__force_complete_task";
const EPIC_PR: &str = "mcp__supervisor__create_epic_pr";

#[tokio::test]
async fn a_task_without_a_branch_is_done_when_it_is_approved() {
    let project = Project::with(LINES);
    let world = &project.world;
    let made = world.ok(Who::Operator, "mcp__task__create", json!({ "title": "Think" })).await;
    let task = made["id"].clone();
    let thinker = world.enlist_for("worker", task.as_str().unwrap().parse().unwrap()).await;
    let refused =
        world.refused(Who::Operator, APPROVE, json!({ "taskId": task }), "CONFLICT").await;
    assert_eq!(
        refused.message(),
        "TAS-1 is IN_PROGRESS, and only what is in REVIEW can be approved"
    );
    world.ok(thinker, "mcp__task__update_status", json!({ "status": "REVIEW" })).await;
    let answer = world.ok(Who::Operator, APPROVE, json!({ "taskId": task })).await;
    assert_eq!(answer, json!({ "taskId": task, "mergeId": null, "status": "completed" }));
    let now = world.ok(Who::Operator, "mcp__task__get", json!({ "taskId": task })).await;
    assert_eq!(now["state"], "COMPLETED");
    // One that works in the project itself has put its work where it belongs.
    let made = world.ok(Who::Operator, "mcp__task__create", json!({ "title": "Here" })).await;
    let named = made["id"].as_str().unwrap().parse().unwrap();
    let recruit = Recruit {
        role: "worker".into(),
        task: Some(named),
        epic: None,
        cwd: Some(".".into()),
        parent: None,
    };
    let worker = world.engine.enlist(recruit).await.unwrap().agent;
    world.ok(worker, "mcp__task__update_status", json!({ "status": "REVIEW" })).await;
    let answer = world.ok(Who::Operator, APPROVE, json!({ "taskId": made["id"] })).await;
    assert_eq!((&answer["status"], &answer["mergeId"]), (&json!("completed"), &Value::Null));
    project.in_order().await;
}

#[tokio::test]
async fn work_in_a_worktree_that_somebody_else_made_is_found_by_its_folder() {
    let project = Project::with(LINES);
    let world = &project.world;
    let made = world.ok(Who::Operator, "mcp__task__create", json!({ "title": "Own" })).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let dir = elsewhere.path().join("own");
    git(&project.root, &["worktree", "add", "-q", "-b", "feature", &dir.display().to_string()]);
    let recruit = Recruit {
        role: "worker".into(),
        task: Some(made["id"].as_str().unwrap().parse().unwrap()),
        epic: None,
        cwd: Some(dir.display().to_string()),
        parent: None,
    };
    let worker = world.engine.enlist(recruit).await.unwrap().agent;
    commit(&dir, "own.txt", "own\n");
    world.ok(worker, "mcp__task__update_status", json!({ "status": "REVIEW" })).await;
    let answer = world.ok(Who::Operator, APPROVE, json!({ "taskId": made["id"] })).await;
    assert_eq!(answer["status"], "merged", "{answer}");
    assert!(project.root.join("own.txt").exists());
    project.in_order().await;
}

#[tokio::test]
async fn a_gone_branch_is_told_of_and_the_task_stays_where_it_is() {
    let project = Project::with(LINES);
    let work = project.handed("Gone", "new.txt", "new\n").await;
    git(&work.dir, &["checkout", "-q", "--detach"]);
    git(&project.root, &["branch", "-D", &format!("adjutant/{}", work.worker)]);
    let input = json!({ "taskId": work.task });
    let refused = project.world.refused(Who::Operator, APPROVE, input, "RESOURCE_NOT_FOUND").await;
    assert!(refused.message().contains("of TAS-1 is gone"), "{}", refused.body);
    assert_eq!(project.state(&work).await, "REVIEW");
}

#[tokio::test]
async fn changes_go_to_a_live_worker_by_mail() {
    let project = Project::with(LINES);
    let epic = project.epic().await;
    let boss = project.world.enlist_in("supervisor", epic).await;
    let work = project.begun("Add it", Some(epic), None).await;
    let input = json!({ "taskId": work.task, "feedback": "Name it better." });
    project.world.refused(boss, CHANGES, input.clone(), "CONFLICT").await;
    let work = project.hand_in(work, "new.txt", "new\n").await;
    let answer = project.world.ok(boss, CHANGES, input).await;
    assert_eq!(
        (&answer["state"], &answer["agentId"]),
        (&json!("IN_PROGRESS"), &json!(work.worker))
    );
    let letters = project.letters(Recipient::Agent(work.worker));
    assert_eq!(letters[0].subject, "Changes Requested: TAS-1 Add it");
    assert!(letters[0].body.starts_with("Name it better."));
    assert_eq!(letters[0].from, Some(boss));
    let task = project.task(&work).await;
    assert_eq!(task["comments"][0]["body"], "Changes requested:\n\nName it better.");
    assert_eq!(task["comments"][0]["agentId"], json!(boss));
    let empty = json!({ "taskId": work.task, "feedback": "  " });
    project.world.refused(boss, CHANGES, empty, "INVALID_INPUT").await;
}

#[tokio::test]
async fn changes_wait_for_the_next_worker_where_there_is_none_and_take_what_is_held_out() {
    let project = Project::with(LINES);
    let work = project.handed("Two", "lines.txt", &LINES.replace("two", "zwei")).await;
    std::fs::write(project.root.join("lines.txt"), "mine\n").unwrap();
    let held = project.approve(&work).await;
    assert_eq!(held["status"], "held");
    project.world.discharge(work.worker).await;
    let input = json!({ "taskId": work.task, "feedback": "Name it better." });
    let answer = project.world.ok(Who::Operator, CHANGES, input).await;
    assert_eq!((&answer["state"], &answer["agentId"]), (&json!("PENDING"), &Value::Null));
    assert_eq!(answer["branchName"], format!("adjutant/{}", work.worker));
    let merge = held["mergeId"].as_str().unwrap().parse().unwrap();
    let merge = project.world.store.read(|tx| tx.merge_get(merge)).unwrap().unwrap();
    assert_eq!(merge.state.name(), "sent_back");
    assert_eq!(merge.reason.as_deref(), Some("changes were requested"));
    project.settled().await;
}

#[tokio::test]
async fn what_is_completed_by_force_is_not_merged_and_that_is_on_record() {
    let project = Project::with(LINES);
    let epic = project.epic().await;
    let boss = project.world.enlist_in("supervisor", epic).await;
    let work = project.begun("Add it", Some(epic), None).await;
    let head = commit(&work.dir, "new.txt", "new\n");
    let input = json!({ "taskId": work.task, "reason": "It came another way." });
    let answer = project.world.ok(boss, FORCE, input.clone()).await;
    assert_eq!(answer["state"], "COMPLETED");
    let task = project.task(&work).await;
    let remark = "Completed without a merge: It came another way.";
    assert_eq!(task["comments"][0]["body"], remark);
    let logged = project.world.told(EventKind::DecisionLogged);
    assert_eq!(logged[0].data["title"], "TAS-1 was completed by force");
    assert_eq!(logged[0].data["logId"], answer["logId"]);
    let worker = project.world.store.read(|tx| tx.agent_get(work.worker)).unwrap().unwrap();
    assert_eq!(worker.state.name().stored(), "killed");
    project.in_order().await;
    let branch = format!("adjutant/{}", work.worker);
    assert_eq!(git(&project.root, &["rev-parse", &branch]), head, "its work is not lost");
    project.world.refused(boss, FORCE, input, "CONFLICT").await;
}

#[tokio::test]
async fn only_who_leads_the_epic_decides_about_its_tasks() {
    let project = Project::with(LINES);
    let (mine, other) = (project.epic().await, project.epic().await);
    let work = project.begun("Add it", Some(mine), None).await;
    let work = project.hand_in(work, "new.txt", "new\n").await;
    let stranger = project.world.enlist_in("supervisor", other).await;
    let nobodys = project.world.enlist("supervisor").await;
    let input = json!({ "taskId": work.task });
    project.world.refused(stranger, APPROVE, input.clone(), "PERMISSION_DENIED").await;
    let boss = project.world.enlist_in("supervisor", mine).await;
    let refused = project.world.refused(nobodys, APPROVE, input.clone(), "PERMISSION_DENIED").await;
    assert!(refused.message().contains(&boss.to_string()), "{}", refused.body);
    for (tool, more) in [(CHANGES, "feedback"), (FORCE, "reason")] {
        let input = json!({ "taskId": work.task, more: "Because." });
        project.world.refused(stranger, tool, input, "PERMISSION_DENIED").await;
    }
    project.world.refused(stranger, EPIC_PR, json!({ "epicId": mine }), "PERMISSION_DENIED").await;
    assert_eq!(project.world.ok(boss, APPROVE, input).await["status"], "merged");
    project.in_order().await;
}

#[tokio::test]
async fn an_epics_pull_request_waits_until_all_its_tasks_are_over() {
    let project = Project::with(LINES);
    let epic = project.epic().await;
    let boss = project.world.enlist_in("supervisor", epic).await;
    let refused = project.world.refused(boss, EPIC_PR, json!({}), "CONFLICT").await;
    assert!(refused.message().contains("no tasks"), "{}", refused.body);
    let work = project.begun("Add it", Some(epic), None).await;
    let refused = project.world.refused(boss, EPIC_PR, json!({}), "CONFLICT").await;
    assert_eq!(refused.message(), "the epic has open tasks: TAS-1 (in_progress)");
    let work = project.hand_in(work, "new.txt", "new\n").await;
    project.world.ok(boss, APPROVE, json!({ "taskId": work.task })).await;
    // All is over, and then it is GitHub that is missing.
    let refused = project.world.ask(boss, EPIC_PR, json!({})).await.unwrap_err();
    assert!(refused.message().contains("remote"), "{}", refused.body);
    let refused = project.world.refused(Who::Operator, EPIC_PR, json!({}), "INVALID_INPUT").await;
    assert_eq!(refused.body["details"]["field"], "epicId");
}
