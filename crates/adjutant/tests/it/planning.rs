//! Plans: a coordinator that runs one step by step with a crew, the human it asks, and where it stands meanwhile.

mod bad;
mod going_wrong;

use std::fs;

use serde_json::Value;
use testkit::World;

use crate::crew::{leftovers, scene, until};
use crate::kill::{answer, cast, is_there};

const PLAN: &str = "\
# The front door

Paint it before the guests come.

## Step 1: Choose the paint
Ask the human for the colour.

## Step 2: Paint the door
Depends on: 1
Role: hand
Budget: 2.50

## Step 3: Sweep the floor

## Step 4: Hang the sign
Depends on: Paint the door, 3

```
## Step 9: this is code
```

## Step 5: Call the guests
After: 4
";

/// The plan's own task is TAS-1, its steps are TAS-2 to TAS-6. Who works waits until it may.
const STORY: &str = r#"
scenarios:
  Run:
    steps:
      - &first {call: draft_agent, with: {role: hand, prompt: work one, taskSlug: TAS-2}, save: one}
      - &third {call: draft_agent, with: {role: hand, prompt: work three, taskSlug: TAS-4}, save: three}
      - call: mail_send
        with: {toHuman: true, subject: Which colour shall the door have?, body: "1. red\n2. blue"}
      - call: mail_list_inbox
        with: {waitSeconds: 60}
        until: {unreadCount: 1}
        save: inbox
      - call: mail_read
        with: {mailId: '{{inbox.mails.0.id}}'}
        save: letter
      - {call: await_agent, with: {agentId: '{{one.agentId}}'}, until: {status: completed}}
      - {call: await_agent, with: {agentId: '{{three.agentId}}'}, until: {status: completed}}
      - {call: draft_agent, with: {role: hand, prompt: 'work {{letter.body}}', taskSlug: TAS-3}, save: two}
      - {call: await_agent, with: {agentId: '{{two.agentId}}'}, until: {status: completed}, save: painted}
      - {call: draft_agent, with: {role: hand, prompt: work four, taskSlug: TAS-5}, save: four}
      - {call: await_agent, with: {agentId: '{{four.agentId}}'}, until: {status: completed}}
      - {call: draft_agent, with: {role: hand, prompt: work five, taskSlug: TAS-6}, save: five}
      - {call: await_agent, with: {agentId: '{{five.agentId}}'}, until: {status: completed}}
      - result: {summary: 'The door is {{letter.body}}: {{painted.result.summary}}.'}
  work:
    steps:
      - wait_file: {path: 'go-{{args.1}}'}
      - write: {path: 'told-{{args.1}}', text: '{{input}}'}
      - burn: {input_tokens: 1000, output_tokens: 100, cost_usd: 0.02}
      - result: {summary: 'worked on {{args.1}}'}
"#;

/// A project whose coordinator and hands play scenarios, with a plan.
pub(crate) async fn stage(scenarios: &str, plan: &str, variables: &[(&str, &str)]) -> World {
    let world = scene(scenarios, variables).await;
    cast(&world, "coordinator", "category: conversational");
    cast(&world, "hand", "category: worker");
    fs::write(world.project().join("PLAN.md"), plan).unwrap();
    world
}

/// Starts a plan that is not waited for.
async fn begin(world: &World, more: &[&str]) -> Value {
    answer(world, &[&["plan", "run", "PLAN.md", "--detach"], more].concat()).await
}

/// How a plan stands.
async fn plan(world: &World) -> Value {
    answer(world, &["plan", "status"]).await
}

/// Lets somebody go on.
fn allow(world: &World, what: &str) {
    fs::write(world.project().join(what), "").unwrap();
}

/// Waits until a plan is as somebody wants it, and gives it.
pub(crate) async fn plan_when(world: &World, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(90);
    loop {
        let plan = plan(world).await;
        if is_so(&plan) {
            return plan;
        }
        assert!(tokio::time::Instant::now() < deadline, "waited in vain: {what}: {plan}");
    }
}

/// Whether somebody runs who is at a step.
pub(crate) fn at_work(plan: &Value, step: usize) -> bool {
    plan["steps"][step]["agent"]["state"] == "running"
}

/// The states of the steps, in their order.
pub(crate) fn states(plan: &Value) -> Vec<&str> {
    let steps = plan["steps"].as_array().unwrap().iter();
    steps.map(|step| step["state"].as_str().unwrap()).collect()
}

/// How often each step was worked on, in their order.
async fn dispatches(world: &World, steps: usize) -> Vec<u64> {
    let tasks = answer(world, &["tool", "list_tasks"]).await;
    let all = tasks["tasks"].as_array().unwrap();
    let counts = all.iter().rev().skip(1).take(steps);
    counts.map(|task| task["dispatchCount"].as_u64().unwrap()).collect()
}

