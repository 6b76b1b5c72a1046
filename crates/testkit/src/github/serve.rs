//! The server: who may ask, what goes wrong on purpose, and what is written down.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use host::clock::Clock;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, header};
use model::Timestamp;
use serde_json::{Value, json};

use super::description::{Description, RequestedOperation};
use super::record::Record;
use super::show::Examples;
use reply::Reply;

mod operations;
mod reply;

pub(super) const TOKEN: &str = "ghp_aTokenThatMayDoEverything00000000000";
pub(super) const READER: &str = "ghp_aTokenThatMayOnlyLook0000000000000000";

/// How many requests an hour has.
const RATE_LIMIT: usize = 5000;

/// How a request is made to fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is answered with this status, by something before GitHub; nothing is done.
    Status(u16),
    /// The connection ends before anything is done.
    HangUp,
    /// What is asked for is done, and the connection ends without an answer.
    LoseAnswer,
    /// It is never answered; nothing is done.
    Hang,
    /// The hour's requests are used up; there are new ones then.
    RateLimited(Timestamp),
    /// Too much at once: come back in so many seconds.
    TooFast(u64),
    /// It is elsewhere: the status, and the address.
    Redirect(u16, String),
    /// It is answered with success and this.
    Garbage(String),
    /// It is answered with a status and GitHub's own words; nothing is done.
    Refuse(u16, String),
}

/// A request as it came in.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceivedRequest {
    /// `GET` or `POST`
    pub method: String,
    /// The whole path, as it was asked for
    pub path: String,
    /// The query, as it was asked for
    pub query: String,
    /// The body, or `null`
    pub body: Value,
    /// The value of `Authorization`
    pub authorization: Option<String>,
    /// What it was answered with, if it was
    pub status: Option<u16>,
}

#[derive(Debug)]
pub(super) struct Shared {
    base: String,
    pub(super) clock: Clock,
    pub(super) description: Description,
    pub(super) examples: Examples,
    record: Mutex<Record>,
    faults: Mutex<VecDeque<Fault>>,
    seen: Mutex<Vec<ReceivedRequest>>,
    violations: Mutex<Vec<String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn new(base: String, clock: Clock) -> Result<Self> {
        let description = Description::load()?;
        Ok(Self {
            base,
            clock,
            examples: Examples::of(&description)?,
            description,
            record: Mutex::default(),
            faults: Mutex::default(),
            seen: Mutex::default(),
            violations: Mutex::default(),
        })
    }

