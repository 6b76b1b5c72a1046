//! Receives messages: over a socket, and after every new connection by reading the missed ones.

use std::time::Duration;

use host::slack::{Frame, Slack, SlackError, SlackIdentity, Socket};
use model::Timestamp;
use model::slack::{
    IncomingMessage, MessageAction, ThreadOwner, decide_action, plain, retry_delay_seconds,
};
use store::{SlackMessage, Tx};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::LIVE;
use super::act::command;
use super::say::{self, ThreadPlace};
use crate::core::error::ToolError;
use crate::core::settings::Settings;
use crate::notify::service::Notifications;

/// Threads and channels read after a new connection.
const THREADS: u32 = 100;
const CHANNELS: u32 = 100;
/// At least so long is between two tries to connect, in milliseconds.
const MIN_CONNECT_INTERVAL_MILLIS: i64 = 100;

/// Why a connection is over.
enum ConnectionEnd {
    /// Slack asked for a new one
    Refresh,
    /// Something is wrong
    Broken(String),
    /// It is not wanted any more, or the server ends
    Unwanted,
}

/// Listens until it is told to end.
pub(super) async fn run(engine: Notifications, shutdown: CancellationToken) {
    let mut failures = 0;
    let mut reloads = engine.reloads.subscribe();
    while !shutdown.is_cancelled() {
        reloads.borrow_and_update();
        let over = match engine.slack_client() {
            None => ConnectionEnd::Unwanted,
            Some(Err(error)) => ConnectionEnd::Broken(error.to_string()),
            Some(Ok(slack)) => {
                let session = session(&engine, &slack, &shutdown, &mut reloads, &mut failures);
                Box::pin(session).await
            }
        };
        let wait = {
            let mut now = engine.slack_state.now();
            now.connected_at = None;
            match over {
                ConnectionEnd::Refresh => Some(jittered(0)),
                ConnectionEnd::Unwanted => {
                    now.problem = None;
                    None
                }
                ConnectionEnd::Broken(why) => {
                    tracing::warn!(why, "slack connection failed; reconnecting");
                    now.problem = Some(why);
                    failures += 1;
                    Some(jittered(retry_delay_seconds(failures - 1)))
                }
            }
        };
        let wait = async {
            match wait {
                Some(wait) => tokio::time::sleep(wait).await,
                // Only a change of the settings brings back what is not wanted. The engine lives as long as this.
                None => drop(reloads.changed().await),
            }
        };
        if shutdown.run_until_cancelled(wait).await.is_none() {
            return;
        }
    }
}

/// Randomises a delay by half, so that servers do not reconnect together.
fn jittered(seconds: i64) -> Duration {
    let millis = seconds * 1000;
    let chance = host::random::bits().map_or(0, |bits| i64::try_from(bits % 1000).unwrap_or(0));
    let millis = (millis / 2 + millis * chance / 1000).max(MIN_CONNECT_INTERVAL_MILLIS);
    Duration::from_millis(u64::try_from(millis).unwrap_or(1000))
}

/// One connection from its beginning to its end.
async fn session(
    engine: &Notifications,
    slack: &Slack,
    shutdown: &CancellationToken,
    reloads: &mut watch::Receiver<u64>,
    failures: &mut u32,
) -> ConnectionEnd {
    let opening = async {
        let identity = slack.identity().await?;
        Ok::<_, SlackError>((identity, slack.connect().await?))
    };
    let (identity, mut socket) = match shutdown.run_until_cancelled(Box::pin(opening)).await {
        None => return ConnectionEnd::Unwanted,
        Some(Ok(opened)) => opened,
        Some(Err(error)) => return ConnectionEnd::Broken(error.to_string()),
    };
    engine.slack_state.now().identity = Some(identity.clone());
    let heard = SlackListener { engine, slack, identity };
    let over = heard.listen(&mut socket, shutdown, reloads, failures).await;
    // What is not acknowledged comes again over the next one.
    if shutdown.run_until_cancelled(socket.close()).await.is_none() {
        return ConnectionEnd::Unwanted;
    }
    over
}

