//! Follows the server's own stream of a session.
//!
//! Listening never starts a server: it must not bring up what an operator has taken down.

use std::time::Duration;

use http::StatusCode;
use tokio::sync::watch;
use tokio::time::timeout;

use super::answer::Messages;
use super::link::Link;
use super::session::Session;

const FIRST_RETRY_DELAY: Duration = Duration::from_millis(100);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(5);

impl Link {
    /// Hands on what the server says by itself in a session, for as long as there is one.
    pub(super) async fn listen(&self) {
        let mut pause = Pause::new(&self.changes);
        let mut last_id: Option<String> = None;
        loop {
            let (session, server) = {
                let state = self.state();
                (state.session.clone(), state.server.clone())
            };
            let (Some(session), Some(server)) = (session, server) else { return };
            let mut retry = None;
            match self.open(&server.client, &session, last_id.as_deref()).await {
                Ok(response) if response.status().is_success() => {
                    let messages = self.overhear(Messages::of(response), &session).await;
                    if messages.heard() {
                        pause.shorten();
                        last_id = messages.last_id().or(last_id);
                    } else {
                        // What cannot be taken up again is begun anew.
                        last_id = None;
                    }
                    retry = messages.retry();
                }
                Ok(response) if response.status() == StatusCode::METHOD_NOT_ALLOWED => return,
                Ok(response) if response.status() == StatusCode::NOT_FOUND => {
                    last_id = None;
                    if self.renew(&server.client, &session).await.is_ok() {
                        continue;
                    }
                }
                Ok(_) | Err(_) => {}
            }
            pause.wait(retry).await;
            self.relocate();
        }
    }

    /// Hands on a stream's messages until it ends or the session is another.
    async fn overhear(&self, mut messages: Messages, session: &Session) -> Messages {
        let mut changes = self.changes.subscribe();
        loop {
            let message = tokio::select! {
                message = messages.next() => message,
                _ = changes.changed() => {
                    if self.state().session.as_ref().is_some_and(|now| now.is(session)) {
                        continue;
                    }
                    return messages;
                }
            };
            match message {
                Ok(Some(line)) => self.say(line).await,
                Ok(None) | Err(_) => return messages,
            }
        }
    }
}

/// A pause that grows, and ends early when something has changed.
pub(super) struct Pause {
    next: Duration,
    changes: watch::Receiver<u64>,
}

impl Pause {
    pub(super) fn new(changes: &watch::Sender<u64>) -> Self {
        Self { next: FIRST_RETRY_DELAY, changes: changes.subscribe() }
    }

    fn shorten(&mut self) {
        self.next = FIRST_RETRY_DELAY;
    }

    pub(super) async fn wait(&mut self, asked: Option<Duration>) {
        let length = asked.map_or(self.next, |asked| asked.min(MAX_RETRY_DELAY));
        // Either way the pause is over.
        _ = timeout(length, self.changes.changed()).await;
        self.next = (self.next * 2).min(MAX_RETRY_DELAY);
    }
}