/// A text without what differs each time: ids, and how long ago something was.
fn masked(text: &str) -> String {
    let ids = |line: &str| {
        let mut masked = String::new();
        for part in line.split_inclusive('_') {
            // An id's digits stand behind its prefix; a line that was cut may have cut it.
            let digits = part.bytes().take_while(u8::is_ascii_hexdigit).count();
            let (digits, rest) = part.split_at(digits);
            let is_cut = rest.starts_with('…') && masked.ends_with("sp_");
            masked.push_str(match digits.len() {
                16 => "0123456789abcdef",
                _ if is_cut => "",
                _ => digits,
            });
            masked.push_str(rest);
        }
        masked
    };
    let ago = |line: &str| match line.split_once(", begun ") {
        Some((before, _)) => format!("{before}, begun [time] ago"),
        None => ids(line),
    };
    text.lines().map(ago).collect::<Vec<_>>().join("\n")
}

/// What a command says, which must fit a terminal.
async fn said(world: &World, typed: &[&str]) -> String {
    let ran = world.run(typed).await.unwrap();
    let wide: Vec<&str> = ran.stdout.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:?}");
    masked(&ran.stdout)
}

#[tokio::test]
async fn a_plan_is_run_to_its_end_with_results_fed_forward_and_a_question_answered_by_mail() {
    let world = stage(STORY, PLAN, &[]).await;
    let _server = world.up().await.unwrap();
    let begun = begin(&world, &[]).await;
    assert_eq!((&begun["name"], &begun["state"]), (&"the-front-door".into(), &"running".into()));
    let asked = |plan: &Value| plan["questions"].as_array().is_some_and(|asked| !asked.is_empty());
    let waits = |plan: &Value| asked(plan) && at_work(plan, 0) && at_work(plan, 2);
    let waiting = plan_when(&world, "the human is asked", waits).await;
    assert_eq!(states(&waiting), ["in_progress", "pending", "in_progress", "pending", "pending"]);
    insta::assert_snapshot!("status_while_it_waits", said(&world, &["plan", "status"]).await);
    let mail = waiting["questions"][0]["mailId"].as_str().unwrap();
    world.run(&["mail", "reply", mail, "blue"]).await.unwrap().ok().unwrap();
    for go in ["go-one", "go-three", "go-blue", "go-five"] {
        allow(&world, go);
    }
    plan_when(&world, "the sign is being hung", |plan| at_work(plan, 3)).await;
    insta::assert_snapshot!("status_in_the_middle", said(&world, &["plan", "status"]).await);
    allow(&world, "go-four");
    let followed = world.run(&["plan", "follow", "the-front-door"]).await.unwrap();
    assert_eq!(followed.code, Some(0), "{followed:?}");
    assert!(followed.stdout.contains("    The door is blue: worked on blue."), "{followed:?}");
    insta::assert_snapshot!("status_at_the_end", said(&world, &["plan", "status"]).await);
    assert_eq!(dispatches(&world, 5).await, [1; 5], "no step was done twice");
    // What a step brought is told to the agent that works on one that depends on it.
    let told = fs::read_to_string(world.project().join("told-four")).unwrap();
    for word in
        ["### What It Depends On", "> Summary: worked on blue", "> Summary: worked on three"]
    {
        assert!(told.contains(word), "{word}: {told}");
    }
    let told = fs::read_to_string(world.project().join("told-blue")).unwrap();
    assert!(
        told.contains("> Summary: worked on one") && !told.contains("worked on three"),
        "{told}"
    );
    assert_eq!(leftovers(&world), Vec::<String>::new());
}

#[tokio::test]
async fn who_follows_a_plan_sees_each_step_begin_and_end() {
    let story = STORY.replace("- wait_file: {path: 'go-{{args.1}}'}\n", "- say: at once\n");
    let plan = "1. Choose\n2. Paint\n   - After: 1\n3. Sweep\n4. Hang\n5. Call\n";
    // One after the other, so that there is one order in which it can be told.
    let story = story
        .replace(", save: one}\n", ", save: one}\n      - {call: await_agent, with: {agentId: '{{one.agentId}}'}, until: {status: completed}}\n")
        .replace(", save: three}\n", ", save: three}\n      - {call: await_agent, with: {agentId: '{{three.agentId}}'}, until: {status: completed}}\n");
    let world = stage(&story, plan, &[]).await;
    let _server = world.up().await.unwrap();
    let replies = async {
        let inbox = answer(&world, &["mail", "--wait", "60"]).await;
        let mail = inbox["mails"][0]["id"].as_str().unwrap().to_owned();
        world.run(&["mail", "reply", &mail, "blue"]).await.unwrap().ok().unwrap();
    };
    let (shown, ()) = tokio::join!(said(&world, &["plan", "run", "PLAN.md"]), replies);
    insta::assert_snapshot!(shown);
}

