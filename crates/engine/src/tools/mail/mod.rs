//! `mail`: letters between agents, and between agents and the human.

pub(super) mod list_inbox;
pub(super) mod read;
pub(super) mod reply;
pub(super) mod send;

use model::{AgentId, MailId};
use store::{Mail, Recipient};
use wire::mail::{MailView, SentMail};

use crate::call::cx::{Caller, WriteCx};
use crate::core::error::ToolError;
use crate::mail::letter::{self, Letter};

/// Returns a letter as tools answer it.
fn mail_view(mail: Mail) -> MailView {
    MailView {
        id: mail.id,
        from_agent_id: mail.from,
        from_agent_type: mail.from_type,
        subject: mail.subject,
        body: mail.body,
        is_read: mail.read_at.is_some(),
        created_at: mail.created_at,
        read_at: mail.read_at,
    }
}

/// The inbox of whoever calls: an agent's own, or the human's.
fn inbox_of(caller: &Caller) -> Recipient {
    caller.id().map_or(Recipient::Human, Recipient::Agent)
}

/// A letter that the caller received, or why it is not theirs to see.
fn received(
    tx: &store::Tx<'_>,
    caller: &Caller,
    id: MailId,
    refusal: &str,
) -> Result<Mail, ToolError> {
    let mail = tx.mail_get(id)?.ok_or_else(|| {
        ToolError::not_found(format!("there is no mail `{id}`"))
            .hint("`list_inbox` with `includeRead: true` lists yours")
    })?;
    if mail.to == inbox_of(caller) {
        Ok(tx.mail_exact(mail)?)
    } else {
        Err(ToolError::denied(refusal))
    }
}

/// Puts a letter from the caller into an inbox and tells of it.
fn deliver(
    cx: &mut WriteCx<'_, '_>,
    to: Recipient,
    (subject, body): (String, String),
    reply_to: Option<MailId>,
) -> Result<SentMail, ToolError> {
    let from = cx.caller.agent.as_ref().map(|agent| (agent.id, agent.category.clone()));
    let letter = Letter { from, to, subject, body, reply_to, task: None };
    Ok(SentMail { mail_id: letter::post(cx.tx, letter, cx.now)?, timestamp: cx.now })
}

/// Recipient of mail for an agent, if there is one of that id. Mail to one that has ended goes on.
fn addressee(tx: &store::Tx<'_>, to: AgentId) -> Result<Recipient, ToolError> {
    letter::reader(tx, &crate::call::cx::find_agent(tx, to)?)
}
