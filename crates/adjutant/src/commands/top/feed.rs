//! Feeds the screen: the server's answers, its events as they happen, one agent's
//! stream. The server may go and come back; what was asked of a server that is gone is asked again of the
//! next one, because everything is.

use std::sync::Arc;
use std::time::Duration;

use model::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;

use super::model::{CrewAsk, CrewOf, Effect, LettersAsk, Message, Post};
use super::shapes::{Costs, Part, Place, Row, Whole, harmless};
use crate::app::{self, App, now, query};
use crate::cli_error::Trouble;
use crate::client::{Client, ClientError};
use crate::commands::call::events;
use crate::commands::crew::run::kill_all;
use crate::commands::reconnect::{Steady, is_gone};
use crate::terminal::progress::Progress;
use crate::terminal::render::{Render, line, plain};

/// The server says that it is alive far more often than this.
const SILENCE: Duration = Duration::from_secs(60);
/// Delays before a stream is reopened, first and last.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(5);
/// Delay that groups refreshes.
const SOON: Duration = Duration::from_millis(200);
/// Between two questions for a stream: an agent that says very much is not asked for every word.
const BREATH: Duration = Duration::from_millis(100);
/// Seconds that a stream request waits.
const WAIT_SECONDS: &str = "25";
/// Lines before the end at which a stream starts.
const TAIL: &str = "400";
/// A page of agents, or of letters.
const PAGE: &str = "200";
/// A subject is no longer.
const SUBJECT: usize = 100;

/// Where answers come from and go to.
#[derive(Debug)]
pub(crate) struct Feed {
    app: Arc<App>,
    /// The server that there is now
    client: watch::Receiver<Client>,
    out: UnboundedSender<Message>,
    tasks: TaskTracker,
    /// The stream that is followed
    stream: Option<AbortHandle>,
}

impl Feed {
    /// Finds or starts the server and follows what happens; the handle ends with why that cannot be.
    pub(crate) async fn start(
        app: &App,
        out: UnboundedSender<Message>,
    ) -> Result<(Self, JoinHandle<Trouble>), Trouble> {
        // Nothing may be printed while the screen is ours.
        let app = Arc::new(App { render: Render::Json, ..app.clone() });
        let first = app.client().await?;
        let answer = first.get_json("/api/events?after=now&limit=1").await?;
        let after = answer["last"].as_i64().unwrap_or_default();
        let (found, client) = watch::channel(first);
        let tasks = TaskTracker::new();
        let (its_app, its_out) = (Arc::clone(&app), out.clone());
        let follower = tasks.spawn(async move {
            let mut follower = Follower { app: &its_app, out: its_out, found, after };
            match follower.follow().await {
                Err(trouble) => trouble,
                Ok(never) => match never {},
            }
        });
        Ok((Self { app, client, out, tasks, stream: None }, follower))
    }

    /// Does what is to be done outside.
    pub(crate) fn perform(&mut self, effect: Effect) {
        let (client, out) = (self.client.borrow().clone(), self.out.clone());
        let app = Arc::clone(&self.app);
        match effect {
            Effect::Follow(agent, from) => {
                if let Some(before) = self.stream.take() {
                    before.abort();
                }
                let handle = self.tasks.spawn(stream(self.client.clone(), out, agent, from));
                self.stream = Some(handle.abort_handle());
            }
            Effect::Post(post) => drop(self.tasks.spawn(async move {
                let sent = send(&app, post).await.map_err(|trouble| said(&trouble));
                tell(&out, Message::Posted(sent));
            })),
            Effect::Kill(id) => drop(self.tasks.spawn(async move {
                let ended = kill_all(&app, &[id], Progress::none()).await.into_iter().next();
                let ended = ended.unwrap_or(Ok(Value::Null));
                let told = ended.map(|answer| line(answer["message"].as_str().unwrap_or("gone")));
                tell(&out, Message::Killed(told.map_err(|trouble| said(&trouble))));
            })),
            Effect::Soon => drop(self.tasks.spawn(async move {
                sleep(SOON).await;
                tell(&out, Message::Renew);
            })),
            Effect::Suspend | Effect::Quit => {}
            asked => drop(self.tasks.spawn(async move {
                match read(&client, asked).await {
                    Ok(Some(message)) => tell(&out, message),
                    // Whoever follows the events notices, too, and then everything is read again.
                    Ok(None) | Err(Unread::Gone) => {}
                    Err(Unread::Said(why)) => tell(&out, Message::Failed(why)),
                }
            })),
        }
    }
}

/// Where nobody listens any more, we are about to end.
fn tell(out: &UnboundedSender<Message>, message: Message) {
    drop(out.send(message));
}

/// Why something was not done, with what to do next, on a line.
fn said(trouble: &Trouble) -> String {
    let mut words = vec![trouble.message()];
    words.extend(trouble.hints().iter().map(String::as_str));
    line(&words.join("; "))
}

