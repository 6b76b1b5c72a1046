//! How a loop ends otherwise than well, what is refused, and what is printed.

use std::fs;

use serde_json::json;

use super::{WORK, followed, numbers, plan, run, stage, usual};
use crate::crew::{leftovers, repository, sh, until};
use crate::kill::{answer, ended, lines};

#[tokio::test]
async fn failures_in_a_row_end_it() {
    let mut scenarios = usual(5, 1..=1);
    scenarios.push_str("  '#': {steps: [{fail: still broken}]}\n  w2: {steps: [{exit: 3}]}\n");
    let world = stage(&scenarios, "  failures: 3\n").await;
    let _server = world.up().await.unwrap();
    let ran = world.run(&["loop", "house", "--spec", "SPEC.md", "-n", "0"]).await.unwrap();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for part in [
        "planning",
        "iteration 1  TAS-1",
        "Did Part 1",
        "iteration 4",
        "failed",
        "3 iterations in a row failed",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    let whole = followed(&world).await;
    assert_eq!((&whole["loop"]["state"], numbers(&whole)), (&json!("failed"), vec![0, 1, 2, 3, 4]));
}

#[tokio::test]
async fn a_failure_between_does_not_add_up() {
    let mut scenarios = usual(5, 1..=6);
    for number in [1, 3, 5] {
        let from = format!("  w{number}:\n    steps:");
        scenarios = scenarios.replacen(
            &from,
            &format!("  w{number}: {{steps: [{{fail: no}}]}}\n  x{number}:\n    steps:"),
            1,
        );
    }
    scenarios.extend([format!("  '#':\n    steps:{WORK}")]);
    let world = stage(&scenarios, "  failures: 2\n").await;
    let _server = world.up().await.unwrap();
    let whole = run(&world, &["-n", "6"]).await;
    assert_eq!(
        (&whole["loop"]["state"], &whole["loop"]["iteration"]),
        (&json!("limit"), &json!(6))
    );
}

#[tokio::test]
async fn an_agent_that_is_killed_lets_it_wait_and_a_stop_ends_all() {
    let mut scenarios = format!("scenarios:\n{}", plan(3));
    scenarios.push_str("  w1: {steps: [{write: {path: at-1, text: x}}, {sleep: 100}]}\n");
    scenarios.push_str("  '#': {steps: [{write: {path: at-2, text: x}}, {run: [sh, -c, 'sleep 100'], background: true}, {sleep: 100}]}\n");
    let world = stage(&scenarios, "").await;
    let _server = world.up().await.unwrap();
    let started = answer(&world, &["loop", "house", "--spec", "SPEC.md", "--detach"]).await;
    assert_eq!(started["iterations"], 10);
    until("the first works", || world.project().join("at-1").exists()).await;
    let down = world.run(&["down"]).await.unwrap();
    assert_eq!(down.code, Some(5), "{down:?}");
    assert!(down.stderr.contains("adjutant loop pause house"), "{}", down.stderr);
    let whole = answer(&world, &["loop", "status", "house"]).await;
    let agent = whole["loop"]["agentId"].as_str().unwrap().to_owned();
    world.run(&["kill", &agent]).await.unwrap().ok().unwrap();
    assert_eq!(ended(&world, &agent).await, "killed");
    let ran = world.run(&["loop", "follow", "house"]).await.unwrap();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for part in ["paused", "the agent of iteration 1 was killed", "adjutant loop resume house"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    answer(&world, &["loop", "resume", "house"]).await;
    until("the second works", || world.project().join("at-2").exists()).await;
    answer(&world, &["loop", "stop", "house"]).await;
    let whole = followed(&world).await;
    assert_eq!((&whole["loop"]["state"], numbers(&whole)), (&json!("stopped"), vec![0, 1, 2]));
    assert_eq!(leftovers(&world), Vec::<String>::new());
    let again = world.run(&["loop", "stop", "house"]).await.unwrap();
    assert_eq!(again.code, Some(5), "{again:?}");
}

#[tokio::test]
async fn a_budget_bounds_all_iterations_together() {
    let scenarios = usual(9, 1..=9).replace("cost_usd: 0.01", "cost_usd: 0.4");
    let world = stage(&scenarios, "").await;
    let _server = world.up().await.unwrap();
    let whole = run(&world, &["-n", "9", "--budget", "1"]).await;
    assert_eq!(whole["loop"]["state"], "over_budget", "{whole}");
    assert!(whole["loop"]["iteration"].as_u64().unwrap() <= 3, "{whole}");
    let store = store::Store::open(&world.state_dir().join("state.db")).unwrap();
    let agent = store.read(|tx| tx.iteration_get("house", 3)).unwrap().unwrap().agent.unwrap();
    let caps = store.read(|tx| tx.budget_get(agent)).unwrap().unwrap().caps;
    let cap = caps.money.unwrap().dollars();
    assert!(cap <= 0.2 + 1e-9, "the third has what is left: {cap}");
}

#[tokio::test]
async fn only_a_clean_repository_is_committed_to() {
    let world = stage(&usual(1, 1..=1), "").await;
    let _server = world.up().await.unwrap();
    let start = ["loop", "house", "--spec", "SPEC.md", "--commit"];
    let bare = world.run(&start).await.unwrap();
    assert_eq!(bare.code, Some(5), "{bare:?}");
    assert!(bare.stderr.contains("is not in a git repository"), "{}", bare.stderr);
    repository(&world).await;
    fs::write(world.project().join("mine.txt"), "x").unwrap();
    let dirty = world.run(&start).await.unwrap();
    assert_eq!(dirty.code, Some(5), "{dirty:?}");
    assert!(
        dirty.stderr.contains("mine.txt") && dirty.stderr.contains("--commit"),
        "{}",
        dirty.stderr
    );
    assert_eq!(answer(&world, &["loop", "list"]).await, json!({ "loops": [] }));
    sh(&world, "git add -A && git commit -q -m Mine").await;
    assert_eq!(world.run(&[&start[..], &["-n", "1"]].concat()).await.unwrap().code, Some(0));
    let made =
        sh(&world, "git log -1 --format='%s|%an|%(trailers:key=Adjutant-Session,valueonly)'").await;
    assert_eq!(made, "Did Part 1|Adjutant|house");
}

#[tokio::test]
async fn what_cannot_be_a_loop_is_refused_with_what_to_do() {
    let world = stage(&usual(1, 1..=1), "").await;
    let _server = world.up().await.unwrap();
    fs::create_dir(world.project().join("folder")).unwrap();
    fs::write(world.project().join("huge.md"), "x".repeat(600 << 10)).unwrap();
    fs::write(world.project().join("empty.md"), " \n").unwrap();
    fs::write(world.project().join("wrong.md"), "w1 {{iterration}}").unwrap();
    fs::write(world.project().join("binary.md"), [0xff, 0xfe, 0x00]).unwrap();
    let table: &[(&[&str], i32, &str)] = &[
        (&["loop", "house"], 2, "needs a specification"),
        (&["loop", "house", "--spec", "nothing.md"], 4, "nothing.md"),
        (&["loop", "house", "--spec", "folder"], 2, "is not a file"),
        (&["loop", "house", "--spec", "huge.md"], 2, "bytes"),
        (&["loop", "house", "--spec", "binary.md"], 2, "cannot be read"),
        (&["loop", "house", "--spec", "empty.md"], 2, "needs a specification"),
        (&["loop", "a/b", "--spec", "SPEC.md"], 2, "name"),
        (&["loop", "a\u{7}b", "--spec", "SPEC.md"], 2, "name"),
        (
            &["loop", "default", "--spec", "SPEC.md"],
            2,
            "is reserved and cannot be the name of a loop",
        ),
        (&["loop", "house", "--spec", "SPEC.md", "--role", "buildr"], 4, "did you mean `builder`?"),
        (&["loop", "house", "--spec", "SPEC.md", "--agent", "clod"], 2, "no kind of agent `clod`"),
        (
            &["loop", "house", "--spec", "SPEC.md", "--template", "wrong.md"],
            2,
            "did you mean `{{iteration}}`?",
        ),
        (&["loop", "house", "--spec", "SPEC.md", "--cwd", "nowhere"], 2, "is not a folder"),
        (&["loop", "house", "--spec", "SPEC.md", "--budget", "-1"], 2, ""),
        (&["loop", "status", "house"], 4, "no loop `house`"),
        (&["loop", "say", "house", "x"], 4, "no loop `house`"),
        (&["loop", "pause", "house"], 4, "no loop `house`"),
        (&["loop", "resume", "house"], 4, "no loop `house`"),
        (&["loop", "follow", "house"], 4, "no loop `house`"),
        (&["loop"], 2, "NAME"),
    ];
    for (typed, code, said) in table {
        let ran = world.run(typed).await.unwrap();
        assert_eq!(ran.code, Some(*code), "{typed:?}: {ran:?}");
        assert!(ran.stderr.contains(said), "{typed:?}: {}", ran.stderr);
    }
    let listed = world.run(&["loop", "list"]).await.unwrap().ok().unwrap().stdout;
    assert!(listed.contains("No loops."), "{listed}");
    let template = world.run(&["loop", "template"]).await.unwrap().ok().unwrap().stdout;
    assert_eq!(template.trim(), engine::LOOP_TEMPLATE.trim());
    assert!(lines(&world, "log").is_empty());
}
