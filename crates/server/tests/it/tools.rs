//! Tools over MCP: what is listed, under which names, and what answers look like.

use std::collections::HashSet;

use axum::body::Body;
use engine::toolsets::TOOLSETS;
use engine::{Effect, TOOLS};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{OPERATOR, Stream, World, newer_request, request, settings, whole};

#[tokio::test]
async fn a_list_holds_what_the_caller_may_use() {
    let world = World::new();
    let settings = settings();
    for category in settings.policy.names() {
        let member = world.enlist(category).await;
        let caller = world.engine().caller(engine::Principal::Agent(member.id), None).unwrap();
        let may = |tool: &&engine::ToolDef| caller.may(&settings, tool.name);
        let expected: Vec<String> = TOOLS
            .iter()
            .filter(|tool| tool.toolset() != "session")
            .filter(may)
            .map(engine::ToolDef::joined)
            .collect();
        assert_eq!(world.names("/mcp", &member.token).await, expected, "{category}");
        for set in TOOLSETS {
            let alone = TOOLS.iter().filter(|tool| tool.toolset() == set).filter(may);
            let alone: Vec<&str> = alone.map(engine::ToolDef::bare).collect();
            let path = format!("/mcp/{set}");
            assert_eq!(world.names(&path, &member.token).await, alone, "{category} {set}");
        }
    }
}

#[tokio::test]
async fn what_is_not_listed_is_refused() {
    let world = World::new();
    let settings = settings();
    for category in settings.policy.names() {
        let member = world.enlist(category).await;
        let caller = world.engine().caller(engine::Principal::Agent(member.id), None).unwrap();
        for tool in TOOLS.iter().filter(|tool| !caller.may(&settings, tool.name)) {
            let path = format!("/mcp/{}", tool.toolset());
            // The words are the office's, whatever the input.
            let input = json!({ "nonsense": 1 });
            let result = world.call(&path, &member.token, tool.bare(), input).await;
            assert_eq!(result["isError"], true, "{category} {}: {result}", tool.name);
            let body = &result["structuredContent"];
            assert_eq!(body["code"], "PERMISSION_DENIED", "{category} {}: {result}", tool.name);
            let words = format!(
                "Tool '{}' is not allowed for agent type '{}'",
                tool.name,
                category.to_uppercase()
            );
            assert_eq!(body["message"], words, "{result}");
            assert_eq!(body["agentId"], json!(member.id));
        }
    }
}

#[tokio::test]
async fn every_tool_is_described_in_full() {
    let world = World::new();
    let list = world.newer("/mcp?toolsets=", OPERATOR, "tools/list", json!({})).await;
    assert_eq!(list["result"]["tools"], json!([]), "nothing was chosen");
    let all = format!("/mcp?toolsets={}", TOOLSETS.join(","));
    let list = world.newer(&all, OPERATOR, "tools/list", json!({})).await;
    let result = &list["result"];
    assert_eq!(result["cacheScope"], "private");
    assert!(result["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0 && ttl <= 60_000), "{result}");
    let tools = result["tools"].as_array().unwrap();
    assert_eq!(tools.len(), TOOLS.len());
    for (tool, def) in tools.iter().zip(TOOLS) {
        let described = def.described();
        let looks = def.effect() == Effect::Read;
        let expected = json!({
            "name": def.joined(),
            "title": described.title,
            "description": described.description,
            "inputSchema": *described.input,
            "outputSchema": tool["outputSchema"],
            "annotations": {
                "readOnlyHint": looks,
                "destructiveHint": def.destructive,
                "idempotentHint": looks || def.idempotent,
                "openWorldHint": false,
            },
        });
        assert_eq!(*tool, expected);
        assert_eq!(tool["inputSchema"]["type"], "object");
        // An answer has what it must have, or it is an error with what that must have.
        let mut output = described.output.as_ref().clone();
        if let Some(required) = output.remove("required") {
            let error = json!({ "required": ["code", "message", "toolName"] });
            output.insert("anyOf".into(), json!([{ "required": required }, error]));
        }
        assert_eq!(tool["outputSchema"], Value::Object(output));
        assert_eq!(tool["outputSchema"]["type"], "object");
    }
}

#[tokio::test]
async fn a_tool_answers_to_its_names() {
    let world = World::new();
    let title = json!({ "title": "t", "body": "b" });
    for (path, name) in [
        ("/mcp", "system_log_decision"),
        ("/mcp", "mcp__system__log_decision"),
        ("/mcp/system", "log_decision"),
        ("/mcp/system", "mcp__system__log_decision"),
        ("/mcp/mail", "mcp__system__log_decision"),
    ] {
        let result = world.call(path, OPERATOR, name, title.clone()).await;
        assert_eq!(result["isError"], false, "{path} {name}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let same: Value = serde_json::from_str(text).unwrap();
        assert_eq!(same, result["structuredContent"]);
        assert!(same["logId"].is_string());
    }
}

#[tokio::test]
async fn an_unknown_tool_is_answered_and_not_a_protocol_error() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let result = world.call("/mcp/mail", &member.token, "sned", json!({})).await;
    assert_eq!(result["isError"], true);
    let body = &result["structuredContent"];
    assert_eq!(body["code"], "TOOL_NOT_FOUND");
    assert_eq!(body["details"]["nearest"], "send");
    assert_eq!(body["suggestions"], json!(["did you mean `send`?"]));
    assert_eq!(body["agentId"], json!(member.id));
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, *body);

    let result = world.call("/mcp/session", &member.token, "task_ad", json!({})).await;
    assert_eq!(result["content"][0]["text"], "error: there is no tool `task_ad`");
    let session = world.open("/mcp/mail", &member.token).await;
    let answer = world.older(&session, "tools/call", json!({ "name": "sned" })).await;
    assert_eq!(answer["result"]["structuredContent"]["code"], "TOOL_NOT_FOUND", "{answer}");
}

#[tokio::test]
async fn a_failure_is_a_result_in_both_eras() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let params = json!({ "name": "read", "arguments": { "mailId": "mail_0000000000000001" } });
    let newer = world.newer("/mcp/mail", &member.token, "tools/call", params.clone()).await;
    let session = world.open("/mcp/mail", &member.token).await;
    let older = world.older(&session, "tools/call", params).await;
    for answer in [&newer["result"], &older["result"]] {
        assert_eq!(answer["isError"], true, "{answer}");
        assert_eq!(answer["structuredContent"]["code"], "RESOURCE_NOT_FOUND");
        assert_eq!(answer["structuredContent"]["toolName"], "mcp__mail__read");
    }
    assert_eq!(newer["result"]["resultType"], "complete");
    assert!(older["result"].get("resultType").is_none(), "the older era does not know it");
}

