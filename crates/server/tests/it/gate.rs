//! Who comes in at all.

use axum::body::Body;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{OPERATOR, World, request, whole};

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq)]
enum For {
    Everybody,
    Token,
    Operator,
}

/// Every route there is.
const ROUTES: &[(&str, &str, For)] = &[
    ("GET", "/healthz", For::Everybody),
    ("GET", "/readyz", For::Everybody),
    // What it answers is what a token's owner asks for before sending the token.
    ("GET", "/healthz/proof", For::Everybody),
    // It is signed instead, and nobody is heard where there is no key.
    ("POST", "/api/github/webhook", For::Everybody),
    // What is sent is a secret itself, and good once.
    ("POST", "/api/login", For::Everybody),
    ("POST", "/api/logout", For::Token),
    ("GET", "/api/links", For::Operator),
    ("POST", "/api/links", For::Operator),
    ("POST", "/api/links/{id}/revoke", For::Operator),
    ("GET", "/metrics", For::Token),
    ("POST", "/mcp", For::Token),
    ("GET", "/mcp", For::Token),
    ("DELETE", "/mcp", For::Token),
    ("POST", "/mcp/mail", For::Token),
    ("GET", "/mcp/mail", For::Token),
    ("DELETE", "/mcp/mail", For::Token),
    ("POST", "/mcp/execute", For::Token),
    ("GET", "/api/openapi.json", For::Token),
    ("GET", "/api/status", For::Token),
    ("GET", "/api/tools", For::Token),
    ("GET", "/api/agents", For::Operator),
    ("POST", "/api/agents", For::Operator),
    ("GET", "/api/agents/{id}", For::Operator),
    ("POST", "/api/agents/{id}/discharge", For::Operator),
    ("GET", "/api/agents/{id}/output", For::Operator),
    ("POST", "/api/agents/{id}/input", For::Operator),
    ("POST", "/api/runs", For::Operator),
    ("GET", "/api/costs", For::Operator),
    ("GET", "/api/usage", For::Operator),
    ("GET", "/api/reviews", For::Operator),
    ("GET", "/api/reviews/{id}", For::Operator),
    ("POST", "/api/reviews/{id}/abandon", For::Operator),
    ("POST", "/api/reviews/{id}/allow-more", For::Operator),
    ("GET", "/api/worktrees", For::Operator),
    ("GET", "/api/worktrees/check", For::Operator),
    ("POST", "/api/worktrees/{id}/prune", For::Operator),
    ("GET", "/api/merge-queue", For::Operator),
    ("GET", "/api/merge-queue/{id}", For::Operator),
    ("POST", "/api/merge-queue/{id}/retry", For::Operator),
    ("GET", "/api/tasks/review-queue", For::Operator),
    ("GET", "/api/events", For::Operator),
    ("GET", "/api/ws", For::Operator),
    ("GET", "/api/decisions", For::Operator),
    ("GET", "/api/audit", For::Operator),
    ("GET", "/api/audit/verify", For::Operator),
    ("GET", "/api/agents/{id}/diff", For::Operator),
    ("GET", "/api/agents/{id}/story", For::Operator),
    ("GET", "/api/agents/{id}/stream", For::Operator),
    ("GET", "/api/board", For::Operator),
    ("GET", "/api/costs/lineage", For::Operator),
    ("GET", "/api/costs/series", For::Operator),
    ("GET", "/api/costs/summary", For::Operator),
    ("GET", "/api/crew", For::Operator),
    ("GET", "/api/crew/rows", For::Operator),
    ("GET", "/api/environment", For::Operator),
    ("GET", "/api/epics", For::Operator),
    ("GET", "/api/epics/{id}", For::Operator),
    ("GET", "/api/mail", For::Operator),
    ("GET", "/api/mail/threads/{id}", For::Operator),
    ("GET", "/api/overview", For::Operator),
    ("GET", "/api/record", For::Operator),
    ("GET", "/api/record/histogram", For::Operator),
    ("GET", "/api/record/{number}", For::Operator),
    ("GET", "/api/roles", For::Operator),
    ("GET", "/api/home/files", For::Operator),
    ("POST", "/api/home/files", For::Operator),
    ("GET", "/api/settings", For::Operator),
    ("POST", "/api/settings/check", For::Operator),
    ("POST", "/api/settings/save", For::Operator),
    ("GET", "/api/tasks", For::Operator),
    ("GET", "/api/tasks/graph", For::Operator),
    ("GET", "/api/tasks/{ref}", For::Operator),
    ("GET", "/api/tasks/{ref}/history", For::Operator),
    ("POST", "/api/tasks/{ref}/environment", For::Operator),
    ("GET", "/api/usage/tools", For::Operator),
    ("GET", "/api/webhooks", For::Operator),
    ("GET", "/api/webhooks/{name}/deliveries", For::Operator),
    ("POST", "/api/webhooks/{name}/deliveries/{id}/retry", For::Operator),
    ("POST", "/api/webhooks/{name}/enable", For::Operator),
    ("POST", "/api/webhooks/{name}/retry", For::Operator),
    ("POST", "/api/webhooks/{name}/test", For::Operator),
    ("GET", "/api/loops", For::Operator),
    ("POST", "/api/loops", For::Operator),
    ("GET", "/api/loops/{name}", For::Operator),
    ("POST", "/api/loops/{name}/pause", For::Operator),
    ("POST", "/api/loops/{name}/resume", For::Operator),
    ("POST", "/api/loops/{name}/say", For::Operator),
    ("POST", "/api/loops/{name}/stop", For::Operator),
    ("GET", "/api/plans", For::Operator),
    ("POST", "/api/plans", For::Operator),
    ("GET", "/api/plans/{name}", For::Operator),
    ("POST", "/api/plans/{name}/resume", For::Operator),
    ("POST", "/api/plans/{name}/stop", For::Operator),
    ("GET", "/api/slack", For::Operator),
    ("POST", "/api/slack/retry", For::Operator),
    ("GET", "/api/slack/threads", For::Operator),
    ("POST", "/api/clean", For::Operator),
    ("POST", "/api/worktrees/settle", For::Operator),
    ("POST", "/api/snapshot", For::Operator),
    ("POST", "/api/reload", For::Operator),
    ("POST", "/api/shutdown", For::Operator),
];

