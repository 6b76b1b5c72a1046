//! Bounds on a crew: whose turn it is, who may start whom, how deep and how many, and who goes round in
//! circles.

use serde_json::{Value, json};

use crate::crew::{crew, leftovers, role, until};
use crate::kill::{
    answer, cast, draft, ended, events, is_there, lines, operator, reason, stage, states,
};

const SCENARIOS: &str = r#"
scenarios:
  eldest:
    steps:
      - &one {call: draft_agent, with: {role: lead, prompt: 'elder 1'}, save: one}
      - &two {call: draft_agent, with: {role: lead, prompt: 'elder 2'}, save: two}
      - &wait1 {call: await_agent, with: {agentId: '{{one.agentId}}'}, until: {status: completed}}
      - &wait2 {call: await_agent, with: {agentId: '{{two.agentId}}'}, until: {status: completed}}
  elder:
    steps:
      - {call: draft_agent, with: {role: hand, prompt: young 1}, save: one}
      - {call: draft_agent, with: {role: hand, prompt: young 2}, save: two}
      - *wait1
      - *wait2
  young:
    steps: [{append: {path: youngest, text: "{{agent}}\n"}}, {result: {summary: young}}]
  patient:
    steps:
      - call: draft_agent
        with: {role: hand, prompt: stay}
        save: one
      - repeat:
          times: 40
          steps:
            - call: await_agent
              with: {agentId: '{{one.agentId}}', waitSeconds: 0}
              expect: {status: running}
      - write: {path: go, text: ''}
      - *wait1
  stay:
    steps: [{wait_file: {path: go}}]
  vain:
    steps:
      - repeat: {times: 100, steps: [{call: task_get, with: {taskId: tsk_0000000000000000}, fails: RESOURCE_NOT_FOUND}, {sleep: 0.1}]}
  round:
    steps:
      - repeat: {times: 100, steps: [{call: system_log_decision, with: {title: again, body: again}}, {sleep: 0.1}]}
  silent:
    steps: [{sleep: 100}]
  nap:
    steps: [{sleep: 4}]
  watch:
    steps:
      - {call: draft_agent, with: {role: hand, prompt: nap}, save: one}
      - *wait1
      - result: {summary: watched}
  deep:
    steps:
      - {call: draft_agent, with: {role: lead, prompt: deepest}, save: one}
      - *wait1
  deepest:
    steps:
      - expect_tools: [await_agent, kill_agent, list_agents, list_running, get_result]
      - expect_no_tools: [draft_agent, spawn_claude, spawn_codex, spawn_parallel, run_tests, review_code, analyze_deps]
      - {call: draft_agent, with: {role: hand, prompt: young}, fails: DEPTH_LIMIT_EXCEEDED}
      - {call: spawn_claude, with: {prompt: young}, fails: DEPTH_LIMIT_EXCEEDED}
  wide:
    steps:
      - {call: draft_agent, with: {role: hand, prompt: silent}, save: one}
      - {call: draft_agent, with: {role: hand, prompt: silent}, save: two}
      - {call: draft_agent, with: {role: hand, prompt: silent}, fails: CHILD_LIMIT_EXCEEDED}
      - {call: kill_agent, with: {agentId: '{{one.agentId}}'}, expect: {success: true}}
      - {call: draft_agent, with: {role: hand, prompt: silent}, save: one}
      - {call: kill_agent, with: {agentId: '{{one.agentId}}'}, expect: {success: true}}
      - {call: kill_agent, with: {agentId: '{{two.agentId}}'}, expect: {success: true}}
  block:
    steps: [{write: {path: blocked, text: ''}}, {wait_file: {path: go}}]
  mark:
    steps: [&mark {append: {path: order, text: "{{args.1}}\n"}}]
  parent:
    steps:
      - *mark
      - {call: draft_agent, with: {role: hand, prompt: mark child-1}, save: one}
      - {call: draft_agent, with: {role: hand, prompt: mark child-2}, save: two}
      - *wait1
      - *wait2
  bounds:
    steps:
      - {call: draft_agent, with: {role: boss, prompt: x}, fails: PERMISSION_DENIED}
      - {call: draft_agent, with: {role: hand, prompt: worker}, save: one}
      - *wait1
  above:
    steps:
      - {call: draft_agent, with: {role: lead, prompt: 'below {{agent}}'}, save: one}
      - *wait1
  below:
    steps:
      - {call: await_agent, with: {agentId: '{{args.1}}'}, fails: INVALID_INPUT}
      - {call: await_agent, with: {agentId: '{{agent}}'}, fails: INVALID_INPUT}
  worker:
    steps:
      - expect_tools: [list_agents, mail_send]
      - expect_no_tools: [draft_agent, await_agent, kill_agent, spawn_claude, spawn_parallel]
      - {call: draft_agent, with: {role: hand, prompt: young}, fails: PERMISSION_DENIED}
