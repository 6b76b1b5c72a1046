//! `POST /mcp/execute`, in the office's shapes.

use axum::body::Body;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{OPERATOR, World, request, settings, whole};

async fn post(world: &World, token: &str, body: &str) -> (u16, Value) {
    let request = request(Method::POST, "/mcp/execute", Some(token), Body::from(body.to_owned()));
    let (status, _, body) = whole(world.send(request).await).await;
    (status.as_u16(), body)
}

#[tokio::test]
async fn what_goes_well_has_data() {
    let world = World::new();
    let member = world.enlist("worker").await;
    for name in ["mcp__mail__list_inbox", "mail_list_inbox"] {
        let (status, body) = world.execute(&member.token, name, json!({})).await;
        assert_eq!(status, StatusCode::OK);
        let keys: Vec<&String> = body.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["data", "success", "timestamp"]);
        assert_eq!(body["success"], true);
        assert_eq!(
            body["data"],
            json!({ "count": 0, "unreadCount": 0, "mails": [], "endCursor": "c0" })
        );
        assert!(body["timestamp"].as_str().unwrap().ends_with('Z'));
    }
    let (status, body) =
        post(&world, &member.token, r#"{"toolName":"mcp__mail__list_inbox"}"#).await;
    assert_eq!((status, &body["success"]), (200, &json!(true)), "absent input is none");
}

#[tokio::test]
async fn what_cannot_be_read_is_invalid_input() {
    let world = World::new();
    for (body, field) in [
        ("", "toolName"),
        ("nonsense", ""),
        (r#"{"toolName": "mcp__mail__send""#, ""),
        ("[]", ""),
        ("null", "toolName"),
        ("{}", "toolName"),
        (r#"{"toolName": 1}"#, "toolName"),
        (r#"{"toolName": "mcp__mail__list_inbox", "inputs": {}}"#, "inputs"),
        (r#"{"toolName": "mcp__mail__list_inbox", "agentId": "worker-1"}"#, "agentId"),
        (r#"{"toolName": "mcp__mail__list_inbox", "input": []}"#, ""),
        (r#"{"toolName": "mcp__mail__list_inbox", "input": {"limits": 1}}"#, "limits"),
    ] {
        let (status, answer) = post(&world, OPERATOR, body).await;
        assert_eq!(status, 422, "{body}: {answer}");
        assert_eq!(answer["success"], false, "{body}: {answer}");
        assert_eq!(answer["error"]["code"], "INVALID_INPUT", "{body}: {answer}");
        assert!(answer["timestamp"].is_string(), "{body}: {answer}");
        if !field.is_empty() {
            assert_eq!(answer["error"]["details"]["field"], field, "{body}: {answer}");
        }
    }
    let (_, answer) = post(&world, OPERATOR, r#"{"toolNames": "x"}"#).await;
    assert_eq!(answer["error"]["suggestions"], json!(["did you mean `toolName`?"]));
}

#[tokio::test]
async fn first_the_agent_then_the_tool_then_the_permission() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let ask = async |token: &str, agent: Option<&str>, tool: &str| {
        let mut body = json!({ "toolName": tool, "input": {} });
        if let Some(agent) = agent {
            body["agentId"] = agent.into();
        }
        let (status, answer) = post(&world, token, &body.to_string()).await;
        (status, answer["error"]["code"].as_str().unwrap_or("ok").to_owned())
    };
    let (own, foreign) = (one.id.to_string(), other.id.to_string());
    let nobody = "sp_ffffffffffffffff";
    let error = |status: u16, code: &str| (status, code.to_owned());
    for tool in ["mcp__mail__list_inbox", "mcp__mail__nothing"] {
        assert_eq!(
            ask(OPERATOR, Some(nobody), tool).await,
            error(404, "AGENT_NOT_FOUND"),
            "{tool}"
        );
        assert_eq!(
            ask(&one.token, Some(&foreign), tool).await,
            error(403, "PERMISSION_DENIED"),
            "{tool}"
        );
        assert_eq!(
            ask(&one.token, Some(nobody), tool).await,
            error(403, "PERMISSION_DENIED"),
            "{tool}"
        );
    }
    assert_eq!(ask(&one.token, Some(&own), "mcp__mail__list_inbox").await, error(200, "ok"));
    assert_eq!(ask(OPERATOR, Some(&own), "mcp__mail__list_inbox").await, error(200, "ok"));
    assert_eq!(ask(&one.token, None, "mcp__mail__nothing").await, error(404, "TOOL_NOT_FOUND"));
    assert_eq!(ask(&one.token, None, "mcp__epic__create").await, error(403, "PERMISSION_DENIED"));
    let (_, answer) = world.execute(&one.token, "mcp__mail__sned", json!({})).await;
    assert_eq!(answer["error"]["details"]["nearest"], "mcp__mail__send");
    assert_eq!(answer["error"]["toolName"], "mcp__mail__sned");
    assert_eq!(answer["error"]["agentId"], json!(one.id));
}

#[tokio::test]
async fn who_calls_too_often_is_told_when_to_come_back() {
    let mut settings = settings();
    settings.limits.calls_per_minute = 1;
    let world = World::with_settings(settings);
    let member = world.enlist("worker").await;
    let mut last = None;
    for _ in 0..2 {
        let body = Body::from(json!({ "toolName": "mcp__mail__list_inbox" }).to_string());
        let request = request(Method::POST, "/mcp/execute", Some(&member.token), body);
        last = Some(whole(world.send(request).await).await);
    }
    let (status, headers, body) = last.unwrap();
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    assert!(headers["retry-after"].to_str().unwrap().parse::<u32>().unwrap() >= 1);
    assert_eq!(body["error"]["code"], "RATE_LIMITED");
    let result = world.call("/mcp/mail", &member.token, "list_inbox", json!({})).await;
    assert_eq!(result["structuredContent"]["code"], "RATE_LIMITED", "over MCP it is a result");
}