#[tokio::test]
async fn absent_arguments_are_none() {
    let world = World::new();
    let params = json!({ "name": "list_inbox" });
    let answer = world.newer("/mcp/mail", OPERATOR, "tools/call", params).await;
    assert_eq!(answer["result"]["structuredContent"]["count"], 0, "{answer}");
}

#[tokio::test]
async fn an_agent_of_a_loop_has_the_other_words_for_tasks() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let sets = |names: Vec<String>| -> HashSet<&'static str> {
        let def = |name: &String| TOOLS.iter().find(|tool| tool.joined() == *name).unwrap();
        names.iter().map(|name| def(name).toolset()).collect()
    };
    let outside = sets(world.names("/mcp", &member.token).await);
    assert!(outside.contains("task") && !outside.contains("session"), "{outside:?}");
    let operator = sets(world.names("/mcp", OPERATOR).await);
    assert!(operator.contains("task") && !operator.contains("session"), "{operator:?}");

    let token = world.in_a_loop(member.id).await;
    let inside = sets(world.names("/mcp", &token).await);
    assert!(!inside.contains("task") && inside.contains("session"), "{inside:?}");
    let chosen = sets(world.names("/mcp?toolsets=task,mail", &token).await);
    assert_eq!(chosen, HashSet::from(["task", "mail"]), "who names toolsets gets them");
}

#[tokio::test]
async fn the_server_says_who_it_is_and_no_more_than_it_has() {
    let world = World::new();
    let answer = world.newer("/mcp", OPERATOR, "server/discover", json!({})).await;
    let result = &answer["result"];
    assert_eq!(
        result["capabilities"],
        json!({ "tools": {}, "prompts": {}, "resources": { "subscribe": true } }),
        "{answer}"
    );
    assert!(result["instructions"].is_string(), "{answer}");
    assert!(
        result["supportedVersions"].as_array().unwrap().contains(&"2026-07-28".into()),
        "{answer}"
    );
    let prompts = world.newer("/mcp", OPERATOR, "prompts/list", json!({})).await;
    assert_eq!(prompts["result"]["prompts"], json!([]));
}

