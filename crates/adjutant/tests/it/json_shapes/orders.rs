//! The same of what goes on by itself: loops, plans, and what is ordered through Slack.

use std::fs;

use serde_json::Value;

use super::Taken;
use crate::crew::{repository, until};
use crate::looping::{WORK, usual};
use crate::planning::{plan_when, states};
use crate::slack::{USER, until_mark, until_said};

#[tokio::test]
async fn loops_that_go_on_wait_and_end() {
    let mut taken = Taken::new("loops");
    // The first waits until it may go on, the second fails, the third recovers; that of the shed never ends.
    let waits = "\n      - write: {path: .adjutant/begun, text: x}\n      - wait_file: {path: .adjutant/go-on}";
    let mut scenarios = usual(4, 1..=4)
        .replacen("  w1:\n    steps:", &format!("  w1:\n    steps:{waits}"), 1)
        .replacen(
            "  w2:\n    steps:",
            "  w2: {steps: [{burn: {cost_usd: 0.01}}, {fail: the roof fell in}]}\n  x2:\n    steps:",
            1,
        );
    scenarios.extend([
        format!("  '#':\n    steps:{waits}{WORK}"),
        "  s1: {steps: [{write: {path: .adjutant/shed, text: x}}, {sleep: 1000}]}\n".to_owned(),
    ]);
    let world = crate::looping::stage(&scenarios, "").await;
    fs::write(world.project().join("shed.md"), "s{{iteration}}").unwrap();
    repository(&world).await;
    let _server = world.up().await.unwrap();
    let home = world.home();
    let house = [
        "loop",
        "house",
        "--spec",
        "SPEC.md",
        "-n",
        "3",
        "--agent",
        "script",
        "--cwd",
        ".",
        "--budget",
        "5",
        "--extra",
        "Mind the cat",
        "--commit",
        "--detach",
    ];
    taken.take_one(&world, "loop NAME --detach", &house).await;
    until("the first works", || home.join("begun").exists()).await;
    taken.take_one(&world, "loop say", &["loop", "say", "house", "Paint it green"]).await;
    taken.take_one(&world, "loop pause", &["loop", "pause", "house"]).await;
    taken.take_one(&world, "loop status", &["loop", "status", "house"]).await;
    taken.take_one(&world, "loop list", &["loop", "list"]).await;
    fs::write(home.join("go-on"), "").unwrap();
    let whole = taken.take_one(&world, "loop follow", &["loop", "follow", "house"]).await;
    assert_eq!(whole["loop"]["state"], "paused", "{whole}");
    taken.take_one(&world, "loop resume", &["loop", "resume", "house"]).await;
    let whole = taken.take_one(&world, "loop follow", &["loop", "follow", "house"]).await;
    assert_eq!(whole["loop"]["state"], "limit", "{whole}");
    taken.take_one(&world, "loop NAME", &["loop", "house", "--iterations", "1"]).await;

    fs::remove_file(home.join("go-on")).unwrap();
    let shed =
        ["loop", "shed", "--spec", "SPEC.md", "-n", "0", "--template", "shed.md", "--detach"];
    taken.take_one(&world, "loop NAME --detach", &shed).await;
    until("the other works", || home.join("shed").exists()).await;
    taken.take_one(&world, "loop status", &["loop", "status", "shed"]).await;
    taken.take_one(&world, "loop pause", &["loop", "pause", "shed", "--now"]).await;
    taken.take_one(&world, "loop follow", &["loop", "follow", "shed"]).await;
    taken.take_one(&world, "loop resume", &["loop", "resume", "shed"]).await;
    taken.take_one(&world, "loop stop", &["loop", "stop", "shed"]).await;
    let whole = taken.take_one(&world, "loop follow", &["loop", "follow", "shed"]).await;
    assert_eq!(whole["loop"]["state"], "stopped", "{whole}");
    taken.take_one(&world, "loop list", &["loop", "list"]).await;
    taken.take_one(&world, "loop template", &["loop", "template"]).await;
    taken.alike(&["loop NAME", "loop status", "loop follow"]);
    taken.alike(&["loop NAME --detach", "loop pause", "loop resume", "loop stop"]);
    taken.hold();
}

const PLAN: &str = "\
# Two

## Step 1: First
Role: hand
Budget: 2.50

## Step 2: Second
Depends on: 1
";

