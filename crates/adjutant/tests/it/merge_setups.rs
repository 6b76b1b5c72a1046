//! The set-up before the check of approved work: whose fault it is when it fails, and what a crash leaves of it.

use std::fs;

use serde_json::Value;
use testkit::World;

use crate::crew::{in_order, repository, scene, settled, sh, until};
use crate::kill::{answer, cast, lines};

const STORY: &str = r#"
scenarios:
  change:
    steps:
      - write: {path: feature.txt, text: "{{args.1}}\n"}
      - commit: Add the feature
      - result: {summary: added}
"#;

/// A project with a check, and a set-up once the configuration names one.
async fn stage() -> World {
    let world = scene(STORY, &[("ADJUTANT_CHECK", "sh check.sh")]).await;
    let check = "echo again >> \"$ADJUTANT_HOME/checks\"";
    fs::write(world.project().join("check.sh"), check).unwrap();
    cast(&world, "coder", "category: coding\nworktree: fresh");
    repository(&world).await;
    world
}

/// Has an agent leave work for review, before the project has a set-up.
async fn handed(world: &World, text: &str) -> String {
    let ran = answer(world, &["run", "--role", "coder", &format!("change {text}")]).await;
    assert_eq!(ran["taskState"], "review", "{ran}");
    ran["agentId"].as_str().unwrap().to_owned()
}

async fn set(world: &World, key: &str, value: &str) {
    world.run(&["config", "set", key, value]).await.unwrap().ok().unwrap();
    world.run(&["reload"]).await.unwrap().ok().unwrap();
}

/// Approves, and gives the merge.
async fn approve(world: &World, task: &str) -> Value {
    answer(world, &["review", "approve", task]).await["merges"][0].clone()
}

async fn newest_mail(world: &World) -> (String, String) {
    let mails = answer(world, &["mail"]).await["mails"].take();
    let mail = mails.as_array().unwrap().last().unwrap();
    let text = |field: &str| mail[field].as_str().unwrap().to_owned();
    (text("subject"), text("body"))
}

async fn state(world: &World, task: &str) -> String {
    let found = answer(world, &["tasks", "show", task]).await;
    found["storedState"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_set_up_that_cannot_be_run_holds_the_merge_and_says_so() {
    let world = stage().await;
    handed(&world, "good").await;
    set(&world, "worktrees.setupTimeout", "1").await;
    let trees = world.worktrees().canonicalize().unwrap().display().to_string();
    for (setup, why) in [
        (
            "no-such-installer --now",
            "`no-such-installer`, which `worktrees.setup` names, is neither in `",
        ),
        ("sh -c 'exec sleep 1000'", "did not end within 1 seconds"),
        ("sh -c 'kill -9 $$'", "was ended by signal 9"),
    ] {
        set(&world, "worktrees.setup", setup).await;
        let merge = approve(&world, "TAS-1").await;
        assert_eq!(merge["state"], "held", "{setup}: {merge}");
        let reason = merge["reason"].as_str().unwrap();
        for part in [why, &trees, "merge-", "mend `worktrees.setup` in the configuration"] {
            assert!(reason.contains(part), "{setup}: no {part:?} in {reason}");
        }
        let (subject, body) = newest_mail(&world).await;
        assert_eq!(subject, "Merge Held: TAS-1 change good");
        assert!(body.contains(reason) && body.contains("merge-queue retry"), "{body}");
        assert_eq!(state(&world, "TAS-1").await, "review");
    }
    assert_eq!(lines(&world, ".adjutant/checks"), [""; 0]);
    set(&world, "worktrees.setup", "true").await;
    assert_eq!(approve(&world, "TAS-1").await["state"], "merged", "approving again tries again");
    in_order(&world).await;
}

#[tokio::test]
async fn a_set_up_that_fails_without_the_work_too_holds_the_merge_with_what_it_said() {
    let world = stage().await;
    handed(&world, "good").await;
    let setup = "sh -c 'echo no network; test -e \"$ADJUTANT_HOME/online\" || exit 7'";
    set(&world, "worktrees.setup", setup).await;
    let merge = approve(&world, "TAS-1").await;
    assert_eq!(merge["state"], "held", "{merge}");
    let reason = merge["reason"].as_str().unwrap();
    for part in
        ["the set-up `sh -c ", "merge-", "ended with 7", "fails on `main` without this work"]
    {
        assert!(reason.contains(part), "no {part:?} in {reason}");
    }
    assert_eq!(
        (&merge["setupOutput"], &merge["checkOutput"]),
        (&"no network".into(), &Value::Null)
    );
    let (subject, body) = newest_mail(&world).await;
    assert_eq!(subject, "Merge Held: TAS-1 change good");
    assert!(body.contains("The end of what the set-up said:\n\n    no network"), "{body}");
    let listed = world.run(&["merge-queue"]).await.unwrap().ok().unwrap().stdout;
    assert!(listed.contains("The set-up ended with:") && listed.contains("no network"), "{listed}");
    fs::write(world.home().join("online"), "").unwrap();
    assert_eq!(approve(&world, "TAS-1").await["state"], "merged");
    assert_eq!(lines(&world, ".adjutant/checks").len(), 1);
    in_order(&world).await;
}

#[tokio::test]
async fn a_set_up_that_fails_on_the_work_alone_is_sent_back_to_its_author() {
    let world = stage().await;
    handed(&world, "bad").await;
    let setup = "sh -c 'if grep -qs bad feature.txt; then echo bad lock file; exit 7; fi'";
    set(&world, "worktrees.setup", setup).await;
    let merge = approve(&world, "TAS-1").await;
    assert_eq!(merge["state"], "sent_back", "{merge}");
    let reason = merge["reason"].as_str().unwrap();
    assert!(reason.contains("ended with 7; without this work it succeeds on `main`"), "{reason}");
    let (subject, body) = newest_mail(&world).await;
    assert_eq!(subject, "Set-Up Failed: TAS-1 change bad");
    assert!(
        body.contains("bad lock file") && body.contains("Mend what the set-up found"),
        "{body}"
    );
    assert!(!body.contains("the check"), "{body}");
    assert_eq!(state(&world, "TAS-1").await, "pending");
    assert_eq!(lines(&world, ".adjutant/checks"), [""; 0]);
    in_order(&world).await;
}

#[tokio::test]
async fn a_server_killed_during_a_set_up_runs_it_anew_and_the_check_once() {
    let world = stage().await;
    let server = world.up().await.unwrap();
    handed(&world, "good").await;
    let setup = "echo again >> \"$ADJUTANT_HOME/times\"; touch \"$ADJUTANT_HOME/begun\"
until [ -e \"$ADJUTANT_HOME/go\" ]; do sleep 0.02; done";
    fs::write(world.home().join("setup.sh"), setup).unwrap();
    let script = world.home().join("setup.sh").display().to_string();
    set(&world, "worktrees.setup", &format!("sh {script}")).await;
    let mut approving = world.command(&["review", "approve", "TAS-1"]).spawn().unwrap();
    until("the set-up runs", || world.home().join("begun").exists()).await;
    approving.kill().await.unwrap();
    server.kill().await.unwrap();
    fs::write(world.home().join("go"), "").unwrap();
    let _server = world.up().await.unwrap();
    settled(&world).await;
    assert_eq!(state(&world, "TAS-1").await, "completed");
    // The worktree may be another one by then, so that what was begun there is of no use.
    assert_eq!(lines(&world, ".adjutant/times").len(), 2);
    assert_eq!(lines(&world, ".adjutant/checks").len(), 1);
    assert_eq!(sh(&world, "git show main:feature.txt").await, "good");
    in_order(&world).await;
}