/// The commonest calls do not go through `rmcp`; what they answer is the same to the letter.
#[tokio::test]
async fn the_short_way_and_the_long_way_say_the_same() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    for (path, name, arguments) in [
        ("/mcp", "list_agents", json!({})),
        ("/mcp", "task_list", json!({ "limit": 5 })),
        ("/mcp", "agent_get_task", json!({})),
        ("/mcp", "mcp__task__get", json!({ "taskId": "TAS-404" })),
        ("/mcp", "task_create", json!({ "title": "t" })),
        ("/mcp", "task_list", json!({ "limti": 5 })),
        ("/mcp/session", "task-update", json!({ "id": "TAS-404" })),
        ("/mcp/harness", "list_tasks", Value::Null),
        ("/mcp", "no_such_tool", json!({})),
    ] {
        let mut params = json!({ "name": name });
        if !arguments.is_null() {
            params["arguments"] = arguments;
        }
        let short =
            world.send(newer_request(path, &agent.token, "tools/call", params.clone())).await;
        // Only `rmcp` can report progress, so anyone who asks for it takes the long way.
        params["_meta"] = json!({ "progressToken": 1 });
        let long = world.send(newer_request(path, &agent.token, "tools/call", params)).await;
        let (short, long) = (whole(short).await, whole(long).await);
        assert_eq!((short.0, &short.2), (long.0, &long.2), "{path} {name}");
        assert_eq!(short.1.get("content-type"), long.1.get("content-type"));
    }
}

#[tokio::test]
async fn what_contradicts_itself_is_refused_on_the_short_way_too() {
    let world = World::new();
    let call = || newer_request("/mcp", OPERATOR, "tools/call", json!({ "name": "list_agents" }));
    for (header, value) in [
        ("mcp-name", "task_list"),
        ("mcp-method", "tools/list"),
        ("mcp-protocol-version", "2025-11-25"),
    ] {
        let mut request = call();
        request.headers_mut().insert(header, value.parse().unwrap());
        let (status, _, body) = whole(world.send(request).await).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{header}: {body}");
    }
    let (status, _, body) = whole(world.send(call()).await).await;
    assert_eq!(status, StatusCode::OK, "{body}");
}

/// Calls a tool with arguments that are not an object, in both eras.
#[tokio::test]
async fn arguments_that_are_no_object_are_a_tools_error() {
    let world = World::new();
    let member = world.enlist("worker").await;
    let session = world.open("/mcp/mail", &member.token).await;
    for arguments in [json!([]), json!("{}"), json!(5), json!(true), json!([{ "limit": 1 }])] {
        for name in ["list_inbox", "send"] {
            let params = json!({ "name": name, "arguments": arguments });
            let newer = world.newer("/mcp/mail", &member.token, "tools/call", params.clone()).await;
            let older = world.older(&session, "tools/call", params).await;
            for answer in [newer, older] {
                let result = &answer["result"];
                assert_eq!(result["isError"], true, "{arguments}: {answer}");
                let body = &result["structuredContent"];
                assert_eq!(body["code"], "INVALID_INPUT", "{arguments}: {answer}");
                assert_eq!(body["message"], "the input must be a JSON object");
                assert_eq!(result["content"][0]["text"], body.to_string());
            }
        }
    }
    let failed = world.get("/api/record?outcome=failed&limit=100").await;
    assert_eq!(failed["rows"].as_array().unwrap().len(), 20, "each is on record");
    // No arguments are none, and a method that is not there is still not there.
    let none = json!({ "name": "list_inbox", "arguments": null });
    let answer = world.older(&session, "tools/call", none).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let answer = world.older(&session, "tools/fetch", json!({ "name": "list_inbox" })).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let answer = world.older(&session, "tools/call", json!({ "name": 5 })).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

/// The only version with batches is declined: anyone who asks for it gets the one before.
#[tokio::test]
async fn no_version_is_agreed_on_that_has_batches() {
    let world = World::new();
    let open = async |version: &str| {
        let params = json!({
            "protocolVersion": version, "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let message =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let sent = request(Method::POST, "/mcp", Some(OPERATOR), Body::from(message.to_string()));
        let response = world.send(sent).await;
        let id = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let opened = Stream::of(response).next().await.unwrap();
        (id, opened["result"]["protocolVersion"].as_str().unwrap().to_owned())
    };
    for (asked, agreed) in [
        ("2025-03-26", "2024-11-05"),
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
    ] {
        assert_eq!(open(asked).await.1, agreed);
    }
    // Such a client has no header for the version, and works.
    let (id, _) = open("2025-03-26").await;
    let send = async |message: Value| {
        let body = Body::from(message.to_string());
        let mut sent = request(Method::POST, "/mcp", Some(OPERATOR), body);
        sent.headers_mut().insert("mcp-session-id", id.parse().unwrap());
        world.send(sent).await
    };
    let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(send(done).await.status(), StatusCode::ACCEPTED);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let answer = Stream::of(send(list.clone()).await).answer().await;
    assert!(answer["result"]["tools"].is_array(), "{answer}");
    assert!(send(json!([list])).await.status().is_client_error());
    let discovered = world.newer("/mcp", OPERATOR, "server/discover", json!({})).await;
    let versions = discovered["result"]["supportedVersions"].as_array().unwrap();
    assert!(!versions.contains(&"2025-03-26".into()), "{discovered}");
}
