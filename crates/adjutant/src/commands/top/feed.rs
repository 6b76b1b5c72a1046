//! Feeds the screen: the server's answers, its events as they happen, one agent's
//! stream. The server may go and come back; what was asked of a server that is gone is asked again of the
//! next one, because everything is.

use std::sync::Arc;
use std::time::Duration;

use model::{AgentId, Timestamp};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;
use wire::agent_details::AgentDetails;
use wire::agents::{AgentStream, OutputPlace};
use wire::costs::Lineage;
use wire::crew::CrewRows;
use wire::event::EventPage;
use wire::mail::{MailView, SentMail};

use super::describe::sanitized;
use super::model::stream::StreamPlace;
use super::model::{CostsData, CrewPageQuery, CrewSelection, Effect, MailListQuery, Message, Post};
use crate::app::{App, call_tool, now, query};
use crate::cli_error::CliError;
use crate::client::{Client, ClientError};
use crate::commands::call::events;
use crate::commands::crew::run::kill_one;
use crate::commands::reconnect::{Steady, is_gone};
use crate::terminal::render::{Render, line, plain};

/// The server says that it is alive far more often than this.
const SILENCE: Duration = Duration::from_secs(60);
/// Delays before a stream is reopened, first and last.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(100);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(5);
/// Delay that groups refreshes.
const REFRESH_DELAY: Duration = Duration::from_millis(200);
/// Between two questions for a stream: an agent that says very much is not asked for every word.
const MIN_READ_INTERVAL: Duration = Duration::from_millis(100);
/// Seconds that a stream request waits.
const WAIT_SECONDS: &str = "25";
/// Lines before the end at which a stream starts.
const TAIL: &str = "400";
/// A page of agents, or of mails.
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
    ) -> Result<(Self, JoinHandle<CliError>), CliError> {
        // Nothing may be printed while the screen is ours.
        let app = Arc::new(App { render: Render::Json, ..app.clone() });
        let first = app.client().await?;
        let after = first.get::<EventPage>("/api/events?after=now&limit=1").await?.last;
        let (found, client) = watch::channel(first);
        let tasks = TaskTracker::new();
        let (its_app, its_out) = (Arc::clone(&app), out.clone());
        let follower = tasks.spawn(async move {
            let mut follower = Follower { app: &its_app, out: its_out, found, after };
            match follower.follow().await {
                Err(cli_error) => cli_error,
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
                let sent = send(&app, post).await.map_err(|cli_error| describe_error(&cli_error));
                tell(&out, Message::Posted(sent));
            })),
            Effect::Kill(id) => drop(self.tasks.spawn(async move {
                let killed = kill_one(&app, id).await;
                let told = killed.map(|outcome| line(&outcome.message));
                tell(&out, Message::Killed(told.map_err(|cli_error| describe_error(&cli_error))));
            })),
            Effect::Soon => drop(self.tasks.spawn(async move {
                sleep(REFRESH_DELAY).await;
                tell(&out, Message::Renew);
            })),
            Effect::Suspend | Effect::Quit => {}
            asked => drop(self.tasks.spawn(async move {
                match read(&client, asked).await {
                    Ok(Some(message)) => tell(&out, message),
                    // The follower of events notices too, and then everything is read again.
                    Ok(None) | Err(Unread::Gone) => {}
                    Err(Unread::Failed(why)) => tell(&out, Message::Failed(why)),
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
fn describe_error(cli_error: &CliError) -> String {
    let mut words = vec![cli_error.message()];
    words.extend(cli_error.hints().iter().map(String::as_str));
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
    async fn follow(&mut self) -> Result<std::convert::Infallible, CliError> {
        let mut line = Steady::new(self.app).await?;
        let mut pause = FIRST_RETRY_DELAY;
        loop {
            let path = query("/api/events", [("after", Some(self.after.to_string()))]);
            match events::open(line.client(), &path).await {
                Ok(mut stream) => {
                    self.found.send_replace(line.client().clone());
                    tell(&self.out, Message::Live);
                    while let Ok(Ok(Some(message))) = timeout(SILENCE, stream.next()).await {
                        pause = FIRST_RETRY_DELAY;
                        self.take(&message);
                    }
                    // Where nothing happened for long, or a server gave way to the next one, the same
                    // place answers again, and nobody need hear of it.
                    sleep(pause).await;
                    pause = (pause * 2).min(MAX_RETRY_DELAY);
                    continue;
                }
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error.into()),
            }
            tell(&self.out, Message::Away);
            match line.back_some_day().await {
                // It may come back.
                Err(cli_error) if cli_error.is_no_server() => {}
                other => other?,
            }
        }
    }

    fn take(&mut self, message: &[u8]) {
        let event_json: Value = serde_json::from_slice(message).unwrap_or_default();
        self.after = events::place(&event_json).unwrap_or(self.after);
        if let Ok(event) = serde_json::from_value(sanitized(event_json)) {
            tell(&self.out, Message::Events(vec![event]));
        }
    }
}

/// Why something could not be read.
enum Unread {
    /// The server is gone
    Gone,
    /// Why it could not be read
    Failed(String),
}

impl From<ClientError> for Unread {
    fn from(error: ClientError) -> Self {
        if is_gone(&error) { Self::Gone } else { Self::Failed(line(&error.to_string())) }
    }
}

async fn get<T: DeserializeOwned>(client: &Client, path: &str) -> Result<T, Unread> {
    let answer = sanitized(client.get_json(path).await?);
    serde_json::from_value(answer)
        .map_err(|error| Unread::Failed(format!("`{path}` was not understood: {error}")))
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
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            let path = query("/api/crew/rows", [("ids", Some(ids.join(",")))]);
            let CrewRows { rows } = get(client, &path).await?;
            Message::Rows(rows)
        }
        Effect::Agent(id) => {
            Message::Agent(Box::new(get(client, &format!("/api/agents/{id}")).await?))
        }
        Effect::Earlier(id, place) => {
            let path = stream_path(id, Some(place), StreamPart::Tail);
            Message::Earlier(id, Box::new(get(client, &path).await?))
        }
        Effect::MailList(ask) => {
            let list = get(client, &mail_list_path(&ask)).await?;
            Message::MailList(ask, list)
        }
        Effect::Thread(id) => {
            let path = format!("/api/mail/threads/{id}");
            Message::Thread(Box::new(get(client, &path).await?))
        }
        Effect::MarkRead(ids) => {
            for id in ids {
                let input = json!({ "mailId": id });
                call_tool::<MailView>(client, "mcp__mail__read", &input)
                    .await
                    .map_err(|cli_error| Unread::Failed(describe_error(&cli_error)))?;
            }
            return Ok(None);
        }
        Effect::Costs(days, by) => Message::Costs(Box::new(costs(client, days, by).await?)),
        _ => return Ok(None),
    }))
}

