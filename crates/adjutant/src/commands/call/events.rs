//! `adjutant events`: what happened, and what happens.

use std::collections::VecDeque;
use std::time::Duration;

use http::header::{ACCEPT, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use hyper::body::Bytes;
use model::event::EventKind;
use model::nearest::nearest;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::app::{App, query};
use crate::bridge::Messages;
use crate::cli::EventsArgs;
use crate::cli_error::Trouble;
use crate::client::{ApiError, Client, ClientError};
use crate::commands::reconnect::{Steady, is_gone};
use crate::terminal::render::{dim, field, line, name, print_json, print_text, room, short};

/// Page size.
const PAGE: usize = 500;
/// The server says that it is alive far more often than this.
const SILENCE: Duration = Duration::from_secs(60);
/// A stream that ended is not asked for again before this time.
const PAUSE: Duration = Duration::from_millis(100);

/// Lists events, and follows them if asked to.
pub(crate) async fn run(app: &App, args: EventsArgs) -> Result<(), Trouble> {
    for kind in &args.kind {
        known(kind)?;
    }
    let kind = Some(args.kind.join(",")).filter(|kinds| !kinds.is_empty());
    let mut line = Steady::new(app).await?;
    let agent = line.agent_if(args.agent.as_deref()).await?;
    let mut events = Events { line, which: Which { kind, agent, task: args.task } };
    let (told, last) = match args.after {
        Some(after) => events.first(after, args.limit).await?,
        None => events.newest(args.limit).await?,
    };
    if args.follow {
        for event in &told {
            tell(app, event)?;
        }
        return events.follow(app, last).await;
    }
    let value = json!({ "events": told, "last": last });
    Ok(app.render.answer(&value, || {
        if told.is_empty() {
            return "No events yet.".to_owned();
        }
        told.iter().map(on_a_line).collect::<Vec<_>>().join("\n")
    })?)
}

fn known(kind: &str) -> Result<(), Trouble> {
    if !EventKind::named(kind).is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
    let trouble = Trouble::usage(format!("there is no kind of event `{kind}`"));
    Err(match nearest(kind, names.iter().copied()) {
        Some(near) => trouble.hint(format!("did you mean `{near}`?")),
        None => trouble.hint(format!("there are {}", names.join(", "))),
    })
}

/// Says an event as it comes.
fn tell(app: &App, event: &Value) -> std::io::Result<()> {
    if app.render.is_json() { print_json(event) } else { print_text(&on_a_line(event)) }
}

/// Selection.
#[derive(Debug, Clone, Default)]
struct Which {
    kind: Option<String>,
    agent: Option<String>,
    task: Option<String>,
}

impl Which {
    fn path(&self, after: i64, limit: Option<usize>) -> String {
        query(
            "/api/events",
            [
                // From nought on is from the oldest there is, which is not refused.
                ("after", Some(after).filter(|after| *after != 0).map(|after| after.to_string())),
                ("limit", limit.map(|limit| limit.to_string())),
                ("kind", self.kind.clone()),
                ("agentId", self.agent.clone()),
                ("taskId", self.task.clone()),
            ],
        )
    }

    fn is_all(&self) -> bool {
        self.kind.is_none() && self.agent.is_none() && self.task.is_none()
    }
}

struct Events<'a> {
    line: Steady<'a>,
    which: Which,
}

