//! The Web API.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use serde_json::{Map, Value, json};

use super::record::{Fault, SlackCall};
use super::{APP_TOKEN, BOT_TOKEN, Shared, TICKET, sockets};

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/api/{method}", any(call))
        .route("/link", get(sockets::link))
        .with_state(shared)
}

fn answer(body: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json; charset=utf-8")], body.to_string()).into_response()
}

fn refused(code: &str) -> Response {
    answer(&json!({ "ok": false, "error": code }))
}

/// A body that breaks off, and the connection with it.
fn broken() -> Response {
    let end = std::io::Error::new(std::io::ErrorKind::ConnectionReset, "broken");
    let body = futures_util::stream::iter([Err::<Bytes, _>(end)]);
    Response::builder()
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CONTENT_LENGTH, 100)
        .body(Body::from_stream(body))
        .unwrap_or_default()
}

/// What was sent: JSON or a form in the body, or the address.
fn input_of(request: &Parts, body: &[u8]) -> Value {
    let is_post = request.method == Method::POST;
    let kind = request.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if is_post && kind.is_some_and(|kind| kind.starts_with("application/json")) {
        return serde_json::from_slice(body).unwrap_or_default();
    }
    let form = String::from_utf8_lossy(body);
    let text = if is_post { form.as_ref() } else { request.uri.query().unwrap_or_default() };
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    let pairs = pairs.map(|(name, value)| (name.to_owned(), Value::from(decoded(value))));
    Value::Object(pairs.collect::<Map<String, Value>>())
}

fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes());
    while let Some(byte) = rest.next() {
        let hex = |byte: Option<u8>| char::from(byte.unwrap_or(b'0')).to_digit(16).unwrap_or(0);
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => u8::try_from(hex(rest.next()) * 16 + hex(rest.next())).unwrap_or(b'?'),
            other => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn call(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    request: Parts,
    body: Bytes,
) -> Response {
    let input = input_of(&request, &body);
    let token = request.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let wanted = if name == "apps.connections.open" { APP_TOKEN } else { BOT_TOKEN };
    let is_known = token == Some(&format!("Bearer {wanted}"));
    let (fault, done) = {
        let mut record = shared.record();
        record.asked.push(SlackCall { method: name.clone(), input: input.clone() });
        let fault = record.fault(&name);
        let refuses = matches!(fault, Some(Fault::Refuse(_) | Fault::RateLimit(_) | Fault::Break));
        let done = if !is_known {
            Err("invalid_auth")
        } else if refuses {
            Err("refused")
        } else if name == "apps.connections.open" {
            Ok(json!({ "url": format!("ws://{}/link?ticket={TICKET}", shared.url) }))
        } else {
            record.perform(&name, &input)
        };
        (fault, done)
    };
    shared.touch();
    match fault {
        Some(Fault::Refuse(code)) => return refused(code),
        Some(Fault::RateLimit(seconds)) => {
            let body = json!({ "ok": false, "error": "ratelimited" }).to_string();
            let wait = [(header::RETRY_AFTER, seconds.to_string())];
            let kind = [(header::CONTENT_TYPE, "application/json")];
            return (StatusCode::TOO_MANY_REQUESTS, wait, kind, body).into_response();
        }
        Some(Fault::Break | Fault::TakeAndBreak) => return broken(),
        Some(Fault::TakeAndHang) => std::future::pending::<()>().await,
        None => {}
    }
    match done {
        Ok(mut value) => {
            value["ok"] = true.into();
            answer(&value)
        }
        Err(code) => refused(code),
    }
}