fn crew_path(ask: &CrewPageQuery) -> String {
    let (parent, past, text, standing) = match &ask.of {
        CrewSelection::Level(parent) => (*parent, Some("leave"), None, None),
        CrewSelection::Past(parent) => (*parent, Some("only"), None, None),
        CrewSelection::Flat { text, standing } => {
            (None, None, Some(text.clone()).filter(|text| !text.is_empty()), Some(*standing))
        }
    };
    query(
        "/api/crew",
        [
            ("parent", parent.map(|id| id.to_string())),
            ("past", past.map(str::to_owned)),
            ("q", text),
            ("state", standing.map(str::to_owned)),
            ("after", (ask.after != 0).then(|| ask.after.to_string())),
            ("limit", Some(PAGE.to_owned())),
        ],
    )
}

fn mail_list_path(ask: &MailListQuery) -> String {
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

/// Part of a stream to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamPart {
    /// The lines before a place, or before the end
    Tail,
    /// The lines after a place, waited for
    News,
}

fn stream_path(id: AgentId, at: Option<StreamPlace>, extent: StreamPart) -> String {
    let is_tail = extent == StreamPart::Tail;
    query(
        &format!("/api/agents/{id}/stream"),
        [
            ("attempt", at.map(|at| at.attempt.to_string())),
            ("segment", at.map(|at| at.place.segment.to_string())),
            ("offset", at.map(|at| at.place.offset.to_string())),
            ("tail", is_tail.then(|| TAIL.to_owned())),
            ("waitSeconds", (!is_tail).then(|| WAIT_SECONDS.to_owned())),
        ],
    )
}

