//! Agents that Adjutant runs, as the operator's programs see them. Nothing is started here: they wait
//! for their turn, which never comes.

use http::{Method, StatusCode};
use model::AgentId;
use model::money::Usd;
use serde_json::{Value, json};
use store::{SpendAmount, Tokens};

use crate::world::{OPERATOR, World};

async fn post(world: &World, path: &str, body: Value) -> (StatusCode, Value) {
    world.ask(Method::POST, path, OPERATOR, Some(body)).await
}

/// Starts an agent in a role and gives its id.
async fn run(world: &World, role: &str, prompt: &str) -> String {
    let body = json!({ "role": role, "kind": "command", "prompt": prompt });
    let (status, started) = post(world, "/api/runs", body).await;
    assert_eq!(status, StatusCode::CREATED, "{started}");
    started["agentId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_agent_is_started_and_shown_whole() {
    let world = World::new();
    let request = json!({
        "role": "worker", "kind": "codex", "prompt": "Mend the parser", "model": "small",
        "tools": ["Read"], "timeout": 60, "budget": { "usd": 1.5, "agents": 2 }, "cwd": "/tmp",
    });
    let (status, started) = post(&world, "/api/runs", request).await;
    assert_eq!(status, StatusCode::CREATED, "{started}");
    let (id, slug) = (started["agentId"].as_str().unwrap(), &started["taskSlug"]);
    assert_eq!(started["role"], "worker");
    assert!(slug.as_str().unwrap().starts_with("mend-parser"), "{slug}");

    let agent = world.get(&format!("/api/agents/{id}")).await;
    let started_at = agent["startedAt"].clone();
    assert_eq!(
        agent,
        json!({
            "id": id, "role": "worker", "category": "worker", "kind": "codex", "state": "queued",
            "awaitStatus": "running", "reason": null, "summary": "Mend the parser...",
            "prompt": "Mend the parser", "model": "small", "taskSlug": slug, "parentId": null,
            "depth": 0, "attempt": 1, "startedAt": started_at, "finishedAt": null,
            "deadlineAt": null, "durationMs": 0, "cwd": "/tmp", "tmuxSession": null,
            "costUsd": null, "tokens": { "input": 0, "output": 0 }, "result": null,
            "resumedFrom": null, "reviewStatus": "STARTED", "worktree": null, "relations": [],
            "warnings": [],
            "budget": {
                "caps": { "usd": 1.5, "tokens": null, "agents": 2, "seconds": null },
                "spent": { "usd": 0.0, "tokens": 0, "agents": 0, "seconds": 0 },
            },
        })
    );
    let listed = &world.get("/api/agents").await["agents"][0];
    for key in ["id", "kind", "model", "summary", "taskSlug", "depth", "parentId", "costUsd"] {
        assert_eq!(listed[key], agent[key], "{key}");
    }
    let status = world.get("/api/status").await;
    let counts = ["agents", "running", "waiting"].map(|key| status[key].clone());
    assert_eq!(counts, [1, 0, 1].map(Value::from));
    assert_eq!(world.get("/api/audit/verify").await["ok"], true);
}

#[tokio::test]
async fn who_waits_for_its_turn_has_said_nothing_and_hears_nothing() {
    let world = World::new();
    let id = run(&world, "worker", "x").await;
    let output = world.get(&format!("/api/agents/{id}/output")).await;
    let nothing = json!({
        "lines": [], "next": { "segment": 0, "offset": 0 }, "attempt": 1, "complete": false,
    });
    assert_eq!(output, nothing);
    let (status, error) =
        post(&world, &format!("/api/agents/{id}/input"), json!({ "line": "hello" })).await;
    assert_eq!((status.as_u16(), &error["code"]), (409, &"INVALID_AGENT_STATE".into()));

    let (_, killed) =
        world.execute(OPERATOR, "mcp__harness__kill_agent", json!({ "agentId": id })).await;
    assert_eq!(killed["data"]["success"], true, "{killed}");
    let agent = world.get(&format!("/api/agents/{id}")).await;
    assert_eq!((&agent["state"], &agent["awaitStatus"]), (&"killed".into(), &"aborted".into()));
    assert_eq!(agent["reason"], "killed by the operator");
    let output = world.get(&format!("/api/agents/{id}/output?waitSeconds=60")).await;
    assert_eq!(output["complete"], true, "nothing will come, so nobody waits for it");
}

#[tokio::test]
async fn waiting_for_output_ends_with_the_server() {
    let world = World::new();
    let id = run(&world, "worker", "x").await;
    let path = format!("/api/agents/{id}/output?waitSeconds=60");
    let end = async { world.app.shutdown.cancel() };
    let (output, ()) = tokio::join!(world.get(&path), end);
    assert_eq!((&output["lines"], &output["complete"]), (&json!([]), &json!(false)));
}

#[tokio::test]
async fn an_agent_is_found_by_part_of_its_id_or_as_the_last() {
    let world = World::new();
    let first = run(&world, "worker", "one").await;
    let second = run(&world, "worker", "two").await;
    world.enlist("worker").await;
    let named = async |name: &str| world.get(&format!("/api/agents/{name}")).await["id"].clone();
    assert_eq!(named("last").await, *second, "one that somebody else runs is not meant");
    let end = |id: &str| id.split_at(13).1.to_owned();
    for (id, name) in [
        (&first, end(&first)),
        (&second, end(&second).to_uppercase()),
        (&second, second.replace("sp_", "")),
    ] {
        assert_eq!(named(&name).await, **id, "{name}");
    }
    let refused = async |name: &str| {
        let path = format!("/api/agents/{name}");
        world.ask(Method::GET, &path, OPERATOR, None).await
    };
    // Ids begin with the time.
    let (status, error) = refused(first.split_at(7).0).await;
    assert_eq!((status.as_u16(), &error["code"]), (422, &"INVALID_INPUT".into()));
    let told = error["suggestions"].to_string();
    assert!(told.contains(&first) && told.contains(&second), "{error}");
    for (name, code) in [
        ("0000", "AGENT_NOT_FOUND"),
        ("sp_0000000000000000", "AGENT_NOT_FOUND"),
        ("abc", "INVALID_INPUT"),
        ("worker", "INVALID_INPUT"),
    ] {
        assert_eq!(refused(name).await.1["code"], code, "{name}");
    }
    let empty = World::new();
    let (_, error) = empty.ask(Method::GET, "/api/agents/last", OPERATOR, None).await;
    assert_eq!(error["message"], "no agent was started yet");
}

#[tokio::test]
async fn bad_requests_for_agents_are_answered_in_one_shape() {
    let world = World::new();
    let id = run(&world, "worker", "x").await;
    let enlisted = world.enlist("worker").await.id;
    let own = |rest: &str| format!("/api/agents/{id}/{rest}");
    let theirs = |rest: &str| format!("/api/agents/{enlisted}/{rest}");
    for (path, body, status, code) in [
        ("/api/runs".to_owned(), json!({}), 422, "INVALID_INPUT"),
        ("/api/runs".to_owned(), json!({ "prompt": " " }), 422, "INVALID_INPUT"),
        ("/api/runs".to_owned(), json!({ "promt": "x" }), 422, "INVALID_INPUT"),
        (
            "/api/runs".to_owned(),
            json!({ "prompt": "x", "role": "wroker" }),
            404,
            "RESOURCE_NOT_FOUND",
        ),
        (
            "/api/runs".to_owned(),
            json!({ "prompt": "x", "kind": "command", "task": "none" }),
            404,
            "RESOURCE_NOT_FOUND",
        ),
        ("/api/runs".to_owned(), json!({ "prompt": "x", "kind": "robot" }), 422, "INVALID_INPUT"),
        ("/api/runs".to_owned(), json!({ "prompt": "x", "timeout": 0 }), 422, "INVALID_INPUT"),
        (
            "/api/runs".to_owned(),
            json!({ "prompt": "x", "budget": { "usd": -1 } }),
            422,
            "INVALID_INPUT",
        ),
        (
            "/api/runs".to_owned(),
            json!({ "prompt": "x", "resume": enlisted }),
            409,
            "INVALID_AGENT_STATE",
        ),
        (
            "/api/runs".to_owned(),
            json!({ "prompt": "x", "resume": "sp_0000000000000000" }),
            404,
            "AGENT_NOT_FOUND",
        ),
        (own("input"), json!({}), 422, "INVALID_INPUT"),
        (theirs("input"), json!({ "line": "x" }), 409, "INVALID_AGENT_STATE"),
        (own("output?attempt=2"), Value::Null, 422, "INVALID_INPUT"),
        (own("output?waitSeconds=61"), Value::Null, 422, "INVALID_INPUT"),
        (own("output?bytes=0"), Value::Null, 422, "INVALID_INPUT"),
        (theirs("output"), Value::Null, 409, "INVALID_AGENT_STATE"),
        ("/api/agents/0000000000000000/output".to_owned(), Value::Null, 422, "INVALID_INPUT"),
        ("/api/costs?by=colour".to_owned(), Value::Null, 422, "INVALID_INPUT"),
        ("/api/costs?since=yesterday".to_owned(), Value::Null, 422, "INVALID_INPUT"),
        ("/api/usage?by=agent".to_owned(), Value::Null, 422, "INVALID_INPUT"),
        ("/api/usage?by=tool".to_owned(), Value::Null, 422, "INVALID_INPUT"),
    ] {
        let method = if body.is_null() { Method::GET } else { Method::POST };
        let (found, answer) = world.ask(method, &path, OPERATOR, Some(body.clone())).await;
        assert_eq!(found.as_u16(), status, "{path} {body}: {answer}");
        assert_eq!(answer["code"], code, "{path} {body}: {answer}");
        assert!(answer["message"].is_string(), "{path} {body}: {answer}");
    }
}

#[tokio::test]
async fn what_was_spent_is_added_up() {
    let world = World::new();
    let one: AgentId = run(&world, "worker", "a").await.parse().unwrap();
    let two: AgentId = run(&world, "planning", "b").await.parse().unwrap();
    let (first, second) =
        ("2026-01-02T03:04:05Z".parse().unwrap(), "2026-02-01T00:00:00Z".parse().unwrap());
    let tokens = Tokens { input: 10, output: 2, cache_read: 5, cache_write: 1 };
    let spend = move |tx: &mut store::Tx<'_>| {
        tx.spend_add(one, "large", SpendAmount { money: Usd::from_dollars(0.5), tokens }, first)?;
        tx.spend_add(one, "small", SpendAmount { money: Usd::from_dollars(0.1), tokens }, second)?;
        tx.spend_add(two, "small", SpendAmount { money: Usd::from_dollars(0.2), tokens }, second)
    };
    world.store.write(spend).await.unwrap();

    let costs = world.get("/api/costs").await;
    let sums = json!({ "input": 20, "output": 4, "cacheRead": 10, "cacheWrite": 2 });
    assert_eq!(
        costs["rows"][0],
        json!({ "key": "worker", "agents": 1, "costUsd": 0.6, "tokens": sums })
    );
    assert_eq!((&costs["by"], &costs["since"]), (&"role".into(), &Value::Null));
    let total =
        |costs: &Value| (costs["total"]["agents"].clone(), costs["total"]["costUsd"].clone());
    assert_eq!(total(&costs), (2.into(), 0.8.into()));

    let keys = async |query: &str| {
        let costs = world.get(&format!("/api/costs?{query}")).await;
        let rows = costs["rows"].as_array().unwrap().clone();
        rows.into_iter().map(|row| row["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys("by=model").await, ["large", "small"]);
    assert_eq!(keys("by=agent").await, [one.to_string(), two.to_string()]);
    assert_eq!(keys("by=task").await.len(), 2);
    assert_eq!(keys("by=hour").await, ["2026-01-02T03:00:00.000Z", "2026-02-01T00:00:00.000Z"]);
    let later = world.get("/api/costs?by=hour&since=2026-02-01T00:00:00Z").await;
    assert_eq!(total(&later), (2.into(), 0.3.into()), "an agent is counted once");
}

#[tokio::test]
async fn the_use_of_tools_is_shown_by_role_and_by_agent() {
    let world = World::new();
    let member = world.enlist("worker").await;
    for input in [json!({ "title": "t", "body": "b" }), json!({})] {
        world.execute(&member.token, "mcp__system__log_decision", input).await;
    }
    // What is counted is written with the next commit.
    world.enlist("worker").await;
    let by_role = world.get("/api/usage").await;
    let row = &by_role["rows"][0];
    assert_eq!((&by_role["by"], &row["key"]), (&"role".into(), &"worker".into()));
    assert_eq!((&row["tool"], &row["calls"]), (&"mcp__system__log_decision".into(), &2.into()));
    assert_eq!(row["errors"], 1);
    assert!(row["meanMs"].is_f64(), "{row}");
    let by_agent = world.get(&format!("/api/usage?agent={}", member.id)).await;
    assert_eq!(
        (&by_agent["by"], &by_agent["rows"][0]["key"]),
        (&"agent".into(), &json!(member.id))
    );
}
