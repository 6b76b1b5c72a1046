//! What is given out holds: in money, tokens, agents and time, for an agent and for all below it.

use serde_json::{Value, json};
use testkit::World;

use crate::crew::{crew, leftovers, role};
use crate::going_on::claude;
use crate::kill::{answer, cast, ended, events, operator, reason, stage, states};

/// What one step of a scripted agent costs, in cents.
const STEP: i64 = 5;

const SCENARIOS: &str = r"
scenarios:
  tree:
    steps:
      - &one {call: draft_agent, with: {role: '{{args.1}}', prompt: 'burn 1'}, save: one}
      - &two {call: draft_agent, with: {role: '{{args.1}}', prompt: 'burn 2'}, save: two}
      - &three {call: draft_agent, with: {role: '{{args.1}}', prompt: 'burn 3'}, save: three}
      - &wait1 {call: await_agent, with: {agentId: '{{one.agentId}}'}, until: {status: aborted}, save: last}
      - {call: await_agent, with: {agentId: '{{two.agentId}}'}, until: {status: aborted}}
      - {call: await_agent, with: {agentId: '{{three.agentId}}'}, until: {status: aborted}}
      - result: {summary: '{{last.state}}'}
  burn:
    steps:
      - repeat: {times: 1000, steps: [&burn {burn: {input_tokens: 900, output_tokens: 100, cost_usd: 0.05}}, {call: task_list}, &step {wait_file: {path: 'step-{{agent}}-{{i}}'}}]}
  middle:
    steps:
      - {call: draft_agent, with: {role: hand, prompt: stubborn}}
      - wait_file: {path: stubborn}
      - repeat: {times: 1000, steps: [*burn, *step]}
  stubborn:
    steps: [{deaf: true}, {write: {path: stubborn, text: ''}}, {sleep: 100}]
  root:
    steps:
      - {call: draft_agent, with: {role: lead, prompt: middle}, save: one}
      - *wait1
  recruiter:
    steps:
      - {call: draft_agent, with: {role: hand, prompt: quick}, save: one}
      - {call: await_agent, with: {agentId: '{{one.agentId}}'}, until: {status: completed}}
      - {call: draft_agent, with: {role: hand, prompt: quick}}
      - {call: draft_agent, with: {role: hand, prompt: quick}, fails: BUDGET_EXCEEDED, save: refused}
      - result: {summary: '{{refused.message}}'}
  quick:
    steps: [{result: {summary: quick}}]
  free:
    steps: [{burn: {cost_usd: 0}}]
  sleeper:
    steps:
      - {call: draft_agent, with: {role: hand, prompt: nap}}
      - &nap {sleep: 100}
  nap:
    steps: [*nap]
  watcher:
    steps:
      - {call: draft_agent, with: {role: full, prompt: go}, save: one}
      - {call: await_agent, with: {agentId: '{{one.agentId}}'}, until: {status: crashed}}
      - burn: {cost_usd: 0}
      - result: {summary: watched}
  buyer:
    steps:
      - &buy {call: draft_agent, with: {role: capped, prompt: '{{args.1}}'}, save: one}
      - &bought {call: await_agent, with: {agentId: '{{one.agentId}}'}, until: {status: completed}}
      - *buy
      - *bought
      - result: {summary: bought}
  debtor:
    steps: [*buy, *bought, *buy, *bought, *nap]
  unlucky:
    steps:
      - {call: draft_agent, with: {role: capped, prompt: go}, save: one}
      - {call: await_agent, with: {agentId: '{{one.agentId}}'}, until: {status: crashed}}
      - result: {summary: tried}
";

/// Lets each agent take its next step once the one before is recorded, unless the record says that it
/// is to be stopped: so a step takes as long as it takes to notice it, however busy the machine is.
async fn let_them_step(world: &World) -> std::convert::Infallible {
    let mut look = tokio::time::interval(std::time::Duration::from_millis(50));
    loop {
        look.tick().await;
        let agents = crew(world).await;
        // Asked after the costs: what stopped somebody stands in the same transaction as its cost.
        let stopping = events(world, "agent.stopping").await;
        for agent in &agents {
            let is_stopped = stopping.iter().any(|event| event["agentId"] == agent["id"]);
            let steps = if is_stopped { 0 } else { cents(agent) / STEP };
            for step in 1..=steps {
                let gate = format!("step-{}-{step}", agent["id"].as_str().unwrap());
                std::fs::write(world.project().join(gate), "").unwrap();
            }
        }
    }
}

