//! Reviews by agents: one that approves, one that sends back, one that only ends with words, and what follows.

use std::fs;

use serde_json::{Value, json};
use testkit::World;

use super::{on_main, run, stage, state};
use crate::crew::{crew, in_order, role, settled, sh, until};
use crate::kill::{answer, draft, ended};

/// The reviewer plays the scenario that the home's `review.md` begins with.
pub(super) const STORY: &str = r#"
  approve:
    steps:
      - run: [test, -f, feature.txt]
      - call: send_feedback
        with: {feedback: I tried it and it holds., feedback_type: approved}
        expect: {status: done, delivered_by: mail, git_commit_hash: null}
      - call: send_feedback
        with: {feedback: again, feedback_type: approved}
        fails: INVALID_AGENT_STATE
  strict:
    steps:
      - call: send_feedback
        with: {feedback: It must be two., feedback_type: needs_work}
  talk:
    steps:
      - result: {summary: 'The name is unclear.', issues: [The empty case has no test]}
  breaks:
    steps:
      - say: The parser loses the last line.
      - fail: out of memory
  hangs:
    steps:
      - say: The parser loses the last line.
      - write: {path: said, text: ""}
      - sleep: 1000
  improve:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - result: {summary: added the feature}
    attempts:
      2:
        - run: [grep, -q, It must be two, REVIEW_FEEDBACK.md]
        - write: {path: feature.txt, text: "two\n"}
        - commit: Make it two
        - result: {summary: made it two}
  answered:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - result: {summary: added the feature}
    attempts:
      2:
        - say: "told: {{input}}"
        - write: {path: feature.txt, text: "two\n"}
        - commit: Name it
        - result: {summary: named it}
  asks:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - call: request_review
        with: {completion_message: It is done}
      - call: mail_list_inbox
        with: {waitSeconds: 100}
        until: {mails: [{subject: 'Review 1: approved'}]}
      - result: {summary: approved}
"#;

/// A project whose coders' work needs a reviewer, who plays a scenario.
async fn reviewed_by(scenario: &str, more: &[(&str, &str)]) -> World {
    let required = [("ADJUTANT_REVIEW_REQUIRED", "agent")];
    let world = stage(&[&required, more].concat()).await;
    fs::write(world.home().join("review.md"), format!("{scenario}\n")).unwrap();
    world
}

