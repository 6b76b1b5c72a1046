//! Queues outgoing messages and reactions as rows.

use model::slack::{MAX_MESSAGE_CHARS, mrkdwn, parts};
use model::{AgentId, MailId, Timestamp};
use store::{NewSlackOut, SlackAct, SlackOrder, Tx};

use crate::call::cx::fresh;
use crate::core::error::ToolError;
use crate::core::redact::redact;
use crate::core::settings::Settings;

/// Where a message is sent.
#[derive(Debug, Clone)]
pub(super) struct ThreadPlace {
    pub(super) channel: String,
    pub(super) thread: String,
}

/// Message to be sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    /// In Markdown
    pub(super) text: String,
    /// In whose name
    pub(super) name: Option<String>,
    /// The mail that it tells of
    pub(super) mail: Option<MailId>,
}

impl Words {
    /// Words of our own.
    pub(super) fn ours(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Says something, in as many parts as it takes.
pub(super) fn post(
    tx: &mut Tx<'_>,
    place: &ThreadPlace,
    words: &Words,
    now: Timestamp,
) -> Result<(), ToolError> {
    for part in parts(&mrkdwn(&redact(words.text.clone())), MAX_MESSAGE_CHARS) {
        out(tx, place, SlackAct::Post, part, words.name.clone(), words.mail, now)?;
    }
    Ok(())
}

/// Replaces the reaction that a message carries.
pub(super) fn mark(
    tx: &mut Tx<'_>,
    place: &ThreadPlace,
    ts: &str,
    old: Option<&str>,
    new: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    if old == Some(new) {
        return Ok(());
    }
    out(tx, place, SlackAct::Mark, ts.to_owned(), Some(new.to_owned()), None, now)?;
    if let Some(old) = old {
        out(tx, place, SlackAct::Unmark, ts.to_owned(), Some(old.to_owned()), None, now)?;
    }
    Ok(())
}

/// The same for the message that asked for an agent.
pub(super) fn mark_order(
    tx: &mut Tx<'_>,
    place: &ThreadPlace,
    order: &SlackOrder,
    new: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    mark(tx, place, &order.ts, order.mark.as_deref(), new, now)?;
    tx.slack_order_mark(order.agent, Some(new))?;
    Ok(())
}

fn out(
    tx: &mut Tx<'_>,
    place: &ThreadPlace,
    act: SlackAct,
    body: String,
    name: Option<String>,
    mail: Option<MailId>,
    now: Timestamp,
) -> Result<(), ToolError> {
    let id = fresh(model::DeliveryId::from_bits)?.to_string();
    let ThreadPlace { channel, thread } = place.clone();
    tx.slack_out_insert(&NewSlackOut { id, channel, thread, act, body, name, mail }, now)?;
    Ok(())
}

/// In whose name an agent speaks: its role's, as people know it.
pub(super) fn name_of(
    tx: &Tx<'_>,
    settings: &Settings,
    agent: AgentId,
) -> Result<Option<String>, ToolError> {
    let Some(agent) = tx.agent_get(agent)? else { return Ok(None) };
    let shown = settings.roles.get(&agent.role).and_then(|role| role.display_name.clone());
    Ok(Some(shown.unwrap_or(agent.role)))
}