/// Follows what happens, of one server after the other.
struct Follower<'a> {
    app: &'a App,
    out: UnboundedSender<Message>,
    found: watch::Sender<Client>,
    after: i64,
}

impl Follower<'_> {
    async fn follow(&mut self) -> Result<std::convert::Infallible, Trouble> {
        let mut line = Steady::new(self.app).await?;
        let mut pause = FIRST_PAUSE;
        loop {
            let path = query("/api/events", [("after", Some(self.after.to_string()))]);
            match events::open(line.client(), &path).await {
                Ok(mut stream) => {
                    self.found.send_replace(line.client().clone());
                    tell(&self.out, Message::Live);
                    while let Ok(Ok(Some(message))) = timeout(SILENCE, stream.next()).await {
                        pause = FIRST_PAUSE;
                        self.take(&message);
                    }
                    // Where nothing happened for long, or a server gave way to the next one, the same
                    // place answers again, and nobody need hear of it.
                    sleep(pause).await;
                    pause = (pause * 2).min(LAST_PAUSE);
                    continue;
                }
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error.into()),
            }
            tell(&self.out, Message::Away);
            match line.back_some_day().await {
                // Somebody may yet bring it back.
                Err(trouble) if trouble.is_no_server() => {}
                other => other?,
            }
        }
    }

    fn take(&mut self, message: &[u8]) {
        let said: Value = serde_json::from_slice(message).unwrap_or_default();
        self.after = events::place(&said).unwrap_or(self.after);
        if let Ok(event) = serde_json::from_value(harmless(said)) {
            tell(&self.out, Message::Events(vec![event]));
        }
    }
}

/// Why something could not be read.
enum Unread {
    /// The server is gone
    Gone,
    /// Text of the plan, verbatim
    Said(String),
}

impl From<ClientError> for Unread {
    fn from(error: ClientError) -> Self {
        if is_gone(&error) { Self::Gone } else { Self::Said(line(&error.to_string())) }
    }
}

async fn get<T: DeserializeOwned>(client: &Client, path: &str) -> Result<T, Unread> {
    let answer = harmless(client.get_json(path).await?);
    serde_json::from_value(answer)
        .map_err(|error| Unread::Said(format!("`{path}` was not understood: {error}")))
}

/// Reads what is asked for.
async fn read(client: &Client, effect: Effect) -> Result<Option<Message>, Unread> {
    Ok(Some(match effect {
        Effect::Overview => Message::Overview(Box::new(get(client, "/api/overview").await?)),
        Effect::Crew(ask) => {
            let list = get(client, &crew_path(&ask)).await?;
            Message::Crew(ask, list)
        }
        Effect::Rows(ids) => {
            let path = query("/api/crew/rows", [("ids", Some(ids.join(",")))]);
            let Rows { rows } = get(client, &path).await?;
            Message::Rows(rows)
        }
        Effect::Whole(id) => {
            Message::Whole(Box::new(get(client, &format!("/api/agents/{id}")).await?))
        }
        Effect::Earlier(id, attempt, place) => {
            let path = stream_path(&id, Some((attempt, place)), [("tail", Some(TAIL.to_owned()))]);
            Message::Earlier(id, Box::new(get(client, &path).await?))
        }
        Effect::Letters(ask) => {
            let list = get(client, &letters_path(&ask)).await?;
            Message::Letters(ask, list)
        }
        Effect::Thread(id) => {
            let path = format!("/api/mail/threads/{id}");
            Message::Thread(Box::new(get(client, &path).await?))
        }
        Effect::MarkRead(ids) => {
            for id in ids {
                let read =
                    app::call(client, "mcp__mail__read", &json!({ "mailId": id }), None).await;
                read.map_err(|trouble| Unread::Said(said(&trouble)))?;
            }
            return Ok(None);
        }
        Effect::Costs(days, by) => Message::Costs(Box::new(costs(client, days, by).await?)),
        _ => return Ok(None),
    }))
}

/// Some rows.
#[derive(serde::Deserialize)]
struct Rows {
    rows: Vec<Row>,
}

fn crew_path(ask: &CrewAsk) -> String {
    let (parent, past, text, standing) = match &ask.of {
        CrewOf::Level(parent) => (parent.clone(), Some("leave"), None, None),
        CrewOf::Past(parent) => (parent.clone(), Some("only"), None, None),
        CrewOf::Flat { text, standing } => {
            (None, None, Some(text.clone()).filter(|text| !text.is_empty()), Some(*standing))
        }
    };
    query(
        "/api/crew",
        [
            ("parent", parent),
            ("past", past.map(str::to_owned)),
            ("q", text),
            ("state", standing.map(str::to_owned)),
            ("after", (ask.after != 0).then(|| ask.after.to_string())),
            ("limit", Some(PAGE.to_owned())),
        ],
    )
}

