//! Loops over the real server with scripted agents: iterations, their order across crashes, their ends, and what people say in between.

mod ends;
mod hooks;

use std::fs;

use engine::Point;
use serde_json::{Value, json};
use testkit::World;

use crate::crew::{crew, repository, sh, until};
use crate::kill::{answer, cast, events, lines};

/// A project whose loops play the scenarios of one file: `w3` is what the agent of iteration 3 does, `Plan` what the planning
/// does, and `#` what an agent does that has to recover first.
pub(crate) async fn stage(scenarios: &str, config: &str) -> World {
    let world = crate::world().await;
    let project = world.project();
    fs::write(project.join("crew.yaml"), scenarios).unwrap();
    fs::write(project.join("SPEC.md"), "Build a house.\n").unwrap();
    let text = "w{{iteration}} {{iteration}}\n\nspec: {{spec}}\nextra: {{extra}}\ntasks:\n{{tasks}}\nnotes:\n{{notes}}\n\
                history:\n{{history}}\nport: {{port}}\nbinary: {{binary}}\n";
    fs::write(project.join("loop.md"), text).unwrap();
    let config = format!("loop:\n  template: loop.md\n{config}");
    fs::write(world.home().join("config.yaml"), config).unwrap();
    cast(&world, "builder", "category: coding");
    world
}

/// What a usual iteration does: it takes a task, does it, notes it, and sums up.
pub(crate) const WORK: &str = r#"
      - append: {path: log, text: "{{args.1}} {{agent}}\n"}
      - call: task-next
        with: {claim: true}
        save: next
      - call: task-update
        with: {id: "{{next.task.id}}", status: completed}
      - call: note-add
        with: {notes: [{content: "learnt in {{args.1}}", type: learning}]}
      - call: iteration-summary
        with: {summary: "Did {{next.task.content}}"}
      - burn: {input_tokens: 10, output_tokens: 5, cost_usd: 0.01}
"#;

/// A planning that adds so many tasks.
pub(crate) fn plan(tasks: usize) -> String {
    let tasks: Vec<Value> =
        (1..=tasks).map(|n| json!({ "content": format!("Part {n}") })).collect();
    format!(
        "  Plan:\n    steps:\n      - append: {{path: log, text: \"0 {{{{agent}}}}\\n\"}}\n      - call: task-add\n        \
         with: {}\n      - call: iteration-summary\n        with: {{summary: Planned it}}\n      - burn: {{cost_usd: 0}}\n",
        json!({ "tasks": tasks })
    )
}

/// Scenarios in which the iterations of these numbers do what is usual.
pub(crate) fn usual(tasks: usize, iterations: std::ops::RangeInclusive<u32>) -> String {
    let mut text = format!("scenarios:\n{}", plan(tasks));
    for number in iterations {
        text.extend([format!("  w{number}:\n    steps:{WORK}")]);
    }
    text
}

/// Starts a loop, sees it to its end, and gives it whole.
pub(crate) async fn run(world: &World, more: &[&str]) -> Value {
    answer(world, &[&["loop", "house", "--spec", "SPEC.md"], more].concat()).await
}

/// Waits until a loop waits or is over.
pub(crate) async fn followed(world: &World) -> Value {
    answer(world, &["loop", "follow", "house"]).await
}

/// The numbers of the iterations that agents have worked in, in order.
fn worked(world: &World) -> Vec<String> {
    let words = |line: &String| line.split(' ').next().unwrap().to_owned();
    lines(world, "log").iter().map(words).collect()
}

/// The prompt of an iteration's agent, as the record has it.
fn prompt(world: &World, number: u32) -> String {
    let store = store::Store::open(&world.state_dir().join("state.db")).unwrap();
    let agent = store.read(|tx| tx.iteration_get("house", number)).unwrap().unwrap().agent.unwrap();
    store.read(|tx| tx.run_get(agent)).unwrap().unwrap().prompt
}

