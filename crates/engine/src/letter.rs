//! Letters that Adjutant itself writes, or that somebody writes through it.

use model::event::EventKind;
use model::{AgentId, MailId, TaskId, Timestamp};
use serde_json::json;
use store::{Agent, EventDraft, NewMail, Recipient, Tx};

use crate::cx::fresh;
use crate::error::ToolError;

/// What a letter says.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    /// What it is about
    pub(crate) subject: String,
    /// What it says
    pub(crate) body: String,
}

/// A letter: what it says, and to whom.
#[derive(Debug, Clone)]
pub(crate) struct Letter {
    /// Who writes; nobody is the human
    pub(crate) from: Option<(AgentId, String)>,
    /// To whom
    pub(crate) to: Recipient,
    /// What it is about
    pub(crate) subject: String,
    /// What it says
    pub(crate) body: String,
    /// Which letter it answers
    pub(crate) reply_to: Option<MailId>,
    /// Which task it concerns
    pub(crate) task: Option<TaskId>,
}

impl Letter {
    /// A letter from an agent.
    pub(crate) fn from(agent: &Agent, to: Recipient, subject: String, body: String) -> Self {
        let from = Some((agent.id, agent.category.clone()));
        Self { from, to, subject, body, reply_to: None, task: agent.task }
    }
}

/// Puts a letter into an inbox, and tells of it.
pub(crate) fn send(tx: &mut Tx<'_>, letter: Letter, now: Timestamp) -> Result<MailId, ToolError> {
    let id = fresh(MailId::from_bits)?;
    let Letter { from, to, subject, body, reply_to, task } = letter;
    let sender = from.as_ref().map(|(agent, _)| *agent);
    let mail = NewMail { id, from, to, subject, body, reply_to };
    tx.mail_insert(&mail, now)?;
    let data = json!({
        "mailId": id, "toAgentId": to.agent(), "isForHuman": to == Recipient::Human,
        "subject": mail.subject,
    });
    tx.event_append(now, &EventDraft { kind: EventKind::MailSent, agent: sender, task, data })?;
    Ok(id)
}

/// Whom to tell what concerns an agent: its nearest live ancestor, else the human.
pub(crate) fn above(tx: &Tx<'_>, agent: &Agent) -> Result<Recipient, ToolError> {
    let live = tx.agent_ancestors(agent)?.into_iter().find(|above| above.ended_at().is_none());
    Ok(live.map_or(Recipient::Human, |above| Recipient::Agent(above.id)))
}
