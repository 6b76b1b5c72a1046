//! Calls of Slack's Web API over hyper. Each call is sent once: no redirect is followed, nothing is retried, and
//! neither the wait nor the body of an answer is unbounded.

use std::time::Duration;

use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper_util::client::legacy::Client;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{SlackError, root};
use super::wire;
use crate::post;
use crate::tls::Connector;

/// Upper bound on the body of an answer: a page of 200 of the longest messages fits.
const MAX_RESPONSE_BYTES: usize = 32 << 20;
/// Pause after a 429 without a usable `Retry-After`.
const DEFAULT_RETRY_AFTER_SECONDS: i64 = 30;

/// A client of the Web API at one address. Copies share their connections.
#[derive(Clone)]
pub(super) struct WebApi {
    client: Client<Connector, Full<Bytes>>,
    url: String,
    timeout: Duration,
}

/// A token, as the header that carries it; debug output does not show it.
#[derive(Debug, Clone)]
pub(super) struct Token(HeaderValue);

impl Token {
    pub(super) fn new(text: &str) -> Result<Self, SlackError> {
        let bearer = HeaderValue::from_str(&format!("Bearer {}", text.trim()));
        let mut bearer = bearer.map_err(|_| SlackError::OddToken)?;
        bearer.set_sensitive(true);
        Ok(Self(bearer))
    }
}

impl WebApi {
    /// A client that waits at most `timeout` for a whole answer. The address has been checked.
    pub(super) fn new(url: &str, connector: Connector, timeout: Duration) -> Self {
        Self { client: post::client(connector), url: url.to_owned(), timeout }
    }

    pub(super) const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Calls a method that takes JSON.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        token: &Token,
        method: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<T, SlackError> {
        let body = serde_json::to_vec(body);
        let body = body.map_err(|error| SlackError::Unsure { why: error.to_string() })?;
        let request = Request::post(format!("{}/{method}", self.url))
            .header(header::CONTENT_TYPE, "application/json; charset=utf-8");
        self.call(token, request, body).await
    }

    /// Calls a method that takes its arguments in the address; those without a value are left out.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        token: &Token,
        method: &str,
        arguments: &[(&str, Option<&str>)],
    ) -> Result<T, SlackError> {
        let given = arguments.iter().filter_map(|(name, value)| Some((name, (*value)?)));
        let query: Vec<String> =
            given.map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
        let request = Request::get(format!("{}/{method}?{}", self.url, query.join("&")));
        self.call(token, request, Vec::new()).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        token: &Token,
        request: http::request::Builder,
        body: Vec<u8>,
    ) -> Result<T, SlackError> {
        let request = request
            .header(header::AUTHORIZATION, token.0.clone())
            .header(header::USER_AGENT, post::USER_AGENT)
            .body(Full::new(body.into()))
            .map_err(|_| SlackError::Address)?;
        let answered = async {
            let broken = |why: String| SlackError::Unsure { why };
            let answer = self.client.request(request).await;
            read(answer.map_err(|error| broken(root(&error)))?).await
        };
        match tokio::time::timeout(self.timeout, answered).await {
            Ok(done) => done,
            Err(_) => Err(SlackError::late(self.timeout)),
        }
    }
}

/// Reads an answer; no error quotes its body.
async fn read<T: DeserializeOwned>(answer: Response<Incoming>) -> Result<T, SlackError> {
    let (head, body) = answer.into_parts();
    match head.status {
        StatusCode::OK => {}
        StatusCode::TOO_MANY_REQUESTS => {
            let wait = head.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
            let seconds = wait.and_then(post::retry_after_seconds);
            let seconds = seconds.unwrap_or(DEFAULT_RETRY_AFTER_SECONDS);
            return Err(SlackError::RateLimited { seconds });
        }
        status if status.is_client_error() => {
            return Err(SlackError::Refused { code: format!("http_{}", status.as_u16()) });
        }
        status => {
            return Err(SlackError::Unsure {
                why: format!("it answered with {}", status.as_u16()),
            });
        }
    }
    let body = Limited::new(body, MAX_RESPONSE_BYTES).collect().await;
    let body = body.map_err(|error| SlackError::Unsure { why: root(error.as_ref()) })?.to_bytes();
    decode(&body)
}

/// The body of an answer with status 200: what was asked for, or a refusal.
fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, SlackError> {
    let foreign = |_| SlackError::Unsure { why: "its answer is none of Slack's".to_owned() };
    let envelope: wire::Outcome = serde_json::from_slice(body).map_err(foreign)?;
    match envelope {
        wire::Outcome { ok: true, .. } => serde_json::from_slice(body).map_err(foreign),
        wire::Outcome { error, .. } => Err(SlackError::refused(&error)),
    }
}

/// Encodes a value for a query: everything but letters, digits and `-._~`.
fn percent_encode(value: &str) -> String {
    let encode = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    value.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_cursor_is_encoded() {
        assert_eq!(percent_encode("dXNlcjpVMDYxTkZUVDI="), "dXNlcjpVMDYxTkZUVDI%3D");
        assert_eq!(percent_encode("1700000000.000100~_-"), "1700000000.000100~_-");
        assert_eq!(percent_encode("a b&c/é"), "a%20b%26c%2F%C3%A9");
    }

    #[test]
    fn a_refusal_is_an_error_with_its_code() {
        let decoded = |body: &Value| decode::<wire::Posted>(body.to_string().as_bytes());
        assert_eq!(decoded(&json!({ "ok": true, "ts": "1.2" })).unwrap().ts, "1.2");
        let refused = |code: &str| SlackError::Refused { code: code.to_owned() };
        let error = decoded(&json!({ "ok": false, "error": "not in <channel>" })).unwrap_err();
        assert_eq!(error, refused("notinchannel"), "only a short word is passed on");
        assert_eq!(decoded(&json!({ "ok": false })).unwrap_err(), refused("unknown_error"));
    }

    #[test]
    fn an_answer_of_another_form_leaves_the_outcome_unknown() {
        for body in ["", "<html>", "[]", r#"{"ts":"1.2"}"#, r#"{"ok":true}"#] {
            let error = decode::<wire::Posted>(body.as_bytes()).unwrap_err();
            assert!(matches!(error, SlackError::Unsure { .. }), "{body}: {error:?}");
        }
    }

    #[test]
    fn a_token_is_not_shown() {
        let token = Token::new(" xoxb-secret\n").unwrap();
        assert!(!format!("{token:?}").contains("secret"));
        assert!(matches!(Token::new("a\u{7}b"), Err(SlackError::OddToken)));
    }
}