"#;

#[tokio::test]
async fn parents_that_wait_do_not_starve_their_children() {
    for running in ["2", "1"] {
        let world = stage(SCENARIOS, &[("ADJUTANT_LIMITS_RUNNING", running)]).await;
        let _server = world.up().await.unwrap();
        let ran = answer(&world, &["run", "--role", "lead", "eldest"]).await;
        assert_eq!(ran["state"], "succeeded", "{ran}");
        assert_eq!(states(&world).await, vec!["succeeded"; 7]);
        assert_eq!(lines(&world, "youngest").len(), 4);
        assert_eq!(leftovers(&world), Vec::<String>::new());
    }
}

#[tokio::test]
async fn who_asks_again_and_again_how_others_stand_is_not_stuck() {
    let world = stage(SCENARIOS, &[]).await;
    let _server = world.up().await.unwrap();
    let ran = answer(&world, &["run", "--role", "lead", "patient"]).await;
    assert_eq!(ran["state"], "succeeded", "{ran}");
    assert_eq!(events(&world, "agent.warned").await, Vec::<Value>::new());
}

#[tokio::test]
async fn who_repeats_itself_is_warned_and_then_stopped() {
    let world = stage(SCENARIOS, &[]).await;
    let _server = world.up().await.unwrap();
    for (scenario, tool) in [("vain", "mcp__task__get"), ("round", "mcp__system__log_decision")] {
        let agent = draft(&world, "hand", scenario).await;
        assert_eq!(ended(&world, &agent).await, "killed", "{scenario}");
        let why = reason(&world, &agent).await;
        assert!(why.starts_with("stuck: the same") && why.contains(tool), "{why}");
        let number = |kind: &'static str| {
            let (world, agent) = (&world, &agent);
            async move {
                let all = events(world, kind).await;
                let own = all.iter().find(|event| event["agentId"] == **agent);
                own.unwrap()["number"].as_i64().unwrap()
            }
        };
        assert!(number("agent.warned").await < number("agent.stopping").await);
    }
    assert_eq!(leftovers(&world), Vec::<String>::new());
}

#[tokio::test]
async fn who_is_silent_for_too_long_is_warned_and_then_stopped() {
    let world = stage(SCENARIOS, &[]).await;
    cast(&world, "mute", "category: worker\ninactivity: 1");
    cast(&world, "watcher", "category: conversational\ninactivity: 1");
    let _server = world.up().await.unwrap();
    let mute = draft(&world, "mute", "silent").await;
    assert_eq!(ended(&world, &mute).await, "killed");
    assert!(reason(&world, &mute).await.starts_with("stuck: silent for"));
    let warned = events(&world, "agent.warned").await;
    assert_eq!((warned.len(), &warned[0]["agentId"]), (1, &json!(mute)), "{warned:?}");
    // Who waits for somebody has nothing to say.
    let ran = answer(&world, &["run", "--role", "watcher", "watch"]).await;
    assert_eq!(ran["result"]["summary"], "watched", "{ran}");
    assert_eq!(events(&world, "agent.warned").await.len(), 1);
}

