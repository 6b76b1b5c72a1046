//! Mail that Adjutant itself writes, or that agents and people write through it.

use model::{MailId, TaskId, Timestamp};
use store::{Agent, EventDraft, Inbox, Mail, NewMail, Recipient, Sender, Tx};
use wire::event::{EventData, MailSent};

use crate::core::error::ToolError;
use crate::core::record::{fresh, task_of};

/// Content of a mail.
#[derive(Debug, Clone)]
pub(crate) struct MailText {
    /// Subject
    pub(crate) subject: String,
    /// Decoded body
    pub(crate) body: String,
}

/// A mail: what it says, and to whom.
#[derive(Debug, Clone)]
pub(crate) struct OutgoingMail {
    /// Sender
    pub(crate) from: Sender,
    /// To whom
    pub(crate) to: Recipient,
    /// Subject
    pub(crate) subject: String,
    /// Decoded body
    pub(crate) body: String,
    /// Mail that it replies to
    pub(crate) reply_to: Option<MailId>,
    /// Task concerned
    pub(crate) task: Option<TaskId>,
}

impl OutgoingMail {
    /// A mail from Adjutant itself about an agent, which a reply goes to.
    pub(crate) fn about(agent: &Agent, to: Recipient, subject: String, body: String) -> Self {
        let from = Sender::System(Some(agent.id));
        Self { from, to, subject, body, reply_to: None, task: agent.task }
    }
}

/// The sender of a mail as an agent is told of it.
pub(crate) fn sender_name(mail: &Mail) -> String {
    match mail.from {
        Some(about) if mail.is_system => format!("Adjutant itself, about {about}"),
        None if mail.is_system => "Adjutant itself".to_owned(),
        Some(from) => from.to_string(),
        None => "the human".to_owned(),
    }
}

/// Unread mails are forwarded so many at a time.
const FORWARDED_AT_ONCE: u32 = 200;

/// Puts a mail into an inbox, and tells of it. What is for an agent that has ended goes on at once.
pub(crate) fn send(
    tx: &mut Tx<'_>,
    outgoing: OutgoingMail,
    now: Timestamp,
) -> Result<MailId, ToolError> {
    let agent = outgoing.to.agent().map(|id| tx.agent_get(id)).transpose()?.flatten();
    let to = agent.map_or(Ok(outgoing.to), |agent| reader(tx, &agent))?;
    post(tx, OutgoingMail { to, ..outgoing }, now)
}

/// Puts a mail into the inbox of a recipient that [`reader`] gave or that is the human's, and tells of it.
pub(crate) fn post(
    tx: &mut Tx<'_>,
    outgoing: OutgoingMail,
    now: Timestamp,
) -> Result<MailId, ToolError> {
    let id = fresh(MailId::from_bits)?;
    let OutgoingMail { from, to, subject, body, reply_to, task } = outgoing;
    let sender = from.agent();
    let mail = NewMail { id, from, to, subject, body, reply_to };
    tx.mail_insert(&mail, now)?;
    let data = EventData::MailSent(MailSent {
        mail_id: id,
        to_agent_id: to.agent(),
        is_for_human: to == Recipient::Human,
        subject: mail.subject,
        forwarded_from_agent_id: None,
    });
    tx.event_append(now, &EventDraft { agent: sender, task, data })?;
    Ok(id)
}

/// Resolves who reads mail for an agent: the agent itself, or the successor of one that has ended.
pub(crate) fn reader(tx: &Tx<'_>, agent: &Agent) -> Result<Recipient, ToolError> {
    match agent.ended_at() {
        Some(_) => reader_after(tx, agent),
        None => Ok(Recipient::Agent(agent.id)),
    }
}

/// Resolves the successor of an ended agent: the newest live agent of its task, the supervisor of the epic that it led,
/// else the human.
fn reader_after(tx: &Tx<'_>, agent: &Agent) -> Result<Recipient, ToolError> {
    let Some(task) = task_of(tx, agent.task)? else {
        let epic = agent.epic.filter(|_| agent.category == "supervisor");
        let next = epic.map(|epic| tx.agent_supervising(epic)).transpose()?.flatten();
        return Ok(next.map_or(Recipient::Human, |next| Recipient::Agent(next.id)));
    };
    for dispatch in tx.dispatch_list(task.number)?.into_iter().rev() {
        if tx.agent_is_live(dispatch.agent)? {
            return Ok(Recipient::Agent(dispatch.agent));
        }
    }
    Ok(Recipient::Human)
}

/// Forwards what an agent did not read before it ended. To be called in the transaction of its end, after its successor
/// was recorded, if it has one.
pub(crate) fn forward_unread(
    tx: &mut Tx<'_>,
    agent: &Agent,
    now: Timestamp,
) -> Result<(), ToolError> {
    if tx.mail_unread_count(Recipient::Agent(agent.id))? == 0 {
        return Ok(());
    }
    let to = reader_after(tx, agent)?;
    hand_over_unread(tx, agent, to, now)
}

/// Forwards every unread mail of an agent, and writes an event for each.
pub(crate) fn hand_over_unread(
    tx: &mut Tx<'_>,
    agent: &Agent,
    to: Recipient,
    now: Timestamp,
) -> Result<(), ToolError> {
    let note = format!(
        "[Forwarded by Adjutant: this was for agent {} ({}), which ended without reading it.]\n\n",
        agent.id, agent.role
    );
    let own = Recipient::Agent(agent.id);
    loop {
        let unread = tx.mail_inbox(own, Inbox::Unread, 0, FORWARDED_AT_ONCE)?.items;
        if unread.is_empty() || to == own {
            return Ok(());
        }
        for mail in unread {
            tx.mail_forward(mail.id, to, &note)?;
            let data = EventData::MailSent(MailSent {
                mail_id: mail.id,
                to_agent_id: to.agent(),
                is_for_human: to == Recipient::Human,
                subject: mail.subject,
                forwarded_from_agent_id: Some(agent.id),
            });
            let event = EventDraft { agent: mail.from, task: agent.task, data };
            tx.event_append(now, &event)?;
        }
    }
}

/// Recipient of news about an agent: its nearest live ancestor, else the human.
pub(crate) fn above(tx: &Tx<'_>, agent: &Agent) -> Result<Recipient, ToolError> {
    let live = tx.agent_ancestors(agent)?.into_iter().find(|above| above.ended_at().is_none());
    Ok(live.map_or(Recipient::Human, |above| Recipient::Agent(above.id)))
}
