//! Commands around iterations: when they run, what they are told, and what becomes of what they say.

use super::{prompt, run, stage, usual};
use crate::crew::{leftovers, until};
use crate::kill::{answer, events, lines};

#[tokio::test]
async fn every_hook_runs_at_its_moment_with_its_variables() {
    let mut scenarios = usual(3, 1..=3);
    scenarios = scenarios.replacen(
        "  w2:\n    steps:",
        "  w2: {steps: [{fail: it rained}]}\n  x2:\n    steps:",
        1,
    );
    scenarios.extend([format!("  '#':\n    steps:{}", super::WORK)]);
    let note = |what: &str, more: &str| {
        format!(
            "    {what}: {{command: [sh, -c, 'echo \"$0 $1 $ADJUTANT_HOOK $ADJUTANT_SESSION $ADJUTANT_ITERATION{more}\" >> hooked; echo said by $ADJUTANT_HOOK', \
             '{{{{session}}}}', '{{{{iteration}}}}'], pipe_output: true}}\n"
        )
    };
    let config = [
        "  hooks:\n".to_owned(),
        note("session_start", ""),
        note("pre_iteration", ""),
        note("post_iteration", ""),
        note("session_end", ""),
        note("on_task_complete", " $ADJUTANT_TASK_ID $ADJUTANT_TASK_CONTENT"),
        note("on_error", " $ADJUTANT_ERROR"),
    ]
    .concat();
    let world = stage(&scenarios, &config).await;
    let _server = world.up().await.unwrap();
    let whole = run(&world, &["-n", "3"]).await;
    assert_eq!(whole["loop"]["state"], "limit", "{whole}");
    assert_eq!(
        lines(&world, "hooked"),
        [
            "house 0 session_start house 0",
            "house 1 pre_iteration house 1",
            "house 1 on_task_complete house 1 TAS-1 Part 1",
            "house 1 post_iteration house 1",
            "house 2 pre_iteration house 2",
            "house 2 on_error house 2 it rained",
            "house 2 post_iteration house 2",
            "house 3 pre_iteration house 3",
            "house 3 on_task_complete house 3 TAS-2 Part 2",
            "house 3 post_iteration house 3",
            "house 3 session_end house 3",
        ]
    );
    let planning = prompt(&world, 0);
    assert!(!planning.contains("said by"), "the planning has no hooks: {planning}");
    let first = prompt(&world, 1);
    assert!(first.contains("> said by session_start") && first.contains("> said by pre_iteration"));
    assert!(!first.contains("on_task_complete"), "{first}");
    let second = prompt(&world, 2);
    assert!(!second.contains("session_start"), "told once: {second}");
    assert!(
        second.contains("said by on_task_complete") && second.contains("said by post_iteration")
    );
    let third = prompt(&world, 3);
    let recovery = third.split("w3 3").next().unwrap();
    assert!(recovery.contains("> said by on_error") && recovery.contains("it rained"), "{third}");
    // What was left for an agent that did not come any more is told at the end.
    let over = events(&world, "loop.ended").await;
    let outputs = over[0]["data"]["outputs"].to_string();
    assert!(
        outputs.contains("said by session_end") && outputs.contains("said by post_iteration"),
        "{outputs}"
    );
}

#[tokio::test]
async fn a_hook_that_fails_or_hangs_fails_no_loop() {
    let config = "  hooks:
    session_start: [{command: [sh, -c, 'echo bad luck; exit 3']}, {command: no-such-program}]
    pre_iteration: {command: [sh, -c, 'setsid sleep 100 & echo begun; sleep 100'], timeout: 1}
    post_iteration: {command: [sh, -c, 'env > environment']}
";
    let world = stage(&usual(2, 1..=1), config).await;
    let _server = world.up().await.unwrap();
    let ran = world.run(&["loop", "house", "--spec", "SPEC.md", "-n", "1"]).await.unwrap();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for part in
        ["hook session_start: `sh -c", "hook pre_iteration", "reached its limit of 1 iteration"]
    {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    let failures = events(&world, "loop.step_failed").await;
    assert_eq!(events(&world, "loop.trouble").await, failures, "its former name selects it");
    assert!(failures.iter().all(|event| event["kind"] == "loop.step_failed"), "{failures:?}");
    let said: Vec<String> =
        failures.iter().map(|event| event["data"]["error"].as_str().unwrap().to_owned()).collect();
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[0].ends_with("ended with 3") && said[1].contains("no-such-program"), "{said:?}");
    assert!(said[2].ends_with("did not end within 1 seconds"), "{said:?}");
    assert!(failures[0]["data"]["output"].as_str().unwrap().contains("bad luck"));
    assert_eq!(leftovers(&world), Vec::<String>::new(), "all that it started is gone");
    let environment = lines(&world, "environment");
    assert!(!environment.iter().any(|line| line.contains("ADJUTANT_TOKEN")), "{environment:?}");
}

