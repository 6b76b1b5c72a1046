//! `adjutant events`: lists and follows events.

use std::collections::VecDeque;
use std::time::Duration;

use http::header::{ACCEPT, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use hyper::body::Bytes;
use model::event::EventKind;
use model::nearest::nearest;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use wire::error::ErrorBody;
use wire::event::{EventPage, EventView};

use crate::app::{App, query};
use crate::bridge::Messages;
use crate::cli::EventsArgs;
use crate::cli_error::CliError;
use crate::client::{Answer, ApiError, Client, ClientError};
use crate::commands::reconnect::{Steady, is_gone};
use crate::terminal::render::{dim, name, print_json, print_text, room, short, shown};

/// Page size.
const PAGE: usize = 500;
/// Longest silence of a live stream; the server sends a keep-alive far more often.
const MAX_SILENCE: Duration = Duration::from_secs(60);
/// Pause before a stream that ended is opened again.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Lists events, and follows them if asked to.
pub(crate) async fn run(app: &App, args: EventsArgs) -> Result<(), CliError> {
    for kind in &args.kind {
        known(kind)?;
    }
    let kind = Some(args.kind.join(",")).filter(|kinds| !kinds.is_empty());
    let mut line = Steady::new(app).await?;
    let agent = line.agent_if(args.agent.as_deref()).await?;
    let query = EventQuery { kind, agent, task: args.task };
    let mut reader = EventReader { line, query };
    let EventList { events, last } = match args.after {
        Some(after) => reader.first(after, args.limit).await?,
        None => reader.newest(args.limit).await?,
    };
    if args.follow {
        for event in &events {
            print(app, event)?;
        }
        return reader.follow(app, last).await;
    }
    Ok(app.render.answer(&json!({ "events": events, "last": last }), || {
        if events.is_empty() {
            return "No events yet.".to_owned();
        }
        events.iter().map(|event| on_a_line(event)).collect::<Vec<_>>().join("\n")
    })?)
}

fn known(kind: &str) -> Result<(), CliError> {
    if !EventKind::named(kind).is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
    let cli_error = CliError::usage(format!("there is no kind of event `{kind}`"));
    Err(match nearest(kind, names.iter().copied()) {
        Some(near) => cli_error.hint(format!("did you mean `{near}`?")),
        None => cli_error.hint(format!("there are {}", names.join(", "))),
    })
}

/// Prints an event as it comes.
fn print(app: &App, event: &Answer<EventView>) -> std::io::Result<()> {
    if app.render.is_json() { print_json(event) } else { print_text(&on_a_line(event)) }
}

/// Selection of events.
#[derive(Debug, Clone, Default)]
struct EventQuery {
    kind: Option<String>,
    agent: Option<String>,
    task: Option<String>,
}

/// Events, and the number up to which the sequence was searched.
#[derive(Debug)]
struct EventList {
    events: Vec<Answer<EventView>>,
    last: i64,
}

impl EventQuery {
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

struct EventReader<'a> {
    line: Steady<'a>,
    query: EventQuery,
}

impl EventReader<'_> {
    async fn page(&mut self, after: i64, limit: usize) -> Result<EventList, CliError> {
        let path = self.query.path(after, Some(limit));
        let mut page: Answer<EventPage> = self.line.fetch(&path).await?;
        let events = page.take_list("events", |page| std::mem::take(&mut page.events));
        Ok(EventList { events, last: page.last })
    }

    /// The first events after a number.
    async fn first(&mut self, after: i64, limit: usize) -> Result<EventList, CliError> {
        let mut all = EventList { events: Vec::new(), last: after };
        while all.events.len() < limit {
            let wanted = (limit - all.events.len()).min(PAGE);
            let EventList { events, last } = self.page(all.last, wanted).await?;
            all.last = last;
            if events.is_empty() {
                break;
            }
            all.events.extend(events);
        }
        Ok(all)
    }

    /// The newest events. A selection has to be searched from the beginning.
    async fn newest(&mut self, limit: usize) -> Result<EventList, CliError> {
        let mut after = 0;
        if self.query.is_all() {
            let page: Answer<EventPage> = self.line.fetch("/api/events?after=now&limit=1").await?;
            after = page.last.saturating_sub(i64::try_from(limit).unwrap_or(i64::MAX)).max(0);
        }
        let mut newest = VecDeque::new();
        loop {
            let EventList { events, last } = self.page(after, PAGE).await?;
            after = last;
            if events.is_empty() {
                return Ok(EventList { events: newest.into(), last });
            }
            newest.extend(events);
            newest.drain(..newest.len().saturating_sub(limit));
        }
    }

    /// Prints the events after a number, for ever, across restarts of the server.
    async fn follow(&mut self, app: &App, mut after: i64) -> Result<(), CliError> {
        loop {
            let opened = open(self.line.client(), &self.query.path(after, None)).await;
            match opened {
                Ok(mut stream) => {
                    while let Ok(Ok(Some(message))) = timeout(MAX_SILENCE, stream.next()).await {
                        let json: Value = serde_json::from_slice(&message).unwrap_or_default();
                        if ErrorBody::deserialize(&json).is_ok() {
                            let status = StatusCode::SERVICE_UNAVAILABLE;
                            let error = Box::new(ApiError::read(status, &message));
                            if let Some(RemovedEvents { oldest }) = error.details() {
                                after = skip_removed(app, oldest)?;
                                break;
                            }
                            return Err(ClientError::Api { status, error }.into());
                        }
                        after = place(&json).unwrap_or(after);
                        // The stream begins with its position, and says now and then how far it was searched.
                        if let Ok(event) = Answer::decode(json) {
                            print(app, &event)?;
                        }
                    }
                    sleep(RETRY_DELAY).await;
                }
                Err(error) if is_gone(&error) => {}
                Err(ClientError::Api { status: StatusCode::GONE, error }) => {
                    let removed = error.details::<RemovedEvents>();
                    after = skip_removed(app, removed.map_or(after, |removed| removed.oldest))?;
                }
                Err(error) => return Err(error.into()),
            }
            self.line.back_some_day().await?;
        }
    }
}

