//! Templates as prompts: who sees them, and what they become.

use serde_json::{Value, json};

use crate::templates::{template, with};
use crate::world::{OPERATOR, World, newer_request, whole};

fn world() -> World {
    World::with_settings(with([
        template("run-tests", "Run {{target}}."),
        template("analyze-code", "Analyse {{target}}."),
        template("look_at", "Look at {{target}}. {{focus}}"),
    ]))
}

fn names(answer: &Value) -> Vec<&str> {
    let prompts = answer["result"]["prompts"].as_array().unwrap();
    prompts.iter().map(|prompt| prompt["name"].as_str().unwrap()).collect()
}

/// Asks in both eras, which must answer alike.
async fn both(world: &World, path: &str, token: &str, method: &str, params: Value) -> Value {
    let request = newer_request(path, token, method, params.clone());
    let (_, _, mut newer) = whole(world.send(request).await).await;
    let session = world.open(path, token).await;
    let mut older = world.older(&session, method, params).await;
    for key in ["resultType", "ttlMs", "cacheScope"] {
        for answer in [&mut newer, &mut older] {
            if let Some(result) = answer["result"].as_object_mut() {
                result.remove(key);
            }
        }
    }
    assert_eq!((&newer["result"], &newer["error"]), (&older["result"], &older["error"]));
    newer
}

#[tokio::test]
async fn everybody_sees_two_and_those_who_start_agents_all() {
    let world = world();
    let (lead, worker) = (world.enlist("conversational").await, world.enlist("worker").await);
    for (token, wanted) in [
        (OPERATOR, &["analyze-code", "run-tests", "look_at"][..]),
        (&lead.token, &["analyze-code", "run-tests", "look_at"]),
        (&worker.token, &["analyze-code", "run-tests"]),
    ] {
        for path in ["/mcp", "/mcp/agents"] {
            let list = both(&world, path, token, "prompts/list", json!({})).await;
            assert_eq!(names(&list), wanted, "{path}");
        }
        let elsewhere = both(&world, "/mcp/mail", token, "prompts/list", json!({})).await;
        assert_eq!(names(&elsewhere), Vec::<&str>::new());
    }
    let chosen = world.newer("/mcp?toolsets=mail", OPERATOR, "prompts/list", json!({})).await;
    assert_eq!(names(&chosen), Vec::<&str>::new());
    assert_eq!(chosen["result"]["cacheScope"], "private");
}

#[tokio::test]
async fn a_prompt_says_what_it_takes() {
    let world = world();
    let list = both(&world, "/mcp", OPERATOR, "prompts/list", json!({})).await;
    assert_eq!(
        list["result"]["prompts"][2],
        json!({
            "name": "look_at",
            "description": "Look at something",
            "arguments": [
                { "name": "target", "description": "The target", "required": true },
                { "name": "focus", "description": "The focus", "required": false },
            ],
        })
    );
}

#[tokio::test]
async fn a_prompt_is_filled_in() {
    let world = world();
    let worker = world.enlist("worker").await;
    let get = |name: &str| json!({ "name": name, "arguments": { "target": "src" } });
    let common = both(&world, "/mcp", &worker.token, "prompts/get", get("run-tests")).await;
    assert_eq!(
        common["result"],
        json!({
            "description": "Look at something",
            "messages": [{ "role": "user", "content": { "type": "text", "text": "Run src." } }],
        })
    );
    let of_crew = both(&world, "/mcp/agents", OPERATOR, "prompts/get", get("look_at")).await;
    let text = &of_crew["result"]["messages"][0]["content"]["text"];
    assert_eq!(text, "Look at src. ");
}

#[tokio::test]
async fn mistakes_are_invalid_parameters_that_name_what_is_wrong() {
    let world = world();
    let worker = world.enlist("worker").await;
    let cases = [
        (OPERATOR, json!({ "name": "look_at" }), "missing argument `target`", "target"),
        (
            OPERATOR,
            json!({ "name": "look_at", "arguments": { "target": "a", "fokus": "b" } }),
            "unknown argument `fokus`",
            "fokus",
        ),
        // What stands beside a tool's arguments is not a prompt's.
        (
            OPERATOR,
            json!({ "name": "look_at", "arguments": { "target": "a", "async": "true" } }),
            "unknown argument `async`",
            "async",
        ),
        (OPERATOR, json!({ "name": "lok_at" }), "there is no prompt `lok_at`", "name"),
        (&worker.token, json!({ "name": "look_at" }), "there is no prompt `look_at`", "name"),
    ];
    for (token, params, message, field) in cases {
        let answer = both(&world, "/mcp", token, "prompts/get", params).await;
        let error = &answer["error"];
        assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &message.into()));
        assert_eq!(error["data"]["details"]["field"], field, "{error}");
    }
    let elsewhere = json!({ "name": "run-tests", "arguments": { "target": "a" } });
    let answer = both(&world, "/mcp/mail", OPERATOR, "prompts/get", elsewhere).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}