/// The environment of agents, as a hook sees it.
const NAMED: &str = "    session_start: {command: [sh, -c, 'echo start $DATABASE_URL ${SOME_TOKEN:-none} >> hooked']}\n    \
    post_iteration: {command: [sh, -c, 'echo \"$ADJUTANT_ITERATION $DATABASE_URL\" >> hooked; touch done; \
    until [ -e go ]; do sleep 0.02; done']}\n    session_end: {command: [sh, -c, 'echo end $DATABASE_URL >> hooked']}\n";

#[tokio::test]
async fn hooks_have_what_agents_have_and_wait_for_it_after_a_restart() {
    let mut world = stage(&usual(1, 1..=1), &format!("  hooks:\n{NAMED}")).await;
    world.set("ADJUTANT_AGENTS_ENVIRONMENT", "DATABASE_URL");
    world.set("SOME_TOKEN", "unwanted");
    world.set("DATABASE_URL", "db://one");
    let first = world.up().await.unwrap();
    let start = ["loop", "house", "--spec", "SPEC.md", "-n", "1", "--detach"];
    world.run(&start).await.unwrap().ok().unwrap();
    until("the hook runs", || world.project().join("done").exists()).await;
    first.kill().await.unwrap();
    world.set("DATABASE_URL", "");
    let second = world.up().await.unwrap();
    std::fs::write(world.project().join("go"), "").unwrap();
    let reason = waiting(&world).await;
    for part in
        ["the hook `sh -c", "`DATABASE_URL`", "`adjutant reload`", "`adjutant loop stop house`"]
    {
        assert!(reason.contains(part), "no {part:?} in {reason}");
    }
    assert_eq!(lines(&world, "hooked"), ["start db://one none", "1 db://one"]);
    second.kill().await.unwrap();
    world.set("DATABASE_URL", "db://two");
    let third = world.up().await.unwrap();
    assert_eq!(super::followed(&world).await["loop"]["state"], "limit");
    assert_eq!(lines(&world, "hooked").last().unwrap(), "end db://two");
    // A loop that is stopped waits for nothing.
    std::fs::remove_file(world.project().join("done")).unwrap();
    std::fs::remove_file(world.project().join("go")).unwrap();
    world.run(&["loop", "house", "-n", "1", "--detach"]).await.unwrap().ok().unwrap();
    until("the hook runs", || world.project().join("done").exists()).await;
    third.kill().await.unwrap();
    world.set("DATABASE_URL", "");
    let _fourth = world.up().await.unwrap();
    std::fs::write(world.project().join("go"), "").unwrap();
    waiting(&world).await;
    world.run(&["loop", "stop", "house"]).await.unwrap().ok().unwrap();
    assert_eq!(super::followed(&world).await["loop"]["state"], "limit");
    let failed = events(&world, "loop.step_failed").await;
    assert!(failed[0]["data"]["error"].as_str().unwrap().contains("`DATABASE_URL`"), "{failed:?}");
    assert_eq!(leftovers(&world), [""; 0]);
}

/// Why the loop waits, once it does.
async fn waiting(world: &testkit::World) -> String {
    loop {
        let shown = answer(world, &["loop", "status", "house"]).await;
        if let Some(reason) = shown["loop"]["reason"].as_str() {
            return reason.to_owned();
        }
    }
}