#[tokio::test]
async fn the_deepest_cannot_start_anybody() {
    let world = stage(SCENARIOS, &[("ADJUTANT_LIMITS_DEPTH", "1")]).await;
    let _server = world.up().await.unwrap();
    let ran = answer(&world, &["run", "--role", "lead", "deep"]).await;
    let agents = crew(&world).await;
    let deepest = answer(&world, &["await", agents[1]["id"].as_str().unwrap()]).await;
    assert_eq!((&ran["state"], agents.len()), (&json!("succeeded"), 2), "{deepest}");
}

#[tokio::test]
async fn nobody_has_more_children_than_allowed() {
    let world = stage(SCENARIOS, &[("ADJUTANT_LIMITS_CHILDREN", "2")]).await;
    let _server = world.up().await.unwrap();
    let ran = answer(&world, &["run", "--role", "lead", "wide"]).await;
    assert_eq!(ran["state"], "succeeded", "{ran}");
}

#[tokio::test]
async fn the_deepest_come_first_and_then_the_oldest() {
    let world = stage(SCENARIOS, &[("ADJUTANT_LIMITS_RUNNING", "1")]).await;
    let _server = world.up().await.unwrap();
    draft(&world, "hand", "block").await;
    until("the only place is taken", || is_there(&world, "blocked")).await;
    let mut agents = Vec::new();
    for (role, prompt) in
        [("lead", "parent first"), ("hand", "mark second"), ("hand", "mark third")]
    {
        agents.push(draft(&world, role, prompt).await);
    }
    assert_eq!(states(&world).await, ["running", "queued", "queued", "queued"]);
    std::fs::write(world.project().join("go"), "").unwrap();
    for agent in agents {
        assert_eq!(ended(&world, &agent).await, "succeeded");
    }
    assert_eq!(lines(&world, "order"), ["first", "child-1", "child-2", "second", "third"]);
}

#[tokio::test]
async fn nobody_waits_for_itself_or_for_who_waits_for_it() {
    let world = stage(SCENARIOS, &[]).await;
    let _server = world.up().await.unwrap();
    let ran = answer(&world, &["run", "--role", "lead", "above"]).await;
    let told = events(&world, "agent.finished").await;
    assert_eq!(ran["state"], "succeeded", "{told:?}");
}

#[tokio::test]
async fn who_may_start_whom_is_bounded_and_wrong_names_are_told_apart() {
    let world = stage(SCENARIOS, &[]).await;
    role(&world, "boss", "category: supervisor\nagent: script\nscript: crew.yaml");
    let server = world.up().await.unwrap();
    let ran = answer(&world, &["run", "--role", "lead", "bounds"]).await;
    let told = events(&world, "agent.finished").await;
    assert_eq!(ran["state"], "succeeded", "{told:?}");

    let http = operator(&world, &server).await;
    let draft = |input: Value| http.call("mcp__harness__draft_agent", input);
    let unknown = draft(json!({ "role": "hant", "prompt": "x" })).await.unwrap().unwrap_err();
    let message = unknown["message"].as_str().unwrap();
    assert!(message.starts_with("Unknown role \"hant\". Available: "), "{unknown}");
    assert!(message.contains("hand") && message.contains("lead"), "{unknown}");
    assert_eq!(unknown["code"], "RESOURCE_NOT_FOUND");
    assert!(unknown["suggestions"].to_string().contains("`hand`"), "{unknown}");

    let add = ["tasks", "add", "Mend the roof", "--slug", "mend-the-roof"];
    world.run(&add).await.unwrap().ok().unwrap();
    let wrong = json!({ "role": "hand", "prompt": "x", "taskSlug": "mend-teh-roof" });
    let unknown = draft(wrong).await.unwrap().unwrap_err();
    assert_eq!(unknown["code"], "RESOURCE_NOT_FOUND");
    assert!(unknown.to_string().contains("mend-the-roof"), "{unknown}");
}