fn letters_path(ask: &LettersAsk) -> String {
    query(
        "/api/mail",
        [
            ("box", Some(ask.of.to_owned())),
            ("q", Some(ask.text.clone()).filter(|text| !text.trim().is_empty())),
            ("after", ask.after.map(|after| after.to_string())),
            ("limit", Some(PAGE.to_owned())),
        ],
    )
}

fn stream_path(id: &str, at: Option<(u32, Place)>, more: [(&str, Option<String>); 1]) -> String {
    let [more] = more;
    query(
        &format!("/api/agents/{id}/stream"),
        [
            ("attempt", at.map(|(attempt, _)| attempt.to_string())),
            ("segment", at.map(|(_, place)| place.segment.to_string())),
            ("offset", at.map(|(_, place)| place.offset.to_string())),
            more,
        ],
    )
}

async fn costs(client: &Client, days: u16, by: &str) -> Result<Costs, Unread> {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let now = now();
    let midnight = Timestamp::from_millis(now.as_millis().div_euclid(DAY_MS) * DAY_MS);
    let since = if days == 0 { midnight } else { now.after_millis(-i64::from(days) * DAY_MS) };
    let since = Some(since.to_string());
    let by = Some(by.to_owned());
    let summary = query("/api/costs/summary", [("since", since.clone())]);
    let series = query("/api/costs/series", [("since", since), ("by", by)]);
    let lineage: Value = get(client, "/api/costs/lineage").await?;
    Ok(Costs {
        summary: get(client, &summary).await?,
        series: get(client, &series).await?,
        lineage: serde_json::from_value(lineage["root"].clone()).ok(),
    })
}

/// Follows an agent's stream: from near its end, or from a place on, through one attempt after the other.
async fn stream(
    mut client: watch::Receiver<Client>,
    out: UnboundedSender<Message>,
    agent: String,
    mut at: Option<(u32, Place)>,
) {
    loop {
        let wait = match at {
            None => ("tail", Some(TAIL.to_owned())),
            Some(_) => ("waitSeconds", Some(WAIT_SECONDS.to_owned())),
        };
        let now = client.borrow_and_update().clone();
        match stream_step(&now, &stream_path(&agent, at, [wait]), &agent).await {
            Ok((part, more)) => {
                let (attempt, next) = (part.attempt, part.next);
                tell(&out, Message::Part(agent.clone(), Box::new(part)));
                at = Some(match more {
                    More::No => return tell(&out, Message::StreamOver(agent, None)),
                    More::Here => (attempt, next),
                    More::Next => (attempt + 1, Place { segment: 0, offset: 0 }),
                });
                sleep(BREATH).await;
            }
            Err(Unread::Gone) => {
                // Until the next server is found.
                if client.changed().await.is_err() {
                    return;
                }
            }
            Err(Unread::Said(why)) => {
                return tell(&out, Message::StreamOver(agent, Some(plain(&why))));
            }
        }
    }
}

/// Where a stream goes on.
enum More {
    /// Nowhere
    No,
    /// In the same attempt
    Here,
    /// In the next one
    Next,
}

async fn stream_step(client: &Client, path: &str, agent: &str) -> Result<(Part, More), Unread> {
    let part: Part = get(client, path).await?;
    if !part.complete || !part.items.is_empty() {
        return Ok((part, More::Here));
    }
    let whole: Whole = get(client, &format!("/api/agents/{agent}")).await?;
    let more = if whole.attempt > part.attempt { More::Next } else { More::No };
    Ok((part, more))
}

/// Sends a letter, once, however often the server must be asked: with the tools of `adjutant mail`.
async fn send(app: &App, post: Post) -> Result<String, Trouble> {
    let mut steady = Steady::new(app).await?;
    let (tool, input) = match post {
        Post::Reply { mail, body } => {
            ("mcp__mail__reply", json!({ "originalMailId": mail, "body": body }))
        }
        Post::Mail { to, body } => {
            let subject = subject(&body);
            ("mcp__mail__send", json!({ "toAgentId": to, "subject": subject, "body": body }))
        }
    };
    steady.call_once(tool, &input).await?;
    Ok("Sent.".to_owned())
}

/// The first line of a letter, as far as a subject goes.
fn subject(body: &str) -> String {
    let first = body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    crate::terminal::render::short(first, SUBJECT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_leaves_out_who_is_past_and_a_filter_has_no_levels() {
        let level = CrewAsk { of: CrewOf::Level(Some("sp_1".into())), after: 7 };
        assert_eq!(crew_path(&level), "/api/crew?parent=sp_1&past=leave&after=7&limit=200");
        let of = CrewOf::Flat { text: "a b".into(), standing: "all" };
        assert_eq!(crew_path(&CrewAsk { of, after: 0 }), "/api/crew?q=a%20b&state=all&limit=200");
        assert_eq!(subject("\n Stop now \nand rest"), "Stop now");
    }
}
