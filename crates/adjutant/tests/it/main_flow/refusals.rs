//! What cannot be approved: each refusal says what to do, and nothing is lost.

use std::fs;

use serde_json::{Value, json};
use testkit::World;

use super::{on_main, run, stage, state, with_roles};
use crate::crew::sh;
use crate::kill::answer;

/// The error of a command that must fail, and its exit code.
async fn refused(world: &World, typed: &[&str]) -> (Value, i32) {
    let ran = world.run(&[typed, &["--json"]].concat()).await.unwrap();
    (ran.error().unwrap(), ran.code.unwrap())
}

#[tokio::test]
async fn only_what_is_in_review_can_be_approved() {
    let world = stage(&[]).await;
    run(&world, "nothing").await;
    let (error, code) = refused(&world, &["review", "approve", "TAS-1"]).await;
    assert_eq!((&error["code"], code), (&json!("CONFLICT"), 5), "{error}");
    assert!(error["message"].as_str().unwrap().contains("TAS-1 is COMPLETED"), "{error}");
    assert!(
        error["suggestions"][0].as_str().unwrap().contains("nothing left to decide"),
        "{error}"
    );
    world.run(&["tasks", "add", "Later"]).await.unwrap().ok().unwrap();
    let (error, _) = refused(&world, &["review", "approve", "TAS-2"]).await;
    assert!(error["suggestions"][0].as_str().unwrap().contains("--task TAS-2"), "{error}");
    let (error, _) = refused(&world, &["review", "request-changes", "TAS-2", "more"]).await;
    assert_eq!(error["code"], "CONFLICT", "{error}");
    let (error, code) = refused(&world, &["review", "approve", "TAS-9"]).await;
    assert_eq!((&error["code"], code), (&json!("RESOURCE_NOT_FOUND"), 4), "{error}");
    let (error, code) = refused(&world, &["review", "show", "TAS-9"]).await;
    assert_eq!((&error["code"], code), (&json!("RESOURCE_NOT_FOUND"), 4), "{error}");
}

#[tokio::test]
async fn a_branch_that_is_gone_is_named_and_its_task_waits() {
    let world = stage(&[]).await;
    let ran = run(&world, "change one").await;
    let branch = ran["branch"].as_str().unwrap();
    let commit = sh(&world, &format!("git rev-parse {branch}")).await;
    let worktree = "git worktree remove --force \
        $(git worktree list --porcelain | sed -n 's/^worktree //p' | tail -1)";
    sh(&world, &format!("{worktree}\ngit branch -qD {branch}")).await;
    let (error, _) = refused(&world, &["review", "approve", "TAS-1"]).await;
    assert!(error["message"].as_str().unwrap().contains(&format!("`{branch}`")), "{error}");
    let hints = error["suggestions"].to_string();
    assert!(hints.contains("git branch"), "{error}");
    assert_eq!(state(&world, "TAS-1").await, "review");
    // As the hint says.
    sh(&world, &format!("git branch {branch} {commit}")).await;
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    assert_eq!(on_main(&world, "feature.txt").await, "one");
}

#[tokio::test]
async fn work_that_conflicts_goes_back_with_the_lines_and_stays_on_its_branch() {
    let world = stage(&[]).await;
    let ran = run(&world, "change one").await;
    sh(&world, "echo mine > feature.txt && git add -A && git commit -qm Mine").await;
    let approved = world.run(&["review", "approve", "TAS-1"]).await.unwrap();
    assert_eq!(approved.code, Some(1), "{approved:?}");
    assert!(approved.stdout.contains("feature.txt"), "{approved:?}");
    assert_eq!(state(&world, "TAS-1").await, "pending");
    assert_eq!(on_main(&world, "feature.txt").await, "mine");
    let branch = ran["branch"].as_str().unwrap();
    assert_eq!(sh(&world, &format!("git show {branch}:feature.txt")).await, "one");
    let mails = answer(&world, &["mail"]).await.to_string();
    assert!(mails.contains("Merge Conflict: TAS-1"), "{mails}");
}

#[tokio::test]
async fn work_that_fails_the_check_is_not_merged() {
    let world = stage(&[("ADJUTANT_CHECK", "grep -q good feature.txt")]).await;
    run(&world, "change bad").await;
    let approved = world.run(&["review", "approve", "TAS-1"]).await.unwrap();
    assert_eq!(approved.code, Some(1), "{approved:?}");
    assert!(approved.stdout.contains("grep -q good feature.txt"), "{approved:?}");
    assert_eq!(state(&world, "TAS-1").await, "pending");
    assert_eq!(on_main(&world, "feature.txt").await, "");
    run(&world, "change good").await;
    world.run(&["review", "approve", "TAS-2"]).await.unwrap().ok().unwrap();
    assert_eq!(on_main(&world, "feature.txt").await, "good");
}

#[tokio::test]
async fn uncommitted_changes_in_the_project_are_not_touched() {
    let world = stage(&[]).await;
    run(&world, "change one").await;
    fs::write(world.project().join("feature.txt"), "mine, and not committed\n").unwrap();
    let approved = world.run(&["review", "approve", "TAS-1"]).await.unwrap();
    assert_eq!(approved.code, Some(1), "{approved:?}");
    assert!(approved.stdout.contains("commit or stash them"), "{approved:?}");
    let own = fs::read_to_string(world.project().join("feature.txt")).unwrap();
    assert_eq!(own, "mine, and not committed\n");
    assert_eq!(state(&world, "TAS-1").await, "review");
    sh(&world, "rm feature.txt").await;
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    assert_eq!(on_main(&world, "feature.txt").await, "one");
}

#[tokio::test]
async fn work_begun_on_no_branch_waits_until_one_is_checked_out() {
    let world = stage(&[]).await;
    sh(&world, "git checkout -q --detach").await;
    run(&world, "change one").await;
    assert_eq!(state(&world, "TAS-1").await, "review");
    let (error, _) = refused(&world, &["review", "approve", "TAS-1"]).await;
    assert!(
        error["message"].as_str().unwrap().contains("target branch of TAS-1 is unknown"),
        "{error}"
    );
    assert!(error["suggestions"][0].as_str().unwrap().contains("check out a branch"), "{error}");
    assert_eq!(state(&world, "TAS-1").await, "review");
    sh(&world, "git checkout -q main").await;
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    assert_eq!(on_main(&world, "feature.txt").await, "one");
}

#[tokio::test]
async fn without_git_or_a_first_commit_agents_work_in_the_project_and_complete_their_tasks() {
    let world = with_roles(&[]).await;
    let hand = |prompt| ["run", "--role", "hand", prompt];
    let ran = answer(&world, &hand("forget")).await;
    assert_eq!((&ran["taskState"], &ran["branch"]), (&json!("completed"), &Value::Null), "{ran}");
    assert_eq!(fs::read_to_string(world.project().join("feature.txt")).unwrap(), "one\n");
    let (error, _) = refused(&world, &["review", "approve", "TAS-1"]).await;
    assert_eq!(error["code"], "CONFLICT", "{error}");
    world.run(&["down"]).await.unwrap();
    sh(&world, "git init -q -b main").await;
    let ran = answer(&world, &hand("forget")).await;
    assert_eq!((&ran["taskState"], &ran["branch"]), (&json!("completed"), &Value::Null), "{ran}");
}