/// A path with something in the places that it has.
fn filled(path: &str) -> String {
    let path = path.replace("{id}", "sp_0000000000000000").replace("{name}", "nobody");
    path.replace("{number}", "1").replace("{ref}", "TAS-1")
}

#[test]
fn every_described_route_is_tried() {
    let document: Value = serde_json::from_str(&server::openapi_document()).unwrap();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let known = ROUTES.iter().any(|(m, p, _)| m.eq_ignore_ascii_case(method) && p == path);
            assert!(known, "{method} {path} is not tried");
        }
    }
}

#[tokio::test]
async fn only_those_who_may_come_in() {
    let world = World::new();
    let worker = world.enlist("worker").await;
    let gone = world.enlist("worker").await;
    world.engine().discharge(gone.id, "done".to_owned()).await.unwrap();
    for (method, path, whose) in ROUTES {
        let path = filled(path);
        let tokens =
            [None, Some("wrong"), Some(&*gone.token), Some(&*worker.token), Some(OPERATOR)];
        for token in tokens {
            let request = request(method.parse().unwrap(), &path, token, Body::empty());
            let (status, headers, body) = whole(world.send(request).await).await;
            let valid = token == Some(&worker.token) || token == Some(OPERATOR);
            let what = format!("{method} {path} as {token:?}: {status} {body}");
            if *whose != For::Everybody && !valid {
                assert_eq!(status, StatusCode::UNAUTHORIZED, "{what}");
                assert_eq!(headers["www-authenticate"], "Bearer", "{what}");
                assert_eq!(body["code"], "UNAUTHENTICATED", "{what}");
            } else if *whose == For::Operator && token != Some(OPERATOR) {
                assert_eq!(status, StatusCode::FORBIDDEN, "{what}");
                assert_eq!(body["code"], "PERMISSION_DENIED", "{what}");
            } else {
                assert!(!matches!(status.as_u16(), 401 | 403 | 405), "{what}");
            }
        }
    }
}

/// Routes that a visitor may not read: who else may come in, and what the server's environment has.
const HIDDEN_FROM_VISITORS: [&str; 3] = ["/api/links", "/api/environment", "/api/home/files"];

#[tokio::test]
async fn a_visitor_may_look_at_everything_and_do_nothing() {
    let world = World::new();
    for (method, path, whose) in ROUTES.iter().filter(|(_, _, whose)| *whose != For::Everybody) {
        let path = filled(path);
        let visitor = world.visitor().await;
        let request = request(method.parse().unwrap(), &path, Some(&visitor), Body::empty());
        let (status, _, body) = whole(world.send(request).await).await;
        let is_hidden = path.starts_with("/mcp") || HIDDEN_FROM_VISITORS.contains(&path.as_str());
        let looks = *method == "GET" && !is_hidden;
        let what = format!("{method} {path} for {whose:?}: {status} {body}");
        if looks || path == "/api/logout" {
            assert!(!matches!(status.as_u16(), 401 | 403 | 405), "{what}");
        } else {
            assert_eq!(status, StatusCode::FORBIDDEN, "{what}");
            assert_eq!(body["message"], "this link is read-only", "{what}");
        }
    }
}