/// Details of the error for events that were removed.
#[derive(Debug, Deserialize)]
struct RemovedEvents {
    /// Number after which events are kept
    oldest: i64,
}

/// Reports that events were removed before they were read. Returns the number to continue after.
fn skip_removed(app: &App, oldest: i64) -> std::io::Result<i64> {
    let text = format!("Events up to {oldest} were removed meanwhile; continuing after them.");
    app.render.aside(&dim(text))?;
    Ok(oldest)
}

/// Position of a message in the stream: an event, the stream's head, or how far it was searched.
#[derive(Debug, Deserialize)]
struct StreamPosition {
    number: Option<i64>,
    after: Option<i64>,
    last: Option<i64>,
}

/// The number to continue after, once this message was read.
pub(crate) fn place(message: &Value) -> Option<i64> {
    let position = StreamPosition::deserialize(message).ok()?;
    position.number.or(position.after).or(position.last)
}

/// Opens the stream of events.
pub(crate) async fn open(client: &Client, path: &str) -> Result<Messages, ClientError> {
    let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/event-stream"))]);
    let response = client.send(Method::GET, path, headers, Bytes::new()).await?;
    if response.status().is_success() {
        return Ok(Messages::of(response));
    }
    let (status, bytes) = client.collect(response).await?;
    Err(ClientError::Api { status, error: Box::new(ApiError::read(status, &bytes)) })
}

/// An event on a line.
fn on_a_line(event: &EventView) -> String {
    let author = event.agent_id.map_or_else(|| "you".to_owned(), |agent| agent.to_string());
    let when = format!("{:>5} {}", event.number, event.at.time_of_day());
    let kind = event.kind.name();
    let used = when.len() + kind.len() + author.len() + 3;
    let what = short(&about(&event.data), room(used));
    format!("{} {} {author} {what}", dim(when), name(kind)).trim_end().to_owned()
}

/// The most telling facts of an event, whatever its kind.
fn about(data: &Value) -> String {
    let keys =
        ["number", "slug", "from", "to", "state", "status", "subject", "title", "role", "reason"];
    let fact = |key: &&str| {
        let value = data.get(*key).filter(|value| !value.is_null())?;
        Some(format!("{key}={}", shown(value)))
    };
    keys.iter().filter_map(fact).collect::<Vec<_>>().join(" ")
}
