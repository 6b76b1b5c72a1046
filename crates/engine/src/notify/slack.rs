//! Slack: people give orders there, and hear there what becomes of them.
//!
//! Messages arrive over a socket and are stored before they are acknowledged ([`listen`]). Rows that are due
//! become a task, a mail or an answer, in one transaction that also crosses them out ([`act`]). What events tell of
//! the agents that were asked for becomes rows of what we say ([`tell`]), which are sent one after the other in each
//! thread ([`send`]). So whatever is repeated finds its row, and whatever is interrupted is begun again from it.

mod act;
mod listen;
mod order;
mod say;
mod send;
mod tell;
pub(crate) mod view;
mod words;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use host::slack::{Slack, SlackIdentity, SlackTokens};
use model::{EventKinds, Timestamp};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::core::error::ToolError;
use crate::core::follow::{EventReaction, NextRun};
use crate::core::settings::Settings;
use crate::notify::service::Notifications;

/// Timeout of a request to Slack.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// A thread in which nothing happened for so long is not looked after, in seconds.
const LIVE: i64 = 14 * 86_400;

/// State shared by the loops and the operator's actions.
#[derive(Debug, Default)]
pub(crate) struct SlackState {
    /// A message was received
    heard: Notify,
    /// A message is to be sent
    to_say: Notify,
    now: Mutex<Now>,
}

/// State of the connection.
#[derive(Debug, Default, Clone)]
struct Now {
    client: Option<(String, Slack)>,
    identity: Option<SlackIdentity>,
    connected_at: Option<Timestamp>,
    last_event_at: Option<Timestamp>,
    problem: Option<String>,
}

impl SlackState {
    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notifications {
    /// Missing settings for Slack; empty if it is enabled.
    pub(crate) fn slack_missing(&self, settings: &Settings) -> Vec<String> {
        let (slack, tokens) = (&settings.slack, &self.options.slack);
        let unset = |name: &str| format!("the variable `{name}` is not set");
        let mut missing = Vec::new();
        if tokens.bot.is_none() {
            missing.push(unset(&slack.bot_token_variable));
        }
        if tokens.app.is_none() {
            missing.push(unset(&slack.app_token_variable));
        }
        if slack.users.is_empty() {
            missing.push("`slack.users` is empty: no user may give orders".to_owned());
        }
        missing
    }

    /// A client, where Slack is on. To be called inside a runtime.
    fn slack_client(&self) -> Option<Result<Slack, host::slack::SlackError>> {
        let settings = self.settings();
        if !self.slack_missing(&settings).is_empty() {
            return None;
        }
        let (bot, app) = (self.options.slack.bot.as_deref()?, self.options.slack.app.as_deref()?);
        let url = &settings.slack.api_url;
        let mut now = self.slack_state.now();
        if let Some((_, slack)) = now.client.as_ref().filter(|(known, _)| known == url) {
            return Some(Ok(slack.clone()));
        }
        let made = Slack::new(url, SlackTokens { bot, app }, REQUEST_TIMEOUT);
        now.client = made.as_ref().ok().map(|slack| (url.clone(), slack.clone()));
        Some(made)
    }
}

/// Listens, acts and answers until it is told to end. What is not done then is done by the next server.
#[derive(Debug)]
pub struct SlackService {
    engine: Notifications,
    shutdown: CancellationToken,
}

impl SlackService {
    /// Creates the service that connects an engine with Slack.
    pub fn new(engine: &Notifications, shutdown: CancellationToken) -> Self {
        Self { engine: engine.clone(), shutdown }
    }

    /// Does so.
    pub async fn run(self) {
        let Self { engine, shutdown } = self;
        let mut reactor = SlackReactor { engine: engine.clone(), seen: None };
        tokio::join!(
            listen::run(engine.clone(), shutdown.clone()),
            engine.follow(&mut reactor, &shutdown),
            send::run(engine.clone(), shutdown.clone()),
        );
    }
}

/// Processes received messages, and answers them.
struct SlackReactor {
    engine: Notifications,
    /// Last event processed; it may be ahead of the record where there was nothing to tell
    seen: Option<i64>,
}

impl SlackReactor {
    fn is_on(&self) -> bool {
        self.engine.slack_missing(&self.engine.settings()).is_empty()
    }
}

impl EventReaction for SlackReactor {
    fn name(&self) -> String {
        "Slack".to_owned()
    }

    fn kinds(&self) -> EventKinds {
        if self.is_on() { tell::KINDS } else { EventKinds::NONE }
    }

    async fn react(&mut self) -> Result<NextRun, ToolError> {
        if !self.is_on() {
            return Ok(NextRun::News);
        }
        let engine = &self.engine;
        tell::follow(engine, &mut self.seen).await?;
        while act::one(engine).await? {}
        engine.slack_state.to_say.notify_one();
        let next = engine.store.read(|tx| tx.slack_message_next())?;
        Ok(NextRun::due(next, engine.now()))
    }

    async fn rung(&mut self) {
        self.engine.slack_state.heard.notified().await;
    }
}