#[tokio::test]
async fn a_plan_has_one_shape_for_programs() {
    let story = STORY.replace("- wait_file: {path: 'go-{{args.1}}'}\n", "- say: at once\n");
    let world = stage(&story, PLAN, &[]).await;
    let _server = world.up().await.unwrap();
    let begun = begin(&world, &["--name", "door", "--budget", "3"]).await;
    let inbox = answer(&world, &["mail", "--wait", "60"]).await;
    let mail = inbox["mails"][0]["id"].as_str().unwrap().to_owned();
    world.run(&["mail", "reply", &mail, "blue"]).await.unwrap().ok().unwrap();
    let over = answer(&world, &["plan", "follow", "door"]).await;
    assert_eq!((&over["state"], &over["budgetUsd"]), (&"completed".into(), &3.0.into()));
    assert_eq!(over["steps"][1]["budgetUsd"], 2.5);
    assert_eq!(over["steps"][3]["dependsOn"], serde_json::json!([2, 3]));
    let spent = over["spentUsd"].as_f64().unwrap();
    assert!((spent - 0.1).abs() < 1e-9, "{spent}");
    let shape = |value: &Value| {
        let fields: Vec<&String> = value.as_object().unwrap().keys().collect();
        format!("{fields:?}")
    };
    insta::assert_snapshot!(
        "shape_of_a_plan",
        format!(
            "begun: {}\nover: {}\nstep: {}\ncoordinator: {}",
            shape(&begun),
            shape(&over),
            shape(&over["steps"][1]),
            shape(&over["coordinators"][0])
        )
    );
    let listed = answer(&world, &["plan", "list"]).await;
    assert_eq!(listed["plans"].as_array().unwrap().len(), 1);
    insta::assert_snapshot!("shape_of_a_listed_plan", shape(&listed["plans"][0]));
    let read = answer(&world, &["plan", "check", "PLAN.md"]).await;
    insta::assert_snapshot!(
        "shape_of_a_checked_plan",
        format!("{}\nstep: {}", shape(&read), shape(&read["steps"][1]))
    );
    insta::assert_snapshot!("a_checked_plan", said(&world, &["plan", "check", "PLAN.md"]).await);
    // What a step may cost bounds the agent that works on it.
    let paint = over["steps"][1]["taskSlug"].as_str().unwrap();
    let crew = answer(&world, &["ps", "--all"]).await;
    let painter = crew["agents"].as_array().unwrap().iter().find(|one| one["taskSlug"] == paint);
    let painter = painter.unwrap()["id"].as_str().unwrap().to_owned();
    let store = store::Store::open(&world.state_dir().join("state.db")).unwrap();
    let budget = store.read(|tx| tx.budget_get(painter.parse().unwrap())).unwrap().unwrap();
    assert_eq!(budget.caps.money.unwrap().to_string(), "$2.5000");
}

#[tokio::test]
async fn a_plan_that_runs_keeps_the_server_and_is_not_run_beside_itself() {
    let world = stage(STORY, PLAN, &[]).await;
    let _server = world.up().await.unwrap();
    begin(&world, &[]).await;
    let down = world.run(&["down"]).await.unwrap();
    assert_eq!(down.code, Some(5));
    assert!(down.stderr.contains("`adjutant plan stop the-front-door`"), "{}", down.stderr);
    for more in [&[][..], &["--again"], &["--name", "other"]] {
        let typed = [&["plan", "run", "PLAN.md", "--detach"], more].concat();
        let ran = world.run(&typed).await.unwrap();
        assert_eq!(ran.code, Some(5), "{ran:?}");
        assert!(ran.stderr.contains("`adjutant plan status the-front-door`"), "{}", ran.stderr);
    }
    let stopped = world.run(&["plan", "stop", "the-front-door"]).await.unwrap().ok().unwrap();
    assert!(stopped.stdout.contains("stopped  0 of 5 steps"), "{}", stopped.stdout);
    let again = world.run(&["plan", "stop", "the-front-door"]).await.unwrap();
    assert_eq!(again.code, Some(5));
    let same = world.run(&["plan", "run", "PLAN.md", "--detach"]).await.unwrap();
    assert_eq!(same.code, Some(5));
    for word in ["was already run", "`adjutant plan resume the-front-door`", "`--again`"] {
        assert!(same.stderr.contains(word), "{word}: {}", same.stderr);
    }
    let again = begin(&world, &["--again"]).await;
    assert_eq!(again["name"], "the-front-door-2");
    world.run(&["plan", "stop", "the-front-door-2"]).await.unwrap().ok().unwrap();
    assert!(!is_there(&world, "told-one"));
    until("all are gone", || leftovers(&world).is_empty()).await;
    world.run(&["down"]).await.unwrap().ok().unwrap();
}