async fn reviews(world: &World) -> Vec<Value> {
    let found = answer(world, &["reviews", "--all"]).await;
    found["reviews"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_reviewer_looks_first_and_a_person_merges_what_it_approved() {
    let world = reviewed_by("approve", &[]).await;
    let ran = run(&world, "change one").await;
    assert_eq!(
        (&ran["state"], &ran["taskState"]),
        (&json!("succeeded"), &json!("review")),
        "{ran}"
    );
    assert_eq!(ran["result"]["summary"], "added the feature", "its own result is kept: {ran}");
    let all = reviews(&world).await;
    assert_eq!((all.len(), &all[0]["state"]), (1, &json!("approved")), "{all:?}");
    assert_eq!(all[0]["feedback"]["type"], "approved", "{all:?}");
    assert_eq!(all[0]["feedback"]["body"], "I tried it and it holds.", "{all:?}");
    let mail = answer(&world, &["mail"]).await.to_string();
    assert!(mail.contains("Review Passed: TAS-1"), "{mail}");
    let branch = ran["branch"].as_str().unwrap();
    assert_eq!(sh(&world, &format!("git rev-list --count main..{branch}")).await, "1");
    assert_eq!(on_main(&world, "feature.txt").await, "", "a person decides");
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    assert_eq!(on_main(&world, "feature.txt").await, "one");
    in_order(&world).await;
}

#[tokio::test]
async fn what_a_reviewer_approved_is_merged_where_that_is_configured() {
    let world = reviewed_by("approve", &[("ADJUTANT_REVIEW_ON_APPROVAL", "merge")]).await;
    let ran = run(&world, "change one").await;
    assert_eq!(ran["state"], "succeeded", "{ran}");
    settled(&world).await;
    assert_eq!(state(&world, "TAS-1").await, "completed");
    assert_eq!(on_main(&world, "feature.txt").await, "one");
    let message = sh(&world, "git log -1 --format=%B main").await;
    let reviewer = reviews(&world).await[0]["reviewerId"].as_str().unwrap().to_owned();
    assert!(message.contains(&format!("Approved-By: {reviewer}")), "{message}");
    in_order(&world).await;
}

#[tokio::test]
async fn a_coder_mends_what_its_reviewer_sent_back() {
    let world = reviewed_by("strict", &[("ADJUTANT_REVIEW_MAX_ITERATIONS", "1")]).await;
    let ran = run(&world, "improve").await;
    assert_eq!(
        (&ran["state"], &ran["taskState"]),
        (&json!("succeeded"), &json!("review")),
        "{ran}"
    );
    assert_eq!(ran["result"]["summary"], "made it two", "{ran}");
    let states: Vec<Value> =
        reviews(&world).await.into_iter().map(|mut review| review["state"].take()).collect();
    assert_eq!(states, ["feedback"]);
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    assert_eq!(on_main(&world, "feature.txt").await, "two");
    assert_eq!(on_main(&world, "REVIEW_FEEDBACK.md").await, "");
    in_order(&world).await;
}

#[tokio::test]
async fn the_last_words_of_a_reviewer_reach_the_author() {
    let world = reviewed_by("talk", &[("ADJUTANT_REVIEW_MAX_ITERATIONS", "1")]).await;
    let ran = run(&world, "answered").await;
    assert_eq!(
        (&ran["state"], &ran["taskState"]),
        (&json!("succeeded"), &json!("review")),
        "{ran}"
    );
    let all = reviews(&world).await;
    assert_eq!((all.len(), &all[0]["state"]), (1, &json!("feedback")), "{all:?}");
    assert_eq!(all[0]["feedback"]["type"], "suggestions", "{all:?}");
    let logs = world.run(&["logs", ran["agentId"].as_str().unwrap()]).await.unwrap().ok().unwrap();
    for said in ["The name is unclear.", "The empty case has no test"] {
        assert!(logs.stdout.contains(said), "{said}: {}", logs.stdout);
    }
    // It has had its one review, so that a person looks at the rest.
    let task = answer(&world, &["tasks", "show", "TAS-1"]).await["comments"].to_string();
    assert!(task.contains("ended without a verdict"), "{task}");
}

#[tokio::test]
async fn the_words_of_a_reviewer_that_fails_or_is_killed_reach_the_author_too() {
    for scenario in ["breaks", "hangs"] {
        let world = reviewed_by(scenario, &[("ADJUTANT_REVIEW_MAX_ITERATIONS", "1")]).await;
        let coder = draft(&world, "coder", "answered").await;
        if scenario == "hangs" {
            let has_said = || {
                let mut trees = fs::read_dir(world.worktrees()).into_iter().flatten().flatten();
                trees.any(|tree| tree.path().join("said").exists())
            };
            until("the reviewer has said it", has_said).await;
            let reviewer = reviews(&world).await[0]["reviewerId"].as_str().unwrap().to_owned();
            world.run(&["kill", &reviewer]).await.unwrap().ok().unwrap();
        }
        assert_eq!(ended(&world, &coder).await, "succeeded");
        let all = reviews(&world).await;
        assert_eq!((all.len(), &all[0]["state"]), (1, &json!("silent")), "{scenario}: {all:?}");
        assert_eq!(all[0]["failed"], true, "{scenario}: it came to no verdict");
        let words = "The parser loses the last line.";
        assert_eq!(all[0]["feedback"]["body"], words, "{scenario}: {all:?}");
        let logs = world.run(&["logs", &coder]).await.unwrap().ok().unwrap().stdout;
        for said in ["Your review broke off", words, "This counts as a failed review"] {
            assert!(logs.contains(said), "{scenario}: no {said:?} in {logs}");
        }
        in_order(&world).await;
    }
}

#[tokio::test]
async fn the_messages_of_a_reviewer_that_ends_well_without_a_result_are_its_words() {
    let world = reviewed_by("look", &[("ADJUTANT_REVIEW_MAX_ITERATIONS", "1")]).await;
    let message = r#"'{"adjutant": {"message": "The parser loses the last line."}}'"#;
    role(&world, "reviewer", &format!("category: review\ncommand: [echo, {message}]"));
    let ran = run(&world, "answered").await;
    assert_eq!(ran["state"], "succeeded", "{ran}");
    let all = reviews(&world).await;
    assert_eq!((&all[0]["state"], &all[0]["failed"]), (&json!("feedback"), &json!(false)));
    assert_eq!(all[0]["feedback"]["body"], "The parser loses the last line.", "{all:?}");
}

#[tokio::test]
async fn a_person_decides_where_no_reviewer_can_be_started() {
    let world = reviewed_by("approve", &[("ADJUTANT_REVIEW_ROLE", "nobody")]).await;
    let ran = run(&world, "change one").await;
    assert_eq!(
        (&ran["state"], &ran["taskState"]),
        (&json!("succeeded"), &json!("review")),
        "{ran}"
    );
    let task = answer(&world, &["tasks", "show", "TAS-1"]).await["comments"].to_string();
    assert!(task.contains("nobody"), "{task}");
    assert_eq!(crew(&world).await.len(), 1);
}

#[tokio::test]
async fn a_coder_that_asks_itself_is_approved_and_its_task_waits_for_a_person() {
    let world = stage(&[]).await;
    fs::write(world.home().join("review.md"), "approve\n").unwrap();
    let ran = run(&world, "asks").await;
    assert_eq!(
        (&ran["state"], &ran["taskState"]),
        (&json!("succeeded"), &json!("review")),
        "{ran}"
    );
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    assert_eq!(on_main(&world, "feature.txt").await, "one");
}
