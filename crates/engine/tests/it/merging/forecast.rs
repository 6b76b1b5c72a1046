//! What is told of work that waits: how much it is, whether it fits, and whom it is in the way of.

use std::fs;

use serde_json::{Value, json};

use super::{LINES, commit};
use crate::support::Who;
use crate::support::repository::Project;

const QUEUE: &str = "mcp__supervisor__get_review_queue";

fn overlaps(task: &Value) -> Vec<(&str, &Value, &Value)> {
    let list = task["overlaps"].as_array().unwrap();
    list.iter()
        .map(|one| (one["slug"].as_str().unwrap(), &one["files"], &one["conflicts"]))
        .collect()
}

#[tokio::test]
async fn branches_that_touch_the_same_files_are_foretold_with_lines() {
    let project = Project::with(LINES);
    project.handed("Zwei", "lines.txt", &LINES.replace("two", "zwei")).await;
    let deux = project.handed("Deux", "lines.txt", &LINES.replace("two", "deux")).await;
    project.handed("Acht", "lines.txt", &LINES.replace("eight", "acht")).await;
    project.handed("Alone", "alone.txt", "1\n2\n").await;
    let epic = project.epic().await;
    let elsewhere = project.begun("Dos", Some(epic), None).await;
    project.hand_in(elsewhere, "lines.txt", &LINES.replace("two", "dos")).await;
    fs::write(deux.dir.join("stray.txt"), "stray\n").unwrap();
    let seen = project.world.ok(Who::Operator, QUEUE, json!({})).await;
    let tasks = seen["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 5);
    let both = json!(["lines.txt"]);
    let clash =
        json!([{ "file": "lines.txt", "kind": "content", "lines": [{ "from": 2, "to": 6 }] }]);
    assert_eq!(overlaps(&tasks[0]), [("deux", &both, &clash), ("acht", &both, &json!([]))]);
    assert_eq!(overlaps(&tasks[1]), [("zwei", &both, &clash), ("acht", &both, &json!([]))]);
    assert_eq!(overlaps(&tasks[3]), [], "nobody else touches its file");
    assert_eq!(overlaps(&tasks[4]), [], "what goes into another branch is in nobody's way");
    let told = &tasks[1];
    assert_eq!(
        (&told["branch"], &told["commit"]),
        (&json!(format!("adjutant/{}", deux.worker)), &json!(deux.head))
    );
    assert_eq!((&told["target"], &told["state"]), (&json!("main"), &json!("REVIEW")));
    let counts =
        ["changedFiles", "additions", "deletions"].map(|name| told[name].as_i64().unwrap());
    assert_eq!(counts, [1, 1, 1]);
    assert_eq!(told["uncommitted"], json!(["stray.txt"]));
    assert_eq!((&told["mergesCleanly"], &told["conflicts"]), (&json!(true), &json!([])));
    assert_eq!(
        (&tasks[3]["additions"], &tasks[4]["target"]),
        (&json!(2), &json!(format!("adjutant/epic/{epic}")))
    );
}

#[tokio::test]
async fn what_does_not_fit_by_now_and_what_is_held_are_seen() {
    let project = Project::with(LINES);
    let zwei = project.handed("Zwei", "lines.txt", &LINES.replace("two", "zwei")).await;
    fs::write(project.root.join("lines.txt"), "mine\n").unwrap();
    assert_eq!(project.approve(&zwei).await["status"], "held");
    let seen = project.world.ok(Who::Operator, QUEUE, json!({})).await;
    assert_eq!(
        (&seen["queue"][0]["state"], &seen["queue"][0]["position"]),
        (&json!("held"), &Value::Null)
    );
    assert_eq!(seen["queue"][0]["slug"], "zwei");
    commit(&project.root, "lines.txt", &LINES.replace("two", "deux"));
    let seen = project.world.ok(Who::Operator, QUEUE, json!({})).await;
    assert_eq!(seen["tasks"][0]["mergesCleanly"], false);
    assert_eq!(seen["tasks"][0]["conflicts"][0]["file"], "lines.txt");
    let scope = engine::ReviewScope::default();
    let review_desk = project.world.engine.review_desk(scope).await.unwrap();
    let review_desk = serde_json::to_value(review_desk).unwrap();
    assert_eq!(review_desk["queue"], seen["queue"]);
    for (name, value) in seen["tasks"][0].as_object().unwrap() {
        assert_eq!(review_desk["tasks"][0][name], *value, "a person is told all that agents are");
    }
}

#[tokio::test]
async fn a_supervisor_sees_its_own_epic_and_one_page_at_a_time() {
    let project = Project::with(LINES);
    let epic = project.epic().await;
    project.handed("Alone", "alone.txt", "1\n").await;
    for title in ["First", "Second"] {
        let work = project.begun(title, Some(epic), None).await;
        project.hand_in(work, "of-epic.txt", title).await;
    }
    let boss = project.world.enlist_in("supervisor", epic).await;
    let seen = project.world.ok(boss, QUEUE, json!({ "limit": 1 })).await;
    assert_eq!(
        (&seen["tasks"][0]["slug"], seen["tasks"].as_array().unwrap().len()),
        (&json!("first"), 1)
    );
    let more = json!({ "limit": 1, "cursor": seen["nextCursor"] });
    let seen = project.world.ok(boss, QUEUE, more).await;
    assert_eq!((&seen["tasks"][0]["slug"], seen.get("nextCursor")), (&json!("second"), None));
    let all = project.world.ok(Who::Operator, QUEUE, json!({})).await;
    assert_eq!(all["tasks"].as_array().unwrap().len(), 3);
}