/// The first asks and waits; anyone who goes on does one step and fails with the other.
const STORY: &str = r#"
scenarios:
  Run:
    steps:
      - burn: {cost_usd: 0.01}
      - call: mail_send
        with: {toHuman: true, subject: Which colour shall it have?, body: "1. red\n2. blue"}
      - {call: draft_agent, with: {role: hand, prompt: wait one, taskSlug: TAS-2}, save: one}
      - {call: await_agent, with: {agentId: '{{one.agentId}}'}, until: {status: completed}}
  Go:
    steps:
      - burn: {cost_usd: 0.01}
      - {call: draft_agent, with: {role: hand, prompt: paint one, taskSlug: TAS-2}, save: one}
      - {call: await_agent, with: {agentId: '{{one.agentId}}'}, until: {status: completed}}
      - {call: task_update_status, with: {taskId: TAS-3, status: IN_PROGRESS}}
      - {call: task_update_status, with: {taskId: TAS-3, status: FAILED, reason: there is no paint}}
      - result: {summary: as far as it goes}
  wait: {steps: [{burn: {cost_usd: 0.01}}, {sleep: 600000}]}
  paint:
    steps:
      - burn: {input_tokens: 10, output_tokens: 10, cost_usd: 0.6}
      - result: {summary: painted}
"#;

#[tokio::test]
async fn plans_that_wait_stop_and_fail() {
    let mut taken = Taken::new("plans");
    let world = crate::planning::stage(STORY, PLAN, &[]).await;
    fs::write(world.project().join("list.md"), "1. Sweep\n").unwrap();
    for file in ["PLAN.md", "list.md"] {
        taken.take_one(&world, "plan check", &["plan", "check", file]).await;
    }
    let _server = world.up().await.unwrap();
    let watched = world.run(&["plan", "run", "PLAN.md", "--budget", "3", "--json"]);
    let meanwhile = async {
        // An agent that is stopped before it reported a cost is charged its whole cap.
        let waits = |plan: &Value| {
            plan["questions"][0].is_object()
                && states(plan)[0] == "in_progress"
                && plan["spentUsd"].as_f64() >= Some(0.02)
        };
        plan_when(&world, "the human is asked", waits).await;
        taken.take_one(&world, "plan status", &["plan", "status"]).await;
        taken.take_one(&world, "plan list", &["plan", "list"]).await;
        taken.take_one(&world, "plan stop", &["plan", "stop", "two"]).await;
    };
    let (watched, ()) = tokio::join!(watched, meanwhile);
    taken.see("plan run", &watched.unwrap().stdout);
    taken.take_one(&world, "plan resume", &["plan", "resume", "two", "--detach"]).await;
    let over = taken.take_one(&world, "plan follow", &["plan", "follow", "two"]).await;
    assert_eq!((&over["state"], &over["reason"]), (&"failed".into(), &"step 2 failed".into()));
    taken.take_one(&world, "plan list", &["plan", "list"]).await;
    taken.alike(&["plan run", "plan status", "plan follow", "plan stop", "plan resume"]);
    taken.hold();
}

#[tokio::test]
async fn orders_through_slack_and_what_it_did_not_take() {
    let mut taken = Taken::new("slack");
    let world = crate::world().await;
    let server = world.up().await.unwrap();
    for typed in [&["slack"][..], &["slack", "status"]] {
        taken.take_one(&world, &typed.join(" "), typed).await;
    }
    server.stop().await.unwrap();

    let (world, slack) = crate::slack::stage(&[]).await;
    let _server = world.up().await.unwrap();
    slack.until("connected", |slack| slack.open_connections() == 1).await.unwrap();
    let which = slack.say("D1", USER, "Mend it");
    until_said(&slack, &which, 1).await;
    slack.refuse("chat.postMessage", Some("not_in_channel"));
    let order = slack.say("D2", USER, "mender: Mend it");
    until_mark(&slack, &order, &["white_check_mark"]).await;
    taken.take_one(&world, "slack threads", &["slack", "threads"]).await;
    for typed in [&["slack"][..], &["slack", "status"]] {
        let status = taken.take_one(&world, &typed.join(" "), typed).await;
        assert_eq!(status["failed"], 1, "{status}");
    }
    slack.refuse("chat.postMessage", None);
    taken.take_one(&world, "slack retry", &["slack", "retry"]).await;
    until_said(&slack, &order, 1).await;
    taken.hold();
}