/// Runs an agent to its end, step by step.
async fn run(world: &World, arguments: &[&str]) -> Value {
    let arguments = [&["run"], arguments].concat();
    tokio::select! {
        ran = answer(world, &arguments) => ran,
        never = let_them_step(world) => match never {},
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a few dollars")]
fn cents(agent: &Value) -> i64 {
    (agent["costUsd"].as_f64().unwrap_or_default() * 100.0).round() as i64
}

/// What agents have cost, in cents.
async fn spent(world: &World) -> Vec<i64> {
    crew(world).await.iter().map(cents).collect()
}

#[tokio::test]
async fn a_tree_spends_what_its_root_was_given_and_the_steps_in_flight() {
    let world = stage(SCENARIOS, &[]).await;
    let _server = world.up().await.unwrap();
    let ran = run(&world, &["--role", "lead", "--budget", "1", "tree hand"]).await;
    assert_eq!((&ran["status"], &ran["state"]), (&json!("aborted"), &json!("over_budget")));
    assert_eq!(states(&world).await, ["over_budget"; 4]);
    assert_eq!(leftovers(&world), Vec::<String>::new());
    let total: i64 = spent(&world).await.iter().sum();
    // It is reached, and each of the three was in the middle of one step.
    assert!((100..=100 + 3 * STEP).contains(&total), "{total}");
    let costs = answer(&world, &["costs", "--by", "agent"]).await;
    let recorded: f64 =
        costs["rows"].as_array().unwrap().iter().map(|row| row["costUsd"].as_f64().unwrap()).sum();
    #[expect(clippy::cast_precision_loss, reason = "a few dollars")]
    let difference = recorded * 100.0 - total as f64;
    assert!(difference.abs() < 0.001, "{costs}");
}

#[tokio::test]
async fn a_child_that_spends_its_own_share_takes_nobody_along() {
    let world = stage(SCENARIOS, &[]).await;
    cast(&world, "thrifty", "category: worker\nbudget: {usd: 0.2}");
    let _server = world.up().await.unwrap();
    let ran = run(&world, &["--role", "lead", "--budget", "1", "tree thrifty"]).await;
    assert_eq!(
        (&ran["state"], &ran["result"]["summary"]),
        (&json!("succeeded"), &json!("over_budget"))
    );
    let spent = spent(&world).await;
    assert!(spent[1..].iter().all(|cents| (20..=20 + STEP).contains(cents)), "{spent:?}");
    assert!(spent.iter().sum::<i64>() <= 100, "{spent:?}");
}

#[tokio::test]
async fn who_spends_is_stopped_before_those_below_it_have_gone() {
    let world = stage(SCENARIOS, &[("ADJUTANT_LIMITS_GRACE", "3000")]).await;
    let _server = world.up().await.unwrap();
    let ran = run(&world, &["--role", "lead", "--budget", "0.2", "root"]).await;
    assert_eq!(ran["state"], "over_budget", "{ran}");
    assert_eq!(states(&world).await, ["over_budget"; 3]);
    let total: i64 = spent(&world).await.iter().sum();
    // One of them spends; the one below it is deaf, and takes its time.
    assert!((20..=20 + STEP).contains(&total), "{total}");
    let finished = events(&world, "agent.finished").await;
    let agents = crew(&world).await;
    let order: Vec<&Value> = finished.iter().map(|event| &event["agentId"]).collect();
    assert_eq!(order, [&agents[2]["id"], &agents[1]["id"], &agents[0]["id"]]);
}

#[tokio::test]
async fn tokens_agents_and_seconds_have_caps_too() {
    let world = stage(SCENARIOS, &[]).await;
    cast(&world, "terse", "category: worker\nbudget: {tokens: 3000}");
    cast(&world, "small", "category: conversational\nbudget: {agents: 2}");
    cast(&world, "short", "category: conversational\nbudget: {seconds: 2}");
    let _server = world.up().await.unwrap();
    let terse = run(&world, &["--role", "terse", "burn"]).await;
    assert_eq!(terse["state"], "over_budget", "{terse}");
    let tokens = &terse["tokens"];
    let used = tokens["input"].as_i64().unwrap() + tokens["output"].as_i64().unwrap();
    assert!((3000..=4000).contains(&used), "{tokens}");
    let why = reason(&world, terse["agentId"].as_str().unwrap()).await;
    assert!(why.contains("3000 tokens"), "{why}");

    let small = answer(&world, &["run", "--role", "small", "recruiter"]).await;
    assert_eq!(small["result"]["summary"], "your budget of 2 agents is used up", "{small}");

    let short = answer(&world, &["run", "--role", "short", "sleeper"]).await;
    assert_eq!(short["state"], "over_budget", "{short}");
    let child = crew(&world).await.pop().unwrap();
    assert_eq!(child["parentId"], short["agentId"]);
    assert_eq!(ended(&world, child["id"].as_str().unwrap()).await, "over_budget");
}

#[tokio::test]
async fn who_does_not_say_what_it_cost_is_charged_its_cap() {
    let world = stage(SCENARIOS, &[]).await;
    cast(&world, "capped", "category: worker\nbudget: {usd: 0.3}");
    let _server = world.up().await.unwrap();
    let paid = answer(&world, &["run", "--role", "lead", "--budget", "0.5", "buyer free"]).await;
    assert_eq!(paid["state"], "succeeded", "{paid}");
    let spent = charged(&world, paid["agentId"].as_str().unwrap());
    assert!(spent.abs() < 1e-9, "both said that they cost nothing: {spent}");
    // It stays until it is stopped for what the second one is charged.
    let unpaid =
        answer(&world, &["run", "--role", "lead", "--budget", "0.5", "debtor quick"]).await;
    assert_eq!(unpaid["state"], "over_budget", "{unpaid}");
}

/// A million tokens, three dollars, and a moment in which it can be stopped.
const DEAR: &str = r#"
say '{"type":"system","subtype":"init","session_id":"s-1","model":"claude-sonnet-4-5","mcp_servers":[]}'
say '{"type":"assistant","message":{"id":"m-1","content":[],"usage":{"input_tokens":1000000,"output_tokens":0}}}'
case $PROMPT in *ponder*) sleep 60 ;; esac
say '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","session_id":"s-1","total_cost_usd":3.0,"modelUsage":{"claude-sonnet-4-5":{"inputTokens":1000000,"outputTokens":0,"costUSD":3.0}}}'
"#;

#[tokio::test]
async fn a_cap_that_only_warns_lets_its_own_agent_go_on() {
    let mut world = stage(SCENARIOS, &[]).await;
    claude(&mut world, DEAR);
    let _server = world.up().await.unwrap();
    let input = json!({ "prompt": "go", "max_cost_usd": 0.5, "abort_on_budget_exceeded": false });
    let spawned = answer(&world, &["tool", "spawn_claude", "--input", &input.to_string()]).await;
    assert_eq!(
        (&spawned["success"], &spawned["cost_usd"]),
        (&json!(true), &json!(3.0)),
        "{spawned}"
    );
    let warned = events(&world, "agent.warned").await;
    assert_eq!((warned.len(), &warned[0]["agentId"]), (1, &spawned["spawn_id"]), "{warned:?}");

    let input = json!({ "prompt": "ponder", "max_cost_usd": 0.5 });
    let spawned = answer(&world, &["tool", "spawn_claude", "--input", &input.to_string()]).await;
    assert_eq!((&spawned["success"], &spawned["state"]), (&json!(false), &json!("over_budget")));
}

/// Reports a million tokens in two parts, and no cost.
const COUNTED: &str = r#"
echo '{"adjutant": {"usage": {"input_tokens": 400000}}}'
echo '{"adjutant": {"usage": {"input_tokens": 600000}}}'
"#;

#[tokio::test]
async fn a_model_without_a_price_is_counted_as_the_nearest_and_every_view_says_so() {
    let world = stage(SCENARIOS, &[]).await;
    std::fs::write(world.project().join("counted.sh"), COUNTED).unwrap();
    role(&world, "counter", "category: worker\nagent: command\ncommand: [sh, counted.sh]");
    let server = world.up().await.unwrap();
    let warning = "`gpt-5.9-mini` has no price in `prices.models`; it is counted at the price of `gpt-5-mini`";
    for (model, warnings) in [("gpt-5.9-mini", vec![warning]), ("gpt-5-mini", Vec::new())] {
        let run = ["run", "--role", "counter", "--model", model, "go"];
        let ran = world.run(&run).await.unwrap().ok().unwrap().stdout;
        let headline = ran.lines().next().unwrap();
        assert!(headline.contains(", $0.2500, 1.0M tokens in"), "{ran}");
        let printed: Vec<&str> =
            ran.lines().filter_map(|line| line.trim().strip_prefix("- ")).collect();
        assert_eq!(printed, warnings, "{ran}");
        assert_eq!(ran.contains("Warnings"), !warnings.is_empty(), "{ran}");
        let listed = crew(&world).await;
        let agent = listed.last().unwrap();
        assert_eq!((&agent["model"], &agent["costUsd"]), (&json!(model), &json!(0.25)));
        let http = operator(&world, &server).await;
        let id = agent["id"].as_str().unwrap();
        let (_, details) = http.get(&format!("/api/agents/{id}")).await.unwrap();
        assert_eq!(details["warnings"], json!(warnings));
        // The timeline of its page.
        let (_, story) = http.get(&format!("/api/agents/{id}/story")).await.unwrap();
        let marks = story["marks"].as_array().unwrap().iter();
        let marked: Vec<&Value> =
            marks.filter(|mark| mark["kind"] == "warning").map(|mark| &mark["text"]).collect();
        assert_eq!(marked, warnings);
    }
}

/// Amount spent by an agent and its descendants, in dollars.
fn charged(world: &World, agent: &str) -> f64 {
    let store = store::Store::open(&world.state_dir().join("state.db")).unwrap();
    let budget = store.read(|tx| tx.budget_get(agent.parse().unwrap())).unwrap().unwrap();
    budget.money.dollars()
}

/// Claims more than can be counted, again and again.
const ABSURD: &str = r#"
echo '{"adjutant": {"usage": {"input_tokens": 18446744073709551615, "output_tokens": 1e30}}}'
echo '{"adjutant": {"usage": {"input_tokens": 18446744073709551615, "cost_usd": '$1'}}}'
echo '{"adjutant": {"usage": {"input_tokens": -1, "cost_usd": -1e300}}}'
"#;

#[tokio::test]
async fn an_absurd_figure_keeps_no_agent_alive_and_breaks_no_sum() {
    let world = stage(SCENARIOS, &[]).await;
    std::fs::write(world.project().join("absurd.sh"), ABSURD).unwrap();
    for (name, cost) in [("modest", "0"), ("boaster", "1e300")] {
        let front = format!("category: worker\nagent: command\ncommand: [sh, absurd.sh, '{cost}']");
        role(&world, name, &front);
    }
    let server = world.up().await.unwrap();
    let modest = answer(&world, &["run", "--role", "modest", "go"]).await;
    assert_eq!(modest["state"], "succeeded", "{modest}");
    assert_eq!(modest["tokens"]["input"], 2_000_000_000_u64, "{modest}");
    let boaster = answer(&world, &["run", "--role", "boaster", "go"]).await;
    assert_eq!(boaster["state"], "over_budget", "{boaster}");
    let warned = events(&world, "agent.warned").await;
    let said = |words: &str| warned.iter().any(|event| event.to_string().contains(words));
    assert!(said("18446744073709551615 tokens"), "{warned:?}");
    for by in ["role", "model", "task", "agent", "hour"] {
        world.run(&["costs", "--by", by]).await.unwrap().ok().unwrap();
    }
    let http = operator(&world, &server).await;
    for path in ["/api/costs", "/api/costs/summary", "/api/costs/series?by=role", "/api/overview"] {
        let (status, body) = http.get(path).await.unwrap();
        assert_eq!(status, 200, "{path}: {body}");
    }
}

#[tokio::test]
async fn a_tree_below_an_enlisted_agent_spends_what_that_was_given() {
    let world = stage(SCENARIOS, &[]).await;
    cast(&world, "miser", "category: conversational\nbudget: {usd: 0.2, agents: 1}");
    let _server = world.up().await.unwrap();
    let miser = world.enlist("miser", &[]).await.unwrap();
    let order = ["tool", "draft_agent", "--role", "hand", "--prompt", "burn", "--json"];
    let drafted = world.run_as(&miser, &order).await.unwrap().ok().unwrap().json().unwrap();
    let more = world.run_as(&miser, &order).await.unwrap();
    assert_eq!(more.error().unwrap()["code"], "BUDGET_EXCEEDED");
    let state = tokio::select! {
        state = ended(&world, drafted["agentId"].as_str().unwrap()) => state,
        never = let_them_step(&world) => match never {},
    };
    assert_eq!(state, "over_budget");
    assert_eq!(states(&world).await, ["over_budget"; 2]);
    let total: i64 = spent(&world).await.iter().sum();
    assert!((20..=20 + STEP).contains(&total), "{total}");
}

#[tokio::test]
async fn an_enlisted_agent_is_over_when_its_seconds_are() {
    let world = stage(SCENARIOS, &[]).await;
    cast(&world, "brief", "category: conversational\nbudget: {seconds: 1}");
    let _server = world.up().await.unwrap();
    let brief = world.enlist("brief", &[]).await.unwrap();
    assert_eq!(ended(&world, &brief.id).await, "over_budget");
    let late = world.run_as(&brief, &["tool", "task_list", "--json"]).await.unwrap();
    assert_ne!(late.code, Some(0), "its token is void: {late:?}");
}

/// Its first file takes half of the room; the next one takes nothing, as on a full disk.
const FULL: &str = r#"
echo '{"adjutant": {"usage": {"cost_usd": 0.05}}}'
ln -s /proc/self/coredump_filter "$ADJUTANT_RUN/output.1.jsonl"
yes 0123456789 | head -c 1000000
echo '{"summary": "what nobody will read"}'
"#;

#[tokio::test]
async fn a_result_that_a_full_disk_took_is_a_failure_and_costs_the_cap() {
    let world = stage(SCENARIOS, &[("ADJUTANT_LIMITS_MAX_OUTPUT_BYTES", "200000")]).await;
    std::fs::write(world.project().join("full.sh"), FULL).unwrap();
    let front = "category: worker\nagent: command\ncommand: [sh, full.sh]\nbudget: {usd: 0.3}";
    role(&world, "full", front);
    let _server = world.up().await.unwrap();
    let lead = answer(&world, &["run", "--role", "lead", "watcher"]).await;
    assert_eq!(lead["state"], "succeeded", "{lead}");
    let full = crew(&world).await.pop().unwrap();
    let full = full["id"].as_str().unwrap();
    assert_eq!(ended(&world, full).await, "failed");
    let why = reason(&world, full).await;
    assert!(why.contains("could not be written to the disk"), "{why}");
    for agent in [full, lead["agentId"].as_str().unwrap()] {
        assert!((charged(&world, agent) - 0.3).abs() < 1e-9, "{}", charged(&world, agent));
    }
}

#[tokio::test]
async fn an_unmetered_child_without_a_cap_costs_what_it_reserved() {
    let world = stage(SCENARIOS, &[]).await;
    cast(&world, "capped", "category: worker");
    let _server = world.up().await.unwrap();
    let lead = answer(&world, &["run", "--role", "lead", "--budget", "5", "buyer quick"]).await;
    assert_eq!(lead["state"], "succeeded", "{lead}");
    let spent = charged(&world, lead["agentId"].as_str().unwrap());
    assert!((spent - 1.0).abs() < 1e-9, "a tenth for each of the two: {spent}");
}

#[tokio::test]
async fn a_child_that_could_not_be_started_costs_nothing() {
    let world = stage(SCENARIOS, &[]).await;
    let missing = "agent: command\ncommand: [/nowhere/at/all]\ncategory: worker";
    let text = format!("---\nname: capped\n{missing}\n---\nWork.\n");
    std::fs::write(world.home().join("roles/capped.md"), text).unwrap();
    let _server = world.up().await.unwrap();
    let lead = answer(&world, &["run", "--role", "lead", "--budget", "5", "unlucky"]).await;
    assert_eq!(lead["state"], "succeeded", "{lead}");
    let spent = charged(&world, lead["agentId"].as_str().unwrap());
    assert!(spent.abs() < 1e-9, "nothing ran: {spent}");
}
