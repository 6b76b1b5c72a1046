//! Plans whose server or coordinator is killed, whose money runs out, or whom nobody gets any further.

use std::fs;

use serde_json::{Value, json};
use testkit::World;

use super::{allow, at_work, begin, dispatches, plan, plan_when, said, stage, states};
use crate::crew::{crew, leftovers, until};
use crate::kill::{answer, events, is_there, lines};

const PLAN: &str = "\
# Five steps
1. First
2. Second
   - After: 1
3. Third
   - After: 2
4. Fourth
   - After: 3
5. Fifth
   - After: 4
";

/// `one` is done at once, `two` when it may be; anyone who goes on awaits who is still at work and does the rest.
const STORY: &str = r#"
scenarios:
  Run:
    steps:
      - run: [sh, -c, 'echo $PPID > lead.pid']
      - &one {call: draft_agent, with: {role: hand, prompt: quick one, taskSlug: TAS-2}, save: one}
      - &wait-one {call: await_agent, with: {agentId: '{{one.agentId}}'}, until: {status: completed}}
      - {call: draft_agent, with: {role: hand, prompt: slow two, taskSlug: TAS-3}, save: two}
      - {call: await_agent, with: {agentId: '{{two.agentId}}'}, until: {status: completed}}
      - &three {call: draft_agent, with: {role: hand, prompt: quick three, taskSlug: TAS-4}, save: three}
      - &wait-three {call: await_agent, with: {agentId: '{{three.agentId}}'}, until: {status: completed}}
      - &four {call: draft_agent, with: {role: hand, prompt: quick four, taskSlug: TAS-5}, save: four}
      - &wait-four {call: await_agent, with: {agentId: '{{four.agentId}}'}, until: {status: completed}}
      - &five {call: draft_agent, with: {role: hand, prompt: quick five, taskSlug: TAS-6}, save: five}
      - &wait-five {call: await_agent, with: {agentId: '{{five.agentId}}'}, until: {status: completed}}
      - &done {result: {summary: all five}}
  Go:
    steps:
      - write: {path: taken-over, text: '{{prompt}}'}
      - {call: list_agents, save: live}
      - {call: await_agent, with: {agentId: '{{live.agents.0.id}}'}, until: {status: completed}}
      - *three
      - *wait-three
      - *four
      - *wait-four
      - *five
      - *wait-five
      - *done
  quick:
    steps:
      - append: {path: done, text: "{{args.1}}\n"}
      - result: {summary: 'did {{args.1}}'}
  slow:
    steps:
      - write: {path: 'begun-{{args.1}}', text: x}
      - wait_file: {path: 'go-{{args.1}}'}
      - append: {path: done, text: "{{args.1}}\n"}
      - result: {summary: 'did {{args.1}}'}
"#;

async fn over(world: &World) -> Value {
    plan_when(world, "it is over", |plan| plan["state"] != "running").await
}

#[tokio::test]
async fn a_server_that_is_killed_in_the_middle_costs_nothing() {
    let world = stage(STORY, PLAN, &[]).await;
    let server = world.up().await.unwrap();
    begin(&world, &[]).await;
    until("the second step is at work", || is_there(&world, "begun-two")).await;
    server.kill().await.unwrap();
    let _server = world.up().await.unwrap();
    let middle = plan(&world).await;
    assert_eq!(middle["state"], "running");
    assert_eq!(states(&middle), ["completed", "in_progress", "pending", "pending", "pending"]);
    allow(&world, "go-two");
    let over = over(&world).await;
    assert_eq!((&over["state"], &over["summary"]), (&json!("completed"), &json!("all five")));
    assert_eq!(over["coordinators"].as_array().unwrap().len(), 1, "it was never gone");
    assert_eq!(lines(&world, "done"), ["one", "two", "three", "four", "five"]);
    assert_eq!(dispatches(&world, 5).await, [1; 5]);
    assert_eq!(leftovers(&world), Vec::<String>::new());
}

/// Kills the coordinator's process.
fn kill_the_lead(world: &World) {
    let pid = fs::read_to_string(world.project().join("lead.pid")).unwrap();
    host::process::kill(pid.trim().parse().unwrap()).unwrap();
}