    pub(super) fn record(&self) -> MutexGuard<'_, Record> {
        locked(&self.record)
    }

    pub(super) fn seen(&self) -> Vec<ReceivedRequest> {
        locked(&self.seen).clone()
    }

    pub(super) fn violations(&self) -> MutexGuard<'_, Vec<String>> {
        locked(&self.violations)
    }

    pub(super) fn fail(&self, fault: Fault) {
        locked(&self.faults).push_back(fault);
    }

    /// Answers, or ends the connection.
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> io::Result<Response<Full<Bytes>>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let authorization = head.headers.get(header::AUTHORIZATION);
        let seen = ReceivedRequest {
            method: head.method.to_string(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            body: serde_json::from_slice(&body).unwrap_or_default(),
            authorization: authorization.and_then(|one| one.to_str().ok()).map(str::to_owned),
            status: None,
        };
        let place = {
            let mut all = locked(&self.seen);
            all.push(seen);
            all.len() - 1
        };
        let asked = self.understand(&head, &body);
        let fault = locked(&self.faults).pop_front();
        if fault == Some(Fault::Hang) {
            return std::future::pending().await;
        }
        if fault == Some(Fault::HangUp) {
            return Err(io::Error::other("hung up on purpose"));
        }
        let mut reply = match fault.as_ref().and_then(broken) {
            Some(reply) => reply,
            None => self.act(&head, asked.as_ref(), &body),
        };
        if fault == Some(Fault::LoseAnswer) {
            return Err(io::Error::other("lost on purpose"));
        }
        self.add_limits(&mut reply, place);
        if let Some(seen) = locked(&self.seen).get_mut(place) {
            seen.status = Some(reply.status.as_u16());
        }
        reply.into_response()
    }

    /// What is asked for, held against the description.
    fn understand(&self, head: &Parts, body: &[u8]) -> Option<RequestedOperation> {
        let path = head.uri.path();
        let path = path.strip_prefix("/api/v3").unwrap_or(path);
        let (asked, mut problems) = self.description.ask(&head.method, path, &head.uri, body);
        if !head.headers.contains_key(header::USER_AGENT) {
            problems.push(format!("{} {path}: GitHub wants a `User-Agent`", head.method));
        }
        self.violations().append(&mut problems);
        asked
    }

    /// Does what is asked for, and holds the answer against the description too.
    fn act(&self, head: &Parts, asked: Option<&RequestedOperation>, body: &[u8]) -> Reply {
        let Some(asked) = asked else { return Reply::error(StatusCode::NOT_FOUND, "Not Found") };
        let body = serde_json::from_slice(body).unwrap_or_default();
        let allowed = authorize(&head.method, &head.headers);
        let reply = allowed.map_or_else(|refused| refused, |()| self.operate(asked, &body));
        let mut problems = self.description.check_answer(asked, reply.status, &reply.body);
        self.violations().append(&mut problems);
        reply
    }

    /// Says how many requests are left, unless the answer has said so.
    fn add_limits(&self, reply: &mut Reply, used: usize) {
        let reset = self.clock.now().after_seconds(3600).as_millis() / 1000;
        reply.add("x-ratelimit-limit", &RATE_LIMIT.to_string());
        reply.add("x-ratelimit-remaining", &RATE_LIMIT.saturating_sub(used + 1).to_string());
        reply.add("x-ratelimit-reset", &reset.to_string());
        reply.add("x-ratelimit-resource", "core");
    }
}

/// The answer that a fault stands for, if it is one.
fn broken(fault: &Fault) -> Option<Reply> {
    let status = |code: u16| StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_GATEWAY);
    Some(match fault {
        Fault::Status(code) => Reply::text(status(*code), "<html>Unicorn!</html>"),
        Fault::Refuse(code, message) => Reply::error(status(*code), message),
        Fault::Garbage(text) => Reply::text(StatusCode::OK, text),
        Fault::Redirect(code, to) => {
            let body = json!({ "message": "Moved Permanently", "url": to });
            Reply::json(status(*code), body).with("location", to)
        }
        Fault::RateLimited(until) => {
            let seconds = (until.as_millis() / 1000).to_string();
            Reply::error(StatusCode::FORBIDDEN, "API rate limit exceeded for user ID 1.")
                .with("x-ratelimit-remaining", "0")
                .with("x-ratelimit-reset", &seconds)
        }
        Fault::TooFast(seconds) => {
            let message = "You have exceeded a secondary rate limit. Please wait a few minutes.";
            Reply::error(StatusCode::FORBIDDEN, message).with("retry-after", &seconds.to_string())
        }
        Fault::Hang | Fault::HangUp | Fault::LoseAnswer => return None,
    })
}

/// Whether the token may do this.
fn authorize(method: &Method, headers: &HeaderMap) -> Result<(), Reply> {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = value
        .and_then(|value| value.strip_prefix("Bearer ").or_else(|| value.strip_prefix("token ")));
    match token {
        None => Err(Reply::error(StatusCode::UNAUTHORIZED, "Requires authentication")),
        Some(TOKEN) => Ok(()),
        Some(READER) if method == Method::GET => Ok(()),
        Some(READER) => {
            let message = "Resource not accessible by personal access token";
            Err(Reply::error(StatusCode::FORBIDDEN, message))
        }
        Some(_) => Err(Reply::error(StatusCode::UNAUTHORIZED, "Bad credentials")),
    }
}
