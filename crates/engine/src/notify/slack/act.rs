//! Processes messages: all that one person wrote in a thread within the debounce time, in one transaction that also
//! crosses it out.

use std::sync::Arc;

use model::Timestamp;
use model::slack::{MessageCommand, parse_command};
use store::{SlackMessage, Tx};

use super::say::{ThreadPlace, Words};
use super::{order, say, words};
use crate::core::error::{Code, ToolError};
use crate::core::settings::Settings;
use crate::notify::service::Notifications;

/// Messages processed together.
pub(super) struct Batch<'a> {
    pub(super) engine: &'a Notifications,
    pub(super) settings: &'a Settings,
    /// The messages, oldest first; there is one at least
    pub(super) first: SlackMessage,
    pub(super) text: String,
    pub(super) now: Timestamp,
}

impl Batch<'_> {
    pub(super) fn place(&self) -> ThreadPlace {
        ThreadPlace { channel: self.first.channel.clone(), thread: self.first.thread.clone() }
    }

    /// Says something of our own in its thread.
    pub(super) fn answer(&self, tx: &mut Tx<'_>, text: String) -> Result<(), ToolError> {
        say::post(tx, &self.place(), &Words::ours(text), self.now)
    }
}

/// Command in a message. An empty message asks for help.
pub(super) fn command(text: &str) -> Option<MessageCommand> {
    if text.trim().is_empty() { Some(MessageCommand::Help) } else { parse_command(text) }
}

/// Acts on what is due first. False where nothing is.
pub(super) async fn one(engine: &Notifications) -> Result<bool, ToolError> {
    let Some(due) = engine.store.read(|tx| tx.slack_message_due(engine.now()))? else {
        return Ok(false);
    };
    let (own, settings, message) = (engine.clone(), engine.settings(), due.clone());
    let done = engine.store.write(move |tx| act(tx, &own, &settings, &message)).await;
    let Err(error) = done else { return Ok(true) };
    // What is wrong with the order is told to the person who gave it; what is wrong with us is tried again.
    if error.is_transient() || error.code == Code::InternalError {
        return Err(error);
    }
    tracing::info!(
        channel = due.channel,
        ts = due.ts,
        message = error.message,
        "slack message not processed; the sender was told why"
    );
    let (own, settings) = (engine.clone(), engine.settings());
    let refused = engine.store.write(move |tx| refuse(tx, &own, &settings, &due, &error));
    refused.await?;
    Ok(true)
}

/// Everything that belongs to a message, claimed for processing; nothing where another turn was quicker.
fn take(tx: &mut Tx<'_>, due: &SlackMessage) -> Result<Option<(SlackMessage, String)>, ToolError> {
    let all = if command(&due.text).is_some() {
        vec![due.clone()]
    } else {
        let waiting = tx.slack_waiting(&due.channel, &due.thread, &due.user)?;
        waiting.into_iter().filter(|one| command(&one.text).is_none()).collect()
    };
    let mut taken = Vec::new();
    for one in all {
        if tx.slack_message_taken(one.number)? {
            taken.push(one);
        }
    }
    let text = taken.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n");
    Ok(taken.into_iter().next().map(|first| (first, text)))
}

fn act(
    tx: &mut Tx<'_>,
    engine: &Notifications,
    settings: &Arc<Settings>,
    due: &SlackMessage,
) -> Result<(), ToolError> {
    let Some((first, text)) = take(tx, due)? else { return Ok(()) };
    let batch = Batch { engine, settings, now: engine.now(), first, text };
    match command(&batch.text) {
        Some(word) => words::answer(tx, &batch, word),
        None => order::give(tx, &batch),
    }
}

/// Tells the person who gave an order why it cannot be done.
fn refuse(
    tx: &mut Tx<'_>,
    engine: &Notifications,
    settings: &Arc<Settings>,
    due: &SlackMessage,
    error: &ToolError,
) -> Result<(), ToolError> {
    let Some((first, text)) = take(tx, due)? else { return Ok(()) };
    let batch = Batch { engine, settings, now: engine.now(), first, text };
    let mut output = vec![format!("This failed: {}", error.message)];
    output.extend(error.suggestions.iter().cloned());
    batch.answer(tx, output.join("\n"))?;
    if command(&batch.text).is_none() {
        let (received, failure) =
            (&settings.slack.reactions.received, &settings.slack.reactions.failure);
        let (ts, old) = (batch.first.ts.as_str(), Some(received.as_str()));
        say::mark(tx, &batch.place(), ts, old, failure, batch.now)?;
    }
    Ok(())
}