#[tokio::test]
async fn a_token_is_a_bearer_token_and_only_one() {
    let world = World::new();
    let status = async |values: &[&str]| {
        let mut request = request(Method::GET, "/api/status", None, Body::empty());
        for value in values {
            request.headers_mut().append("authorization", value.parse().unwrap());
        }
        world.send(request).await.status().as_u16()
    };
    assert_eq!(status(&["Bearer adjop_test"]).await, 200);
    assert_eq!(status(&["bearer adjop_test"]).await, 200);
    assert_eq!(status(&["Basic adjop_test"]).await, 401);
    assert_eq!(status(&["adjop_test"]).await, 401);
    assert_eq!(status(&["Bearer "]).await, 401);
    assert_eq!(status(&["Bearer adjop_test", "Bearer adjop_test"]).await, 401);
}

#[tokio::test]
async fn host_and_origin_are_checked_on_every_route() {
    let world = World::new();
    for (method, path, _) in ROUTES {
        if *path == "/api/shutdown" {
            continue;
        }
        let path = filled(path);
        for (host, origin, may) in [
            ("127.0.0.1:3001", None, true),
            ("localhost:9", None, true),
            ("[::1]:9", None, true),
            ("crew.example", None, true),
            ("evil.example", None, false),
            ("localhost.evil.example:3001", None, false),
            ("localhost:3001", Some("http://localhost:3001"), true),
            ("localhost:3001", Some("http://127.0.0.1:3001"), true),
            ("localhost:3001", Some("http://localhost:5173"), false),
            ("localhost:3001", Some("https://evil.example"), false),
            ("localhost:3001", Some("null"), false),
        ] {
            let method: Method = method.parse().unwrap();
            let mut request = request(method, &path, Some(OPERATOR), Body::empty());
            request.headers_mut().insert("host", host.parse().unwrap());
            if let Some(origin) = origin {
                request.headers_mut().insert("origin", origin.parse().unwrap());
            }
            let (status, _, body) = whole(world.send(request).await).await;
            let refused = status == StatusCode::FORBIDDEN;
            assert_eq!(!refused, may, "{path} {host} {origin:?}: {status} {body}");
            assert!(!refused || body["code"] == "PERMISSION_DENIED", "{body}");
        }
    }
}

#[tokio::test]
async fn what_is_too_long_is_refused() {
    let world = World::new();
    for path in ["/mcp", "/mcp/mail", "/mcp/execute", "/api/agents"] {
        for announced in [true, false] {
            let long = vec![b' '; 4 * 1024 * 1024 + 1];
            let length = long.len();
            let chunks = Body::from_stream(Chunks(Some(long)));
            let mut request = request(Method::POST, path, Some(OPERATOR), chunks);
            if announced {
                request.headers_mut().insert("content-length", length.into());
            }
            let (status, _, body) = whole(world.send(request).await).await;
            assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{path} {announced}: {body}");
        }
    }
    let (status, body) = world
        .execute(
            OPERATOR,
            "mcp__system__log_decision",
            json!({
                "title": "long", "body": "x".repeat(90_000),
            }),
        )
        .await;
    assert_eq!(status, StatusCode::OK, "{body}");
}

/// A body whose length nobody announces.
struct Chunks(Option<Vec<u8>>);

impl futures_util::Stream for Chunks {
    type Item = Result<Vec<u8>, std::io::Error>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Ready(self.0.take().map(Ok))
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_in_json() {
    let world = World::new();
    for (method, path, status, code) in [
        (Method::GET, "/nothing", 404, "RESOURCE_NOT_FOUND"),
        (Method::POST, "/", 404, "RESOURCE_NOT_FOUND"),
        (Method::GET, "/api", 404, "RESOURCE_NOT_FOUND"),
        (Method::GET, "/api/nothing", 404, "RESOURCE_NOT_FOUND"),
        (Method::POST, "/mcp/male", 404, "RESOURCE_NOT_FOUND"),
        (Method::POST, "/mcp?toolsets=mail,male", 404, "RESOURCE_NOT_FOUND"),
        (Method::GET, "/mcp/execute", 405, "INVALID_INPUT"),
        (Method::DELETE, "/api/agents", 405, "INVALID_INPUT"),
        (Method::POST, "/healthz", 405, "INVALID_INPUT"),
        (Method::POST, "/readyz", 405, "INVALID_INPUT"),
    ] {
        let (found, body) = world.ask(method.clone(), path, OPERATOR, None).await;
        assert_eq!(found.as_u16(), status, "{method} {path}: {body}");
        assert_eq!(body["code"], code, "{method} {path}: {body}");
    }
    let (_, body) = world.ask(Method::POST, "/mcp/male", OPERATOR, None).await;
    assert_eq!(body["details"]["nearest"], "mail");
    let unknown = request(Method::GET, "/api/nothing", None, Body::empty());
    assert_eq!(world.send(unknown).await.status(), StatusCode::UNAUTHORIZED);
}