struct SlackListener<'a> {
    engine: &'a Notifications,
    slack: &'a Slack,
    identity: SlackIdentity,
}

impl SlackListener<'_> {
    async fn listen(
        &self,
        socket: &mut Socket,
        shutdown: &CancellationToken,
        reloads: &mut watch::Receiver<u64>,
        failures: &mut u32,
    ) -> ConnectionEnd {
        let missed = self.catch_up();
        let mut missed = std::pin::pin!(missed);
        let (mut ready, mut caught_up) = (false, false);
        loop {
            let frame = tokio::select! {
                () = shutdown.cancelled() => return ConnectionEnd::Unwanted,
                changed = reloads.changed() => {
                    let off = !self.engine.slack_missing(&self.engine.settings()).is_empty();
                    if off || changed.is_err() {
                        return ConnectionEnd::Unwanted;
                    }
                    continue;
                }
                // Dropped at the end of the connection; the next one begins it again.
                () = &mut missed, if ready && !caught_up => {
                    caught_up = true;
                    continue;
                }
                frame = socket.next() => frame,
            };
            let acknowledged = match frame {
                Ok(Some(Frame::Hello)) => {
                    (ready, *failures) = (true, 0);
                    self.connected().await;
                    continue;
                }
                Ok(Some(Frame::Disconnect(reason))) if reason == "link_disabled" => {
                    return ConnectionEnd::Broken(
                        "Socket Mode is turned off for the app".to_owned(),
                    );
                }
                Ok(Some(Frame::Disconnect(reason))) => {
                    tracing::info!(reason, "slack requested a new connection");
                    return ConnectionEnd::Refresh;
                }
                Ok(Some(Frame::Received(id, output))) => {
                    // Not kept is not acknowledged: Slack tells it again.
                    if let Err(error) = self.keep(*output).await {
                        tracing::error!(
                            causes = error.causes(),
                            "failed to record a slack message; slack will send it again"
                        );
                        return ConnectionEnd::Broken("the record could not be written".to_owned());
                    }
                    socket.acknowledge(&id).await
                }
                Ok(Some(Frame::Other(id))) => socket.acknowledge(&id).await,
                Ok(None) if ready => return ConnectionEnd::Refresh,
                Ok(None) => Err(SlackError::Unsure { why: "Slack closed the connection".into() }),
                Err(error) => Err(error),
            };
            if let Err(error) = acknowledged {
                return ConnectionEnd::Broken(error.to_string());
            }
        }
    }

    async fn connected(&self) {
        let own = self.engine.clone();
        {
            let mut now = self.engine.slack_state.now();
            now.connected_at = Some(own.now());
            now.problem = None;
        }
        tracing::info!(team = self.identity.team, "connected to slack");
        // What waits for Slack to be there again need not wait any longer.
        let hurried = self.engine.store.write(move |tx| {
            tx.slack_out_hurry(own.now())?;
            Ok::<_, ToolError>(())
        });
        if let Err(error) = hurried.await {
            tracing::error!(
                causes = error.causes(),
                "failed to hurry waiting slack messages; they keep their retry time"
            );
        }
        self.engine.slack_state.to_say.notify_one();
    }

    /// Records a message, if it is for us and new.
    async fn keep(&self, output: IncomingMessage) -> Result<(), ToolError> {
        let (own, me) = (self.engine.clone(), self.identity.user.clone());
        own.slack_state.now().last_event_at = Some(own.now());
        let settings = own.settings();
        let kept = self.engine.store.write(move |tx| keep(tx, &settings, &output, &me, own.now()));
        if kept.await? {
            self.engine.slack_state.heard.notify_one();
            self.engine.slack_state.to_say.notify_one();
        }
        Ok(())
    }

    /// Reads the messages that were missed.
    async fn catch_up(&self) {
        if let Err(error) = self.read_missed().await {
            tracing::warn!(causes = error.causes(), "failed to read missed slack messages");
        }
    }

    async fn read_missed(&self) -> Result<(), ToolError> {
        let since = self.engine.now().after_seconds(-LIVE);
        let (threads, channels) = self.engine.store.read(|tx| {
            Ok::<_, ToolError>((
                tx.slack_threads_live(since, THREADS)?,
                tx.slack_channels(CHANNELS)?,
            ))
        })?;
        for (channel, seen) in channels {
            let read = self.slack.history(&channel, &seen).await;
            let Some(newest) = self.take(read, &channel).await? else { continue };
            let moved = self
                .engine
                .store
                .write(move |tx| Ok::<_, ToolError>(tx.slack_channel_seen(&channel, &newest)?));
            moved.await?;
        }
        for thread in threads {
            let read = self.slack.replies(&thread.channel, &thread.ts, &thread.seen).await;
            let Some(newest) = self.take(read, &thread.channel).await? else { continue };
            let moved = self
                .engine
                .store
                .write(move |tx| Ok::<_, ToolError>(tx.slack_thread_seen(thread.number, &newest)?));
            moved.await?;
        }
        Ok(())
    }

    /// Keeps what was read, and gives the newest of it where nothing older was left.
    async fn take(
        &self,
        read: Result<host::slack::MessagePage, SlackError>,
        channel: &str,
    ) -> Result<Option<String>, ToolError> {
        let read = match read {
            Ok(read) => read,
            Err(error) => {
                // One channel that we were taken out of does not keep us from the others.
                tracing::warn!(channel, %error, "failed to read missed messages of a channel");
                return Ok(None);
            }
        };
        let newest = read.messages.last().map(|output| output.ts.clone());
        for output in read.messages {
            self.keep(output).await?;
        }
        if read.cut {
            tracing::warn!(
                channel,
                "too many missed messages in a channel; the oldest were not read"
            );
            return Ok(None);
        }
        Ok(newest)
    }
}