impl Events<'_> {
    /// A page, and the number after which the next one begins.
    async fn page(&mut self, after: i64, limit: usize) -> Result<(Vec<Value>, i64), Trouble> {
        let mut answer = self.line.get(&self.which.path(after, Some(limit))).await?;
        let events = match answer["events"].take() {
            Value::Array(events) => events,
            _ => Vec::new(),
        };
        Ok((events, answer["last"].as_i64().unwrap_or(after)))
    }

    /// The first ones after a number.
    async fn first(&mut self, mut after: i64, limit: usize) -> Result<(Vec<Value>, i64), Trouble> {
        let mut all = Vec::new();
        while all.len() < limit {
            let (events, seen) = self.page(after, (limit - all.len()).min(PAGE)).await?;
            after = seen;
            if events.is_empty() {
                break;
            }
            all.extend(events);
        }
        Ok((all, after))
    }

    /// The newest ones. Where not all are wanted, all must be looked through.
    async fn newest(&mut self, limit: usize) -> Result<(Vec<Value>, i64), Trouble> {
        let mut after = 0;
        if self.which.is_all() {
            let answer = self.line.get("/api/events?after=now&limit=1").await?;
            let last = answer["last"].as_i64().unwrap_or_default();
            after = last.saturating_sub(i64::try_from(limit).unwrap_or(i64::MAX)).max(0);
        }
        let mut newest = VecDeque::new();
        loop {
            let (events, seen) = self.page(after, PAGE).await?;
            after = seen;
            if events.is_empty() {
                return Ok((newest.into(), after));
            }
            newest.extend(events);
            newest.drain(..newest.len().saturating_sub(limit));
        }
    }

    /// Tells what happens after a number, for ever; of one server after the other, if need be.
    async fn follow(&mut self, app: &App, mut after: i64) -> Result<(), Trouble> {
        loop {
            let opened = open(self.line.client(), &self.which.path(after, None)).await;
            match opened {
                Ok(mut stream) => {
                    while let Ok(Ok(Some(message))) = timeout(SILENCE, stream.next()).await {
                        let said: Value = serde_json::from_slice(&message).unwrap_or_default();
                        if said["code"].is_string() {
                            if let Some(oldest) = said["details"]["oldest"].as_i64() {
                                after = skip_removed(app, oldest)?;
                                break;
                            }
                            let error = ApiError::read(StatusCode::SERVICE_UNAVAILABLE, &message);
                            let (status, body) = (StatusCode::SERVICE_UNAVAILABLE, error.into());
                            return Err(ClientError::Api { status, body }.into());
                        }
                        if said["number"].is_i64() {
                            tell(app, &said)?;
                        }
                        after = place(&said).unwrap_or(after);
                    }
                    sleep(PAUSE).await;
                }
                Err(error) if is_gone(&error) => {}
                Err(ClientError::Api { status: StatusCode::GONE, body }) => {
                    let oldest = body.whole["details"]["oldest"].as_i64();
                    after = skip_removed(app, oldest.unwrap_or(after))?;
                }
                Err(error) => return Err(error.into()),
            }
            self.line.back_some_day().await?;
        }
    }
}

/// Says that events which were not heard yet are gone, and from where it goes on.
fn skip_removed(app: &App, oldest: i64) -> std::io::Result<i64> {
    let said = format!("Events up to {oldest} were removed meanwhile; continuing after them.");
    app.render.aside(&dim(said))?;
    Ok(oldest)
}

/// From where to go on after a message: an event, where the stream began, or how far it was looked.
pub(crate) fn place(said: &Value) -> Option<i64> {
    ["number", "after", "last"].iter().find_map(|key| said[*key].as_i64())
}

/// Opens the stream of events.
pub(crate) async fn open(client: &Client, path: &str) -> Result<Messages, ClientError> {
    let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/event-stream"))]);
    let response = client.send(Method::GET, path, headers, Bytes::new()).await?;
    if response.status().is_success() {
        return Ok(Messages::of(response));
    }
    let (status, bytes) = client.collect(response).await?;
    Err(ClientError::Api { status, body: Box::new(ApiError::read(status, &bytes)) })
}

/// An event on a line.
fn on_a_line(event: &Value) -> String {
    let at = event["at"].as_str().and_then(|at| at.get(11..19)).unwrap_or("-");
    let who = event["agentId"].as_str().map_or_else(|| "you".to_owned(), line);
    let number = event["number"].as_i64().unwrap_or_default();
    let (when, kind) = (format!("{number:>5} {at}"), field(event, "kind"));
    let used = when.len() + kind.len() + who.len() + 3;
    let what = short(&about(&event["data"]), room(used));
    format!("{} {} {who} {what}", dim(when), name(kind)).trim_end().to_owned()
}

/// The facts of an event that say most.
fn about(data: &Value) -> String {
    let keys =
        ["number", "slug", "from", "to", "state", "status", "subject", "title", "role", "reason"];
    let facts: Vec<String> = keys
        .iter()
        .filter(|key| !data[**key].is_null())
        .map(|key| format!("{key}={}", field(data, key)))
        .collect();
    facts.join(" ")
}