fn numbers(whole: &Value) -> Vec<u64> {
    let iterations = whole["iterations"].as_array().unwrap();
    iterations.iter().rev().map(|it| it["number"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn ten_iterations_with_a_failure_recovered_and_a_server_killed_in_the_middle() {
    let mut scenarios = usual(8, 1..=9);
    // The fourth fails, the fifth recovers, the sixth waits while the server is killed, the tenth declares it complete.
    scenarios = scenarios.replacen(
        "  w4:\n    steps:",
        "  w4:\n    steps:\n      - append: {path: log, text: \"4 {{agent}}\\n\"}\n      - write: {path: half.txt, text: half}\n      \
         - fail: the roof fell in\n  x4:\n    steps:",
        1,
    );
    scenarios = scenarios.replacen(
        "  w6:\n    steps:",
        "  w6:\n    steps:\n      - write: {path: in-six, text: x}\n      - wait_file: {path: go-on}",
        1,
    );
    scenarios.extend([format!(
        "  '#':\n    steps:\n      - write: {{path: recovered.md, text: '{{{{prompt}}}}'}}{}",
        WORK.replace("{{args.1}} {{agent}}", "5 {{agent}}")
    )]);
    scenarios.push_str(
        "  w10:\n    steps:\n      - append: {path: log, text: \"10 {{agent}}\\n\"}\n      - call: session-complete\n      \
         - call: iteration-summary\n        with: {summary: All is built}\n",
    );
    let world = stage(&scenarios, "").await;
    repository(&world).await;
    let server = world.up().await.unwrap();
    let started = answer(
        &world,
        &["loop", "house", "--spec", "SPEC.md", "-n", "20", "--extra", "Mind the cat", "--detach"],
    )
    .await;
    assert_eq!(started["state"], "running", "{started}");
    until("the sixth runs", || world.project().join("in-six").exists()).await;
    server.kill().await.unwrap();
    let _server = world.up().await.unwrap();
    fs::write(world.project().join("go-on"), "").unwrap();
    let whole = followed(&world).await;
    assert_eq!(whole["loop"]["state"], "completed", "{whole}");
    assert_eq!(numbers(&whole), (0..=10).collect::<Vec<u64>>());
    let expected: Vec<String> = (0..=10).map(|n: u32| n.to_string()).collect();
    assert_eq!(worked(&world), expected, "each once, in order");
    assert_eq!(crew(&world).await.len(), 11);
    assert_eq!(whole["loop"]["tasks"]["completed"], 8, "{whole}");
    assert_eq!(whole["loop"]["costUsd"], 0.08);
    let fourth = &whole["iterations"][6];
    assert_eq!((&fourth["number"], &fourth["state"]), (&json!(4), &json!("failed")), "{fourth}");
    let recovered = fs::read_to_string(world.project().join("recovered.md")).unwrap();
    assert!(recovered.starts_with("# Recover first"), "{recovered}");
    for part in
        ["Iteration 4", "the roof fell in", "`half.txt`", "w5 5", "Build a house.", "Mind the cat"]
    {
        assert!(recovered.contains(part), "{part}: {recovered}");
    }
    let ninth = prompt(&world, 9);
    for part in ["[learning] (#3) learnt in 3", "#8 (succeeded): Did Part 7", "Completed:", "TAS-8"]
    {
        assert!(ninth.contains(part), "{part}: {ninth}");
    }
    assert!(!ninth.contains("{{") && !ninth.contains("Recover first"), "{ninth}");
    assert!(ninth.contains("\nport: ") && ninth.contains("\nbinary: /"), "{ninth}");
    assert_eq!(events(&world, "loop.ended").await.len(), 1);
    let verified = answer(&world, &["audit", "verify"]).await;
    assert_eq!(verified["ok"], true, "{verified}");
}

/// Lets the server die at a place of a loop that commits and has hooks; nothing is doubled or skipped.
async fn dies_at(point: Point) {
    let scenarios = usual(3, 1..=3).replace(
        "      - call: task-next",
        "      - write: {path: \"part-{{args.1}}\", text: \"{{args.1}}\"}\n      - call: task-next",
    );
    let hooks = "  commit: true\n  hooks:\n    post_iteration: {command: [sh, -c, 'echo {{iteration}} >> ../hooked']}\n";
    let mut world = stage(&scenarios, hooks).await;
    fs::create_dir(world.project().join("site")).unwrap();
    fs::write(world.project().join("site/begin"), "").unwrap();
    sh(
        &world,
        "printf '.adjutant\\nlog\\nhooked\\n' > .gitignore; git init -q -b main; git config user.name A; git config user.email a@localhost
         git add -A; git commit -q -m Begin",
    )
    .await;
    world.set("ADJUTANT_CRASH_AT", point.name());
    let mut server = world.up().await.unwrap();
    let typed = ["loop", "house", "--spec", "SPEC.md", "-n", "3", "--cwd", "site", "--detach"];
    world.run(&typed).await.unwrap();
    server.ended().await.unwrap();
    world.set("ADJUTANT_CRASH_AT", "");
    let _server = world.up().await.unwrap();
    let whole = followed(&world).await;
    assert_eq!(whole["loop"]["state"], "limit", "{point}: {whole}");
    assert_eq!(numbers(&whole), [0, 1, 2, 3], "{point}");
    let mut log = lines(&world, "site/log");
    log.sort();
    log.dedup();
    assert_eq!(log.len(), 4, "{point}: no iteration had two agents: {log:?}");
    assert_eq!(crew(&world).await.len(), 4, "{point}");
    assert_eq!(
        lines(&world, "hooked"),
        ["1", "2", "3"],
        "{point}: heard to its end, not run again"
    );
    let made = sh(&world, "git log --format='%(trailers:key=Adjutant-Iteration,valueonly,separator=%x2C)' | grep . | sort -n").await;
    assert_eq!(made.lines().collect::<Vec<_>>(), ["1", "2", "3"], "{point}: one commit each");
    assert_eq!(sh(&world, "git status --porcelain").await, "", "{point}");
    assert_eq!(sh(&world, "git log -1 --format=%s").await, "Did Part 3", "{point}");
    let newest = &whole["iterations"][0];
    assert_eq!(newest["commit"], sh(&world, "git rev-parse HEAD").await, "{point}: {newest}");
}

#[tokio::test]
async fn a_crash_at_any_place_of_an_iteration_doubles_nothing_and_skips_nothing() {
    for point in Point::ALL.iter().filter(|point| point.name().starts_with("loop.")) {
        dies_at(*point).await;
    }
}

#[tokio::test]
async fn the_planning_has_three_tools_and_a_worker_begins_one_task() {
    let scenarios = format!(
        "scenarios:
  Plan:
    steps:
      - expect_tools: [task-add, task-list, iteration-summary]
      - expect_no_tools: [task-next, task-update, note-add, session-complete, mail_send, task_create, task_get]
      - call: task-next
        fails: PERMISSION_DENIED
      - call: mcp__mail__list_inbox
        fails: PERMISSION_DENIED
      - call: task-add
        with: {{tasks: [{{content: One}}, {{content: Two}}]}}
      - call: task-list
        expect: {{count: 2}}
  w1:
    steps:
      - expect_tools: [task-next, task-update, note-add, session-complete, mail_send]
      - expect_no_tools: [task_get, task_create]
      - call: task-next
        with: {{claim: true}}
        save: next
      - call: task-update
        with: {{id: TAS-1, status: in_progress}}
      - call: task-update
        with: {{id: TAS-2, status: in_progress}}
        fails: CONFLICT
        expect: {{message: 'iteration 1 has already begun TAS-1; an iteration works on one task'}}
      - call: session-complete
        fails: CONFLICT
      - call: note-add
        with: {{notes: [{{content: x, type: tip}}]}}
      - call: iteration-summary
        with: {{summary: Half of it}}
        expect: {{iteration: 1}}
  w2:
    steps:{WORK}"
    );
    let world = stage(&scenarios, "").await;
    let _server = world.up().await.unwrap();
    let whole = run(&world, &["-n", "2"]).await;
    assert_eq!(whole["loop"]["state"], "limit", "{whole}");
    for it in whole["iterations"].as_array().unwrap() {
        assert_eq!(it["state"], "succeeded", "{whole}");
    }
    assert_eq!(whole["notes"][0]["iteration"], 1);
    // What an agent begins and does not complete is not completed by its end: the next one gets it.
    assert_eq!(whole["iterations"][0]["task"], "TAS-1", "{whole}");
    assert_eq!(whole["loop"]["tasks"]["completed"], 1, "{whole}");
}

#[tokio::test]
async fn it_waits_when_told_to_and_words_are_delivered_once() {
    let scenarios = usual(9, 1..=5).replacen(
        "  w1:\n    steps:",
        "  w1:\n    steps:\n      - wait_file: {path: go-on}",
        1,
    );
    let world = stage(&scenarios, "").await;
    let _server = world.up().await.unwrap();
    answer(&world, &["loop", "house", "--spec", "SPEC.md", "-n", "3", "--detach"]).await;
    let twice = world.run(&["loop", "house", "--spec", "SPEC.md"]).await.unwrap();
    assert_eq!(twice.code, Some(5), "{twice:?}");
    assert!(twice.stderr.contains("is already running"), "{}", twice.stderr);
    until("the first works", || !worked(&world).is_empty()).await;
    answer(&world, &["loop", "say", "house", "Paint it {{spec}} green"]).await;
    let waiting = answer(&world, &["loop", "pause", "house"]).await;
    assert_eq!(waiting["wish"], "pause", "{waiting}");
    fs::write(world.project().join("go-on"), "").unwrap();
    let whole = followed(&world).await;
    assert_eq!(whole["loop"]["state"], "paused", "{whole}");
    let at = whole["loop"]["iteration"].as_u64().unwrap();
    fs::write(world.project().join("SPEC.md"), "Build two houses.\n").unwrap();
    answer(&world, &["loop", "resume", "house"]).await;
    let whole = followed(&world).await;
    assert_eq!(whole["loop"]["state"], "limit", "{whole}");
    assert_eq!(numbers(&whole), [0, 1, 2, 3]);
    let told: Vec<u32> =
        (0..=3).filter(|n| prompt(&world, *n).contains("Paint it {{spec}} green")).collect();
    assert_eq!(told.len(), 1, "exactly once: {told:?}");
    assert_eq!(whole["messages"][0]["iteration"], told[0], "{whole}");
    let last = prompt(&world, 3);
    assert!(
        at == 3 || last.contains("Build two houses."),
        "the specification is read again: {last}"
    );
    let shown = world.run(&["loop", "status", "house"]).await.unwrap().ok().unwrap().stdout;
    for part in
        ["limit", "iteration 3 of 3", "3 completed", "6 remaining", "told to #", "[learning] #1"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    // More of the same.
    let whole = answer(&world, &["loop", "house", "--iterations", "2"]).await;
    assert_eq!(
        (&whole["loop"]["state"], &whole["loop"]["iteration"]),
        (&json!("limit"), &json!(5))
    );
    assert_eq!(numbers(&whole), [0, 1, 2, 3, 4, 5]);
}
