//! What was spent over time, in figures and by lineage; and how tools were used.

use http::{Method, StatusCode};
use model::agent::{AgentState, Outcome};
use model::money::Usd;
use model::{AgentId, TaskRef, TaskState, Timestamp};
use serde_json::{Value, json};
use store::{Spend, SpendAmount, StoreError, Tokens, Tx};

use crate::world::{OPERATOR, World};

const HOUR: i64 = 3_600_000;

async fn run(world: &World, role: &str, prompt: &str) -> AgentId {
    let body = json!({ "role": role, "kind": "command", "prompt": prompt });
    let (status, started) = world.ask(Method::POST, "/api/runs", OPERATOR, Some(body)).await;
    assert_eq!(status, StatusCode::CREATED, "{started}");
    started["agentId"].as_str().unwrap().parse().unwrap()
}

async fn spend(world: &World, agent: AgentId, model: &'static str, dollars: f64, at: Timestamp) {
    let tokens = Tokens { input: 10, output: 5, cache_read: 80, cache_write: 5 };
    let spend = move |tx: &mut Tx<'_>| {
        let money = Usd::from_dollars(dollars);
        tx.run_use(agent, tokens, Some(money))?;
        tx.budget_charge(agent, Spend { money, tokens: 100, agents: 0 })?;
        tx.spend_add(agent, model, SpendAmount { money, tokens }, at)
    };
    world.store.write(spend).await.unwrap();
}

async fn end(world: &World, agent: AgentId, outcome: Outcome, at: Timestamp) {
    let end = move |tx: &mut Tx<'_>| {
        let state = AgentState::Ended { outcome, reason: "r".into(), at };
        tx.agent_advance(agent, &state, at)?;
        let task = tx.agent_get(agent)?.and_then(|agent| agent.task);
        let found = task.map(|task| tx.task_find(&TaskRef::Id(task))).transpose()?.flatten();
        if let Some(mut task) = found.filter(|_| outcome == Outcome::Succeeded) {
            task.state = TaskState::Completed;
            tx.task_save(&task, at)?;
        }
        Ok::<_, StoreError>(())
    };
    world.store.write(end).await.unwrap();
}