#[tokio::test]
async fn a_coordinator_that_is_killed_has_a_successor_who_awaits_who_is_still_at_work() {
    let world = stage(STORY, PLAN, &[]).await;
    let _server = world.up().await.unwrap();
    begin(&world, &[]).await;
    until("the second step is at work", || is_there(&world, "begun-two")).await;
    kill_the_lead(&world);
    until("somebody goes on", || is_there(&world, "taken-over")).await;
    let goes_on = |plan: &Value| at_work(plan, 1) && plan["coordinators"][1]["state"] == "running";
    let middle = plan_when(&world, "both are on record as running", goes_on).await;
    let led = middle["coordinators"].as_array().unwrap();
    assert_eq!((led.len(), &led[0]["state"]), (2, &json!("failed")));
    let agents = crew(&world).await;
    let worker = &middle["steps"][1]["agent"]["agentId"];
    let worker = agents.iter().find(|agent| agent["id"] == *worker).unwrap();
    assert_eq!(worker["parentId"], led[1]["agentId"], "who is at work is the successor's");
    insta::assert_snapshot!("status_with_a_successor", said(&world, &["plan", "status"]).await);
    let told = fs::read_to_string(world.project().join("taken-over")).unwrap();
    assert!(told.starts_with("Go on with the plan `five-steps`, to its end.\n"), "{told}");
    for word in [
        led[0]["agentId"].as_str().unwrap(),
        &format!("- {} (hand), on `", worker["id"].as_str().unwrap()),
        "(completed)\n  > First\n  > Last result: did one\n",
        "(in_progress, after 1)\n  > Second\n",
    ] {
        assert!(told.contains(word), "{word}: {told}");
    }
    allow(&world, "go-two");
    let over = over(&world).await;
    assert_eq!(over["state"], "completed", "{over}");
    assert_eq!(lines(&world, "done"), ["one", "two", "three", "four", "five"]);
    assert_eq!(dispatches(&world, 5).await, [1; 5], "no step was done twice");
    assert_eq!(events(&world, "plan.resumed").await.len(), 1);
    assert_eq!(events(&world, "plan.ended").await.len(), 1);
}

#[tokio::test]
async fn a_coordinator_and_a_server_that_die_together_have_one_successor() {
    let world = stage(STORY, PLAN, &[]).await;
    let server = world.up().await.unwrap();
    begin(&world, &[]).await;
    until("the second step is at work", || is_there(&world, "begun-two")).await;
    server.kill().await.unwrap();
    kill_the_lead(&world);
    for _ in 0..3 {
        // Wherever it is in taking up what was left, it is killed there.
        let server = world.up().await.unwrap();
        server.kill().await.unwrap();
    }
    let _server = world.up().await.unwrap();
    until("somebody goes on", || is_there(&world, "taken-over")).await;
    allow(&world, "go-two");
    let over = over(&world).await;
    assert_eq!(over["state"], "completed", "{over}");
    assert_eq!(over["coordinators"].as_array().unwrap().len(), 2, "{over}");
    assert_eq!(lines(&world, "done"), ["one", "two", "three", "four", "five"]);
    assert_eq!(dispatches(&world, 5).await, [1; 5]);
}

const SPENDING: &str = r"
scenarios:
  Run:
    steps:
      - {call: draft_agent, with: {role: hand, prompt: spend one, taskSlug: TAS-2}, save: one}
      - {call: await_agent, with: {agentId: '{{one.agentId}}'}, until: {status: completed}}
      - {call: draft_agent, with: {role: hand, prompt: hang two, taskSlug: TAS-3}, save: two}
      - {call: await_agent, with: {agentId: '{{two.agentId}}'}, until: {status: completed}}
  Go:
    steps:
      - {call: draft_agent, with: {role: hand, prompt: spend two, taskSlug: TAS-3}, save: two}
      - {call: await_agent, with: {agentId: '{{two.agentId}}'}, until: {status: completed}}
      - result: {summary: both}
  spend:
    steps:
      - burn: {input_tokens: 10, output_tokens: 10, cost_usd: 0.6}
      - result: {summary: 'did {{args.1}}'}
  hang:
    steps:
      - burn: {input_tokens: 10, output_tokens: 10, cost_usd: 0.6}
      - sleep: 1000
";

#[tokio::test]
async fn a_budget_stops_a_plan_cleanly_and_more_money_finishes_it() {
    let world = stage(SPENDING, "# Two\n1. First\n2. Second\n", &[]).await;
    let _server = world.up().await.unwrap();
    let ran = world.run(&["plan", "run", "PLAN.md", "--budget", "1"]).await.unwrap();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("adjutant plan resume two --budget 5"), "{}", ran.stdout);
    let stopped = plan(&world).await;
    assert_eq!(
        (&stopped["state"], states(&stopped)),
        (&json!("over_budget"), vec!["completed", "pending"])
    );
    insta::assert_snapshot!("status_over_budget", said(&world, &["plan", "status"]).await);
    until("all are gone", || leftovers(&world).is_empty()).await;
    let agents = crew(&world).await;
    let over: Vec<&Value> = agents.iter().map(|agent| &agent["state"]).collect();
    assert_eq!(over, ["over_budget", "succeeded", "over_budget"]);
    let inbox = answer(&world, &["mail"]).await;
    assert_eq!(inbox["mails"][0]["subject"], "Plan Stopped: two", "{inbox}");
    let refused = world.run(&["plan", "resume", "two"]).await.unwrap();
    assert_eq!(refused.code, Some(5));
    assert!(refused.stderr.contains("--budget 5"), "{}", refused.stderr);
    let resumed = world.run(&["plan", "resume", "two", "--budget", "5"]).await.unwrap();
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    let over = plan(&world).await;
    assert_eq!((&over["state"], &over["summary"]), (&json!("completed"), &json!("both")));
    assert!((over["budgetUsd"].as_f64().unwrap() - 6.2).abs() < 1e-9, "{over}");
    assert!((over["spentUsd"].as_f64().unwrap() - 1.8).abs() < 1e-9, "{over}");
}

