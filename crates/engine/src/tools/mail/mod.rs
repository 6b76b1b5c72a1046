//! `mail`: mails between agents, and between agents and the human.

pub(super) mod list_inbox;
pub(super) mod read;
pub(super) mod reply;
pub(super) mod send;

use model::{AgentId, MailId};
use store::{Mail, Recipient};
use wire::event::{EventData, MailRead};
use wire::mail::{MailView, SentMail};

use crate::call::cx::{Caller, WriteCx};
use crate::core::error::ToolError;
use crate::mail::outgoing::{self, MailText, OutgoingMail};

/// Returns a mail as tools answer it.
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

/// Inbox of the caller: an agent's own, or the human's.
fn inbox_of(caller: &Caller) -> Recipient {
    caller.id().map_or(Recipient::Human, Recipient::Agent)
}

/// A mail that the caller received, or why it is not theirs to see.
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

/// Puts a mail from the caller into an inbox and tells of it. `None` writes to the human. Mail to an agent that has ended
/// goes on to its successor, and the answer says so.
fn deliver(
    cx: &mut WriteCx<'_, '_>,
    wanted: Option<AgentId>,
    word: MailText,
    reply_to: Option<MailId>,
) -> Result<SentMail, ToolError> {
    let agent = wanted.map(|id| crate::call::cx::find_agent(cx.tx, id)).transpose()?;
    let to = agent.map_or(Ok(Recipient::Human), |agent| outgoing::reader(cx.tx, &agent))?;
    let MailText { subject, body } = word;
    let message =
        OutgoingMail { from: cx.caller.sender(), to, subject, body, reply_to, task: None };
    let mail_id = outgoing::post(cx.tx, message, cx.now)?;
    let note = wanted.filter(|wanted| to != Recipient::Agent(*wanted)).map(|ended| match to {
        Recipient::Agent(next) => {
            format!("{ended} has ended; the mail went to {next}, which goes on with its work")
        }
        Recipient::Human => {
            format!("{ended} has ended and no agent goes on with its work; the mail is in the human's inbox")
        }
    });
    Ok(SentMail { mail_id, timestamp: cx.now, to_agent_id: to.agent(), note })
}

/// Marks a mail of the caller as read and tells of it, the first time.
fn mark_read(cx: &mut WriteCx<'_, '_>, mail_id: MailId) -> Result<bool, ToolError> {
    let is_first = cx.tx.mail_mark_read(mail_id, cx.now)?;
    if is_first {
        cx.tell(None, EventData::MailRead(MailRead { mail_id }))?;
    }
    Ok(is_first)
}