fn sum(points: &Value, key: &str) -> f64 {
    let values = points.as_array().unwrap().iter().flat_map(|p| p["values"].as_array().unwrap());
    values.map(|value| value[key].as_f64().unwrap()).sum()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[tokio::test]
async fn a_series_adds_up_to_its_total_whatever_it_is_cut_by() {
    let world = World::new();
    let now: Timestamp = "2026-03-05T10:30:00Z".parse().unwrap();
    let roles = ["worker", "planning", "supervisor"];
    let mut spent = 0.0;
    for n in 0..9_u32 {
        let agent = run(&world, roles[usize::try_from(n).unwrap() % 3], &format!("job {n}")).await;
        let dollars = 0.5 + f64::from(n);
        spent += dollars;
        let model = if n % 2 == 0 { "large" } else { "small" };
        spend(&world, agent, model, dollars, now.after_millis(-i64::from(n) * HOUR)).await;
    }
    let window = "since=2026-03-05T00:00:00Z&until=2026-03-05T10:31:00Z";
    for (by, keys) in [("role", 3), ("model", 2), ("task", 6), ("lineage", 6)] {
        let series = world.get(&format!("/api/costs/series?by={by}&{window}")).await;
        let total = series["total"]["usd"].as_f64().unwrap();
        assert!(near(total, spent) && near(sum(&series["points"], "usd"), spent), "{series}");
        assert!(near(sum(&series["points"], "tokens"), 900.0), "{series}");
        let named = series["keys"].as_array().unwrap();
        assert_eq!(named.len(), keys, "{series}");
        let all: f64 = named.iter().map(|key| key["usd"].as_f64().unwrap()).sum();
        assert!(near(all, spent), "{series}");
        assert_eq!((&series["step"], &series["by"]), (&HOUR.into(), &by.into()));
        assert_eq!(series["points"].as_array().unwrap().len(), 11);
    }
    let by_role = world.get(&format!("/api/costs/series?{window}")).await;
    assert_eq!(by_role["keys"][0]["key"], "supervisor", "the dearest first");
    let by_task = world.get(&format!("/api/costs/series?by=task&{window}")).await;
    assert!(by_task["keys"][0]["label"].as_str().unwrap().starts_with("TAS-9 "), "{by_task}");
    assert_eq!(by_task["keys"][5]["key"], "other");
    let days = "/api/costs/series?since=2026-02-03T00:00:00Z&until=2026-03-06T00:00:00Z";
    let days = world.get(days).await;
    assert_eq!(
        (&days["step"], days["points"].as_array().unwrap().len()),
        (&(24 * HOUR).into(), 31)
    );
    assert!(near(sum(&days["points"], "usd"), spent), "{days}");
    let none = world.get("/api/costs/series?since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z");
    let none = none.await;
    assert_eq!((&none["keys"], none["points"].as_array().unwrap().len()), (&json!([]), 24));
}

#[tokio::test]
async fn the_figures_tell_what_tasks_cost_and_what_failed() {
    let world = World::new();
    let now = world.engine().now();
    let rate = world.get("/api/costs/summary").await["rateUsd"].as_f64().unwrap();
    assert!(rate.is_sign_positive(), "nothing is not less than nothing");
    let ended = |n: i64| now.after_millis(-n * 1000);
    for (n, dollars) in [(1, 1.0), (2, 5.0), (3, 2.0)] {
        let agent = run(&world, "worker", &format!("good {n}")).await;
        spend(&world, agent, "large", dollars, now).await;
        end(&world, agent, Outcome::Succeeded, ended(n)).await;
    }
    for (n, dollars) in [(4, 0.5), (5, 1.5)] {
        let agent = run(&world, "worker", &format!("bad {n}")).await;
        spend(&world, agent, "large", dollars, now).await;
        end(&world, agent, Outcome::Failed, ended(n)).await;
    }
    let summary = world.get("/api/costs/summary").await;
    assert_eq!(summary["spentUsd"], 10.0, "{summary}");
    assert_eq!(summary["doneTask"], json!({ "medianUsd": 2.0, "count": 3, "beforeUsd": null }));
    assert_eq!(summary["failed"]["usd"], 2.0);
    assert_eq!(
        (&summary["failed"]["worst"]["number"], &summary["failed"]["worst"]["usd"]),
        (&5.into(), &1.5.into())
    );
    assert_eq!(summary["tokens"], json!({ "all": 500, "read": 475, "written": 25, "cached": 400 }));
    assert_eq!(summary["rateUsd"], 10.0, "all of it was spent in this hour");
    let old = world.get("/api/costs/summary?since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z");
    assert_eq!(old.await["doneTask"]["medianUsd"], Value::Null);
}

#[tokio::test]
async fn a_lineage_shows_who_may_spend_what() {
    let world = World::new();
    assert_eq!(world.get("/api/costs/lineage").await, json!({ "root": null, "truncated": false }));
    let body = json!({
        "role": "supervisor", "kind": "command", "prompt": "lead", "budget": { "usd": 40 },
    });
    let (_, started) = world.ask(Method::POST, "/api/runs", OPERATOR, Some(body)).await;
    let root = started["agentId"].clone();
    let lead: AgentId = root.as_str().unwrap().parse().unwrap();
    spend(&world, lead, "large", 3.0, world.engine().now()).await;
    run(&world, "worker", "alone").await;
    let lineage = world.get("/api/costs/lineage").await;
    assert_eq!(lineage["root"]["id"], root, "it has spent the most: {lineage}");
    assert_eq!(
        (&lineage["root"]["capUsd"], &lineage["root"]["spentUsd"]),
        (&json!(40.0), &json!(3.0))
    );
    assert_eq!(lineage["root"]["children"], json!([]));
    let named = world.get(&format!("/api/costs/lineage?agent={lead}")).await;
    assert_eq!(named, lineage);
}

#[tokio::test]
async fn the_use_of_tools_is_told_for_a_time() {
    let world = World::new();
    let member = world.enlist("worker").await;
    for n in 0..5 {
        let input = if n == 4 { json!({}) } else { json!({ "title": "t", "body": "b" }) };
        world.execute(&member.token, "mcp__system__log_decision", input).await;
    }
    world.execute(&member.token, "mcp__epic__create", json!({ "title": "x" })).await;
    let used = world.get("/api/usage/tools").await;
    let tool = |name: &str| {
        let tools = used["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["tool"] == name).unwrap().clone()
    };
    let decide = tool("mcp__system__log_decision");
    assert_eq!((&decide["calls"], &decide["failed"]), (&5.into(), &1.into()), "{used}");
    assert!(decide["p95Ms"].as_f64() >= decide["p50Ms"].as_f64(), "{decide}");
    let spark: u64 =
        decide["spark"].as_array().unwrap().iter().map(|part| part.as_u64().unwrap()).sum();
    assert_eq!((spark, decide["spark"].as_array().unwrap().len()), (5, 24));
    let create = tool("mcp__epic__create");
    assert_eq!((&create["failed"], &create["denied"]), (&0.into(), &1.into()));
    assert_eq!((&used["own"], &used["estimate"]), (&json!([]), &json!(false)));

    let agent = run(&world, "worker", "x").await;
    spend(&world, agent, "large", 1.0, world.engine().now()).await;
    let bash = store::ToolUse { tool: "Bash".into(), calls: 7, errors: 2, micros: 0 };
    let count = move |tx: &mut Tx<'_>| {
        tx.tool_use_add(agent, &bash);
        Ok::<_, StoreError>(())
    };
    world.store.write(count).await.unwrap();
    let hour = world.engine().now().after_millis(-2 * HOUR);
    let used = world.get(&format!("/api/usage/tools?since={hour}")).await;
    assert_eq!(used["own"], json!([{ "tool": "Bash", "calls": 7, "failed": 2 }]), "{used}");
    let old = world.get("/api/usage/tools?since=2001-01-01T00:00:00Z&until=2001-01-02T00:00:00Z");
    assert_eq!(old.await["tools"], json!([]));
}
