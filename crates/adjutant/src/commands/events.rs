//! `adjutant events`: what happened, and what happens.

use std::collections::VecDeque;

use model::event::EventKind;
use model::nearest::nearest;
use serde_json::{Value, json};

use crate::app::{App, query};
use crate::cli::EventsArgs;
use crate::client::Client;
use crate::render::{dim, field, line, name, print_json, print_text, room, short};
use crate::trouble::Trouble;

/// How many are fetched at once.
const PAGE: usize = 500;
/// How long a call waits for the next one.
const WAIT_SECONDS: u32 = 60;

/// Lists events, and follows them if asked to.
pub(crate) async fn run(app: &App, args: EventsArgs) -> Result<(), Trouble> {
    if let Some(kind) = &args.kind {
        known(kind)?;
    }
    let client = app.client().await?;
    let stream = Stream { client: &client, kind: args.kind.clone() };
    let (events, last) = match args.after {
        Some(after) => stream.first(after, args.limit).await?,
        None => stream.newest(args.limit).await?,
    };
    if !args.follow {
        let value = json!({ "events": events, "last": last });
        return Ok(app.render.answer(&value, || {
            if events.is_empty() {
                return "Nothing has happened yet.".to_owned();
            }
            events.iter().map(told).collect::<Vec<_>>().join("\n")
        })?);
    }
    let mut shown = events;
    let mut after = last;
    loop {
        for event in &shown {
            if app.render.is_json() {
                print_json(event)?;
            } else {
                print_text(&told(event))?;
            }
        }
        (shown, after) = stream.page(after, PAGE, WAIT_SECONDS).await?;
    }
}

fn known(kind: &str) -> Result<(), Trouble> {
    if EventKind::parse(kind).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
    let trouble = Trouble::usage(format!("there is no kind of event `{kind}`"));
    Err(match nearest(kind, names.iter().copied()) {
        Some(near) => trouble.hint(format!("did you mean `{near}`?")),
        None => trouble.hint(format!("there are {}", names.join(", "))),
    })
}

struct Stream<'a> {
    client: &'a Client,
    kind: Option<String>,
}

impl Stream<'_> {
    /// A page, and the number after which the next one begins.
    async fn page(
        &self,
        after: i64,
        limit: usize,
        wait: u32,
    ) -> Result<(Vec<Value>, i64), Trouble> {
        let path = query(
            "/api/events",
            [
                ("after", Some(after.to_string())),
                ("limit", Some(limit.to_string())),
                ("kind", self.kind.clone()),
                ("waitSeconds", (wait > 0).then(|| wait.to_string())),
            ],
        );
        let mut answer = self.client.get_json(&path).await?;
        let events = match answer["events"].take() {
            Value::Array(events) => events,
            _ => Vec::new(),
        };
        let seen = events.last().and_then(|event| event["number"].as_i64());
        Ok((events, seen.unwrap_or(after)))
    }

    /// The first ones after a number.
    async fn first(&self, mut after: i64, limit: usize) -> Result<(Vec<Value>, i64), Trouble> {
        let mut all = Vec::new();
        while all.len() < limit {
            let (events, seen) = self.page(after, (limit - all.len()).min(PAGE), 0).await?;
            if events.is_empty() {
                break;
            }
            all.extend(events);
            after = seen;
        }
        Ok((all, after))
    }

    /// The newest ones. Of one kind only, all of them must be looked through.
    async fn newest(&self, limit: usize) -> Result<(Vec<Value>, i64), Trouble> {
        let path = query(
            "/api/events",
            [("after", Some("0".to_owned())), ("limit", Some("1".to_owned()))],
        );
        let last = self.client.get_json(&path).await?["last"].as_i64().unwrap_or_default();
        let back = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut after = if self.kind.is_none() { last.saturating_sub(back).max(0) } else { 0 };
        let mut newest = VecDeque::new();
        loop {
            let (events, seen) = self.page(after, PAGE, 0).await?;
            if events.is_empty() {
                break;
            }
            newest.extend(events);
            newest.drain(..newest.len().saturating_sub(limit));
            after = seen;
        }
        Ok((newest.into(), after.max(last)))
    }
}

/// An event on a line.
fn told(event: &Value) -> String {
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
