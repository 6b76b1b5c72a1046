//! What a person who approves is shown: how far a branch is behind, who did it, and what became of it before.

use serde_json::{Value, json};

use engine::{ListScope, ReviewScope};

use super::{LINES, Work, commit};
use crate::support::Who;
use crate::support::repository::Project;

async fn queue(project: &Project) -> Value {
    let queue = project.world.engine.review_desk(ReviewScope::default()).await.unwrap();
    serde_json::to_value(queue).unwrap()
}

/// Work that changes the fourth line to what `main` does not have any more.
async fn clashing(project: &Project) -> Work {
    let work = project.handed("Clash", "lines.txt", &LINES.replace("four", "vier")).await;
    commit(&project.root, "lines.txt", &LINES.replace("four", "quatre"));
    work
}

#[tokio::test]
async fn a_task_in_review_says_who_did_it_and_how_far_it_is_behind() {
    let project = Project::with(LINES);
    let work = project.handed("Add it", "new.txt", "new\n").await;
    let shown = queue(&project).await["tasks"][0].clone();
    assert_eq!((&shown["title"], &shown["behind"]), (&json!("Add it"), &json!(0)));
    let worker = json!({
        "id": work.worker, "role": "worker", "state": "running", "iterations": 0, "maxIterations": 3,
    });
    assert_eq!((&shown["worker"], &shown["lastMerge"]), (&worker, &Value::Null));
    assert_eq!(shown["supervisorId"], Value::Null);
    for file in ["a.txt", "b.txt"] {
        commit(&project.root, file, "x\n");
    }
    let shown = queue(&project).await["tasks"][0].clone();
    assert_eq!((&shown["behind"], &shown["changedFiles"]), (&json!(2), &json!(1)), "{shown}");
}

#[tokio::test]
async fn a_supervisors_tasks_are_told_from_a_persons() {
    let project = Project::with(LINES);
    let epic = project.epic().await;
    let boss = project.world.enlist_in("supervisor", epic).await;
    let work = project.begun("Led", Some(epic), Some("main")).await;
    project.hand_in(work, "new.txt", "new\n").await;
    let shown = queue(&project).await["tasks"][0].clone();
    assert_eq!(shown["supervisorId"], boss.to_string(), "{shown}");
}

#[tokio::test]
async fn what_became_of_work_is_told_when_it_is_handed_in_again() {
    let project = Project::with(LINES);
    let work = clashing(&project).await;
    let sent_back = project.approve(&work).await;
    assert_eq!(sent_back["status"], "sent_back", "{sent_back}");
    assert_eq!(queue(&project).await["tasks"], json!([]));
    project.world.ok(work.worker, "mcp__task__update_status", json!({ "status": "REVIEW" })).await;
    let shown = queue(&project).await["tasks"][0].clone();
    let last = &shown["lastMerge"];
    assert_eq!((&last["state"], &last["title"]), (&json!("sent_back"), &json!("Clash")), "{shown}");
    assert_eq!(
        (&last["commit"], &last["conflicts"][0]["file"]),
        (&json!(work.head), &json!("lines.txt"))
    );
    project.in_order().await;
}

#[tokio::test]
async fn what_is_over_is_listed_newest_first() {
    let project = Project::with(LINES);
    for title in ["First", "Second", "Third"] {
        let work = project.handed(title, &format!("{title}.txt"), "x\n").await;
        assert_eq!(project.approve(&work).await["status"], "merged");
    }
    let work = clashing(&project).await;
    project.approve(&work).await;
    let engine = &project.world.engine;
    let titles = |limit| {
        let over = engine.merges_over(limit).unwrap();
        over.into_iter().map(|merge| merge.title).collect::<Vec<_>>()
    };
    assert_eq!(titles(3), ["Clash", "Third", "Second"]);
    assert_eq!(titles(100).len(), 4);
    assert_eq!(engine.merge_queue(ListScope::Open, 0, 10).unwrap().merges.len(), 0);
    let merge = engine.merges_over(1).unwrap().remove(0);
    assert!(engine.merge_checking(merge.id).unwrap().is_none(), "nothing was checked");
    let story =
        project.world.ok(Who::Operator, "mcp__supervisor__get_review_queue", json!({})).await;
    assert_eq!(story["queue"], json!([]));
    project.in_order().await;
}