async fn costs(client: &Client, days: u16, by: &str) -> Result<CostsData, Unread> {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let now = now();
    let midnight = Timestamp::from_millis(now.as_millis().div_euclid(DAY_MS) * DAY_MS);
    let since = if days == 0 { midnight } else { now.after_millis(-i64::from(days) * DAY_MS) };
    let since = Some(since.to_string());
    let by = Some(by.to_owned());
    let summary = query("/api/costs/summary", [("since", since.clone())]);
    let series = query("/api/costs/series", [("since", since), ("by", by)]);
    let Lineage { root, .. } = get(client, "/api/costs/lineage").await?;
    Ok(CostsData {
        summary: get(client, &summary).await?,
        series: get(client, &series).await?,
        lineage: root,
    })
}

/// Follows an agent's stream: from near its end, or from a place on, through one attempt after the other.
async fn stream(
    mut client: watch::Receiver<Client>,
    out: UnboundedSender<Message>,
    agent: AgentId,
    mut at: Option<StreamPlace>,
) {
    loop {
        let extent = if at.is_none() { StreamPart::Tail } else { StreamPart::News };
        let now = client.borrow_and_update().clone();
        match stream_step(&now, &stream_path(agent, at, extent), agent).await {
            Ok((part, more)) => {
                let here = StreamPlace { attempt: part.attempt, place: part.next };
                tell(&out, Message::Part(agent, Box::new(part)));
                at = Some(match more {
                    NextPosition::No => return tell(&out, Message::StreamOver(agent, None)),
                    NextPosition::Here => here,
                    NextPosition::Next => StreamPlace {
                        attempt: here.attempt + 1,
                        place: OutputPlace { segment: 0, offset: 0 },
                    },
                });
                sleep(MIN_READ_INTERVAL).await;
            }
            Err(Unread::Gone) => {
                // Until the next server is found.
                if client.changed().await.is_err() {
                    return;
                }
            }
            Err(Unread::Failed(why)) => {
                return tell(&out, Message::StreamOver(agent, Some(plain(&why))));
            }
        }
    }
}

/// Where a stream goes on.
enum NextPosition {
    /// Nowhere
    No,
    /// In the same attempt
    Here,
    /// In the next one
    Next,
}

async fn stream_step(
    client: &Client,
    path: &str,
    agent: AgentId,
) -> Result<(AgentStream, NextPosition), Unread> {
    let part: AgentStream = get(client, path).await?;
    if !part.complete || !part.items.is_empty() {
        return Ok((part, NextPosition::Here));
    }
    let details: AgentDetails = get(client, &format!("/api/agents/{agent}")).await?;
    let more = if details.attempt > part.attempt { NextPosition::Next } else { NextPosition::No };
    Ok((part, more))
}

/// Sends a mail, once, however often the server must be asked: with the tools of `adjutant mail`.
async fn send(app: &App, post: Post) -> Result<String, CliError> {
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
    steady.call_tool_once::<SentMail>(tool, &input).await?;
    Ok("Sent.".to_owned())
}

/// The first line of a mail, as far as a subject goes.
fn subject(body: &str) -> String {
    let first = body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    crate::terminal::render::short(first, SUBJECT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_leaves_out_who_is_past_and_a_filter_has_no_levels() {
        let level =
            CrewPageQuery { of: CrewSelection::Level(Some(AgentId::from_bits(1))), after: 7 };
        assert_eq!(
            crew_path(&level),
            "/api/crew?parent=sp_0000000000000001&past=leave&after=7&limit=200"
        );
        let of = CrewSelection::Flat { text: "a b".into(), standing: "all" };
        assert_eq!(
            crew_path(&CrewPageQuery { of, after: 0 }),
            "/api/crew?q=a%20b&state=all&limit=200"
        );
        assert_eq!(subject("\n Stop now \nand rest"), "Stop now");
    }
}