/// Records messages, in one transaction. False if none of them is new and for us.
fn keep(
    tx: &mut Tx<'_>,
    settings: &Settings,
    output: &IncomingMessage,
    me: &str,
    now: Timestamp,
) -> Result<bool, ToolError> {
    let thread = match tx.slack_thread_at(&output.channel, output.root())? {
        Some(_) => ThreadOwner::Ours,
        None => ThreadOwner::Others,
    };
    match decide_action(output, me, &settings.slack.users, thread) {
        MessageAction::Obey => {}
        MessageAction::Ignore => return Ok(false),
        MessageAction::Stranger => {
            let user = output.user.as_deref().unwrap_or_default();
            tracing::info!(
                user,
                channel = output.channel,
                "ignored a slack message: its author may not give orders"
            );
            return Ok(false);
        }
    }
    if tx.slack_message_known(&output.channel, &output.ts)? {
        return Ok(false);
    }
    let user = output.user.clone().unwrap_or_default();
    let text = plain(&output.text, me);
    let is_command = command(&text).is_some();
    // A direct-message channel is one thread: messages within a moment belong together.
    let joined = if output.thread.is_none() && output.is_direct() && !is_command {
        tx.slack_beginning(&output.channel, &user)?
    } else {
        None
    };
    let thread = joined.unwrap_or_else(|| output.root().to_owned());
    let (channel, ts) = (output.channel.clone(), output.ts.clone());
    let message = SlackMessage { number: 0, channel, ts, thread, user, text };
    let due = if is_command { now } else { after_millis(now, settings.slack.debounce_ms) };
    let is_first = tx.slack_waiting(&message.channel, &message.thread, &message.user)?.is_empty();
    tx.slack_message_insert(&message, due, now)?;
    if is_command {
        return Ok(true);
    }
    tx.slack_wait(&message, due)?;
    tx.slack_thread_begin(&message, now)?;
    if is_first {
        let place =
            ThreadPlace { channel: message.channel.clone(), thread: message.thread.clone() };
        say::mark(tx, &place, &message.ts, None, &settings.slack.reactions.received, now)?;
    }
    Ok(true)
}

fn after_millis(now: Timestamp, millis: u64) -> Timestamp {
    Timestamp::from_millis(now.as_millis().saturating_add(i64::try_from(millis).unwrap_or(0)))
}
