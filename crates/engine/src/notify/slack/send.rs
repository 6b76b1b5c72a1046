//! Sends messages, one after the other. One that may have been sent already is looked for first.

use std::sync::atomic::{AtomicBool, Ordering};

use host::slack::{NewMessage, Reaction, Slack, SlackError};
use model::slack::{is_transient, retry_delay_seconds};
use model::{EventKinds, Timestamp};
use store::{SlackAct, SlackOut};
use tokio_util::sync::CancellationToken;

use crate::core::error::ToolError;
use crate::core::follow::{EventReaction, NextRun};
use crate::notify::service::Notifications;

/// Of what was taken, so much is remembered.
const KEPT_MESSAGES: u32 = 1000;
/// Number of messages between two clean-ups.
const SWEEP: i64 = 64;
/// Slack's clock and ours may differ so much, in seconds.
const SKEW: i64 = 300;

/// Says until it is told to end.
pub(super) async fn run(engine: Notifications, shutdown: CancellationToken) {
    let nameless = AtomicBool::new(false);
    let mut sender = Sender { engine: engine.clone(), shutdown: shutdown.clone(), nameless };
    engine.follow(&mut sender, &shutdown).await;
}

/// Sends due messages. A bell announces each of them, so no event matters to it.
struct Sender {
    engine: Notifications,
    shutdown: CancellationToken,
    nameless: AtomicBool,
}

impl EventReaction for Sender {
    fn name(&self) -> String {
        "Slack's messages".to_owned()
    }

    fn kinds(&self) -> EventKinds {
        EventKinds::NONE
    }

    async fn react(&mut self) -> Result<NextRun, ToolError> {
        let turn = self.shutdown.run_until_cancelled(turn(&self.engine, &self.nameless)).await;
        turn.unwrap_or(Ok(NextRun::Never))
    }

    async fn rung(&mut self) {
        self.engine.slack_state.to_say.notified().await;
    }
}

/// Says what is due, and when to look again.
async fn turn(engine: &Notifications, nameless: &AtomicBool) -> Result<NextRun, ToolError> {
    let slack = match engine.slack_client() {
        None | Some(Err(_)) => return Ok(NextRun::News),
        Some(Ok(slack)) => slack,
    };
    loop {
        let due = engine.store.read(|tx| tx.slack_out_due(engine.now()))?;
        let Some(out) = due else { break };
        engine.may_act().await;
        let done = one(engine, &slack, &out, nameless).await?;
        let quiet = matches!(done, Err(SlackError::RateLimited { .. }));
        note(engine, out, done).await?;
        if quiet {
            break;
        }
    }
    let next = engine.store.read(|tx| tx.slack_out_next())?;
    Ok(NextRun::due(next, engine.now()))
}

/// One try.
async fn one(
    engine: &Notifications,
    slack: &Slack,
    out: &SlackOut,
    nameless: &AtomicBool,
) -> Result<Result<(), SlackError>, ToolError> {
    let what = &out.what;
    let reaction = match what.act {
        SlackAct::Post => None,
        SlackAct::Mark => Some(Reaction::Add),
        SlackAct::Unmark => Some(Reaction::Remove),
    };
    if let Some(reaction) = reaction {
        let name = what.name.as_deref().unwrap_or_default();
        return Ok(slack.react(reaction, &what.channel, &what.body, name).await);
    }
    let mut post = NewMessage {
        key: what.id.clone(),
        channel: what.channel.clone(),
        thread: what.thread.clone(),
        text: what.body.clone(),
        username: what.name.clone().filter(|_| !nameless.load(Ordering::Relaxed)),
    };
    if let Some(begun) = out.begun_at {
        match slack.is_posted(&post, &stamp(begun)).await {
            Ok(true) => return Ok(Ok(())),
            Ok(false) => {}
            Err(error) => return Ok(Err(error)),
        }
    }
    let (number, clock) = (out.number, engine.clone());
    engine
        .store
        .write(move |tx| Ok::<_, ToolError>(tx.slack_out_begin(number, clock.now())?))
        .await?;
    let done = slack.say(&post).await;
    let is_scope = matches!(&done, Err(SlackError::Refused { code }) if code == "missing_scope");
    if is_scope && post.username.take().is_some() {
        // Only an app with `chat:write.customize` may choose its name.
        nameless.store(true, Ordering::Relaxed);
        return Ok(slack.say(&post).await.map(|_| ()));
    }
    Ok(done.map(|_| ()))
}

/// A time as Slack writes it, a little before.
fn stamp(at: Timestamp) -> String {
    format!("{}.000000", at.as_millis() / 1000 - SKEW)
}

/// Writes down what came of a try.
async fn note(
    engine: &Notifications,
    out: SlackOut,
    done: Result<(), SlackError>,
) -> Result<(), ToolError> {
    let clock = engine.clone();
    let noted = engine.store.write(move |tx| {
        let now = clock.now();
        let error = match &done {
            Ok(()) => {
                tx.slack_out_end(&out, None, now)?;
                if out.number % SWEEP == 0 {
                    tx.slack_out_prune(KEPT_MESSAGES)?;
                }
                return Ok(());
            }
            Err(error) => error,
        };
        let (words, begun) = (error.to_string(), out.begun_at.unwrap_or(now));
        match error {
            SlackError::RateLimited { seconds } => {
                tx.slack_out_reschedule(out.number, &words, None, now.after_seconds(*seconds))?;
            }
            SlackError::Refused { code } if is_transient(code) => {
                let due = now.after_seconds(retry_delay_seconds(out.attempts));
                tx.slack_out_reschedule(out.number, &words, None, due)?;
            }
            SlackError::Unsure { .. } => {
                let due = now.after_seconds(retry_delay_seconds(out.attempts));
                tx.slack_out_reschedule(out.number, &words, Some(begun), due)?;
            }
            SlackError::Refused { .. } | SlackError::Address | SlackError::OddToken => {
                tracing::warn!(error = words, channel = out.what.channel, "slack rejected message");
                tx.slack_out_end(&out, Some(&words), now)?;
            }
        }
        Ok::<_, ToolError>(())
    });
    noted.await
}