#[tokio::test]
async fn a_coordinator_that_ends_with_steps_open_has_a_successor() {
    let story = SPENDING.replace("      - {call: draft_agent, with: {role: hand, prompt: hang two, taskSlug: TAS-3}, save: two}\n      - {call: await_agent, with: {agentId: '{{two.agentId}}'}, until: {status: completed}}\n  Go", "      - result: {summary: I have had enough}\n  Go");
    let story = story.replace(
        "  Go:\n    steps:\n",
        "  Go:\n    steps:\n      - write: {path: taken-over, text: '{{prompt}}'}\n",
    );
    let world = stage(&story, "1. First\n2. Second\n", &[]).await;
    let _server = world.up().await.unwrap();
    let ran = world.run(&["plan", "run", "PLAN.md"]).await.unwrap().ok().unwrap();
    assert!(ran.stdout.contains(" ended: it ended with step 2 open\n"), "{}", ran.stdout);
    let told = fs::read_to_string(world.project().join("taken-over")).unwrap();
    assert!(told.contains("Its last words:\n\n> I have had enough\n"), "{told}");
    assert_eq!(plan(&world).await["coordinators"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_plan_that_nobody_gets_any_further_fails_and_the_human_is_told() {
    let world = stage(
        "steps: [{append: {path: tried, text: \"x\\n\"}}, {fail: no idea}]",
        "1. Do it\n",
        &[("ADJUTANT_PLAN_ATTEMPTS", "2")],
    )
    .await;
    let _server = world.up().await.unwrap();
    let ran = world.run(&["plan", "run", "PLAN.md"]).await.unwrap();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(lines(&world, "tried"), ["x", "x"]);
    insta::assert_snapshot!("status_of_a_failed_plan", said(&world, &["plan", "status"]).await);
    let inbox = answer(&world, &["mail"]).await;
    let id = inbox["mails"][0]["id"].as_str().unwrap();
    let letter = answer(&world, &["mail", "read", id]).await;
    let body = letter["body"].as_str().unwrap();
    assert!(body.contains("2 coordinators in a row made no progress"), "{body}");
    assert!(body.contains("`adjutant plan resume plan`"), "{body}");
    // Anyone who goes on begins to count anew.
    assert_eq!(world.run(&["plan", "resume", "plan"]).await.unwrap().code, Some(1));
    assert_eq!(lines(&world, "tried").len(), 4);
}

#[tokio::test]
async fn a_step_that_failed_fails_the_plan_by_name() {
    let story = "
scenarios:
  Run:
    steps:
      - {call: task_update_status, with: {taskId: TAS-2, status: IN_PROGRESS}}
      - {call: task_update_status, with: {taskId: TAS-2, status: FAILED, reason: there is no paint}}
      - {call: task_update_status, with: {taskId: TAS-3, status: IN_PROGRESS}}
      - {call: task_update_status, with: {taskId: TAS-3, status: COMPLETED}}
      - {result: {summary: as far as it goes}}
";
    let world = stage(story, "1. Paint\n2. Sweep\n3. [x] Begin\n", &[]).await;
    let _server = world.up().await.unwrap();
    let ran = world.run(&["plan", "run", "PLAN.md"]).await.unwrap();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let over = plan(&world).await;
    assert_eq!((&over["state"], &over["reason"]), (&json!("failed"), &json!("step 1 failed")));
    assert_eq!(states(&over), ["failed", "completed", "completed"]);
    assert_eq!(over["steps"][0]["reason"], "there is no paint");
}

#[tokio::test]
async fn who_kills_the_coordinator_stops_the_plan() {
    let world = stage(STORY, PLAN, &[]).await;
    let _server = world.up().await.unwrap();
    let begun = begin(&world, &[]).await;
    until("the second step is at work", || is_there(&world, "begun-two")).await;
    let lead = begun["coordinators"][0]["agentId"].as_str().unwrap();
    world.run(&["kill", lead]).await.unwrap().ok().unwrap();
    let stopped = over(&world).await;
    assert_eq!(
        (&stopped["state"], &stopped["reason"]),
        (&json!("stopped"), &json!("killed by the operator"))
    );
    assert_eq!(states(&stopped)[..2], ["completed", "pending"], "what was under way is free again");
    insta::assert_snapshot!("status_of_a_stopped_plan", said(&world, &["plan", "status"]).await);
    assert_eq!(leftovers(&world), Vec::<String>::new());
}
