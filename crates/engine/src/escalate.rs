//! Tells others of failures that the caller cannot mend.

use model::event::EventKind;
use model::{MailId, Timestamp};
use serde_json::{Value, json};
use store::{Agent, EventDraft, NewMail, Recipient, Tx};

use crate::cx::fresh;
use crate::error::{Code, ToolError};
use crate::tool::ToolDef;

/// As many failures of one agent with one tool in [`WINDOW_SECONDS`] are a pattern.
const PATTERN: i64 = 3;
const WINDOW_SECONDS: i64 = 600;

/// Writes the letters that a failure asks for, in the transaction that records it. One letter an
/// agent, a tool and ten minutes.
pub(crate) fn escalate(
    tx: &mut Tx<'_>,
    agent: &Agent,
    tool: &ToolDef,
    body: &Value,
    now: Timestamp,
) -> Result<(), ToolError> {
    let code = body["code"].as_str().and_then(Code::parse).unwrap_or(Code::InternalError);
    let since = now.after_seconds(-WINDOW_SECONDS);
    let critical = tool.critical && !matches!(code, Code::InvalidInput | Code::PermissionDenied);
    let at_once = matches!(code, Code::InternalError | Code::TransientError | Code::ExternalError);
    // A void token's failures say nothing about the work.
    if code == Code::Unauthenticated {
        return Ok(());
    }
    let concerns = critical || at_once || tx.audit_failures(agent.id, tool.name, since)? >= PATTERN;
    if !concerns || !tx.escalation_claim(Some(agent.id), tool.name, since, now)? {
        return Ok(());
    }
    let superior = superior(tx, agent)?;
    let letter = |to: Recipient, subject: String| Letter { to, subject };
    let mut letters = Vec::new();
    if critical {
        letters
            .push(letter(Recipient::Human, format!("⚠️ CRITICAL: Tool Failure - {}", tool.name)));
    }
    if !critical || superior != Recipient::Human {
        letters.push(letter(superior, format!("Tool Failure: {}", tool.name)));
    }
    for letter in letters {
        send(tx, agent, letter, tool, body, now)?;
    }
    Ok(())
}

struct Letter {
    to: Recipient,
    subject: String,
}

/// Whom an agent's failures concern: its nearest live ancestor, else its epic's supervisor, else the
/// human.
fn superior(tx: &Tx<'_>, agent: &Agent) -> Result<Recipient, ToolError> {
    let above = tx.agent_ancestors(agent)?;
    if let Some(above) = above.iter().find(|above| above.ended_at().is_none()) {
        return Ok(Recipient::Agent(above.id));
    }
    let supervisor = match agent.epic {
        Some(epic) => tx.agent_supervising(epic)?.filter(|supervisor| supervisor.id != agent.id),
        None => None,
    };
    Ok(supervisor.map_or(Recipient::Human, |supervisor| Recipient::Agent(supervisor.id)))
}

#[expect(clippy::too_many_arguments, reason = "a letter has this many facts")]
fn send(
    tx: &mut Tx<'_>,
    agent: &Agent,
    letter: Letter,
    tool: &ToolDef,
    body: &Value,
    now: Timestamp,
) -> Result<(), ToolError> {
    let message = body["message"].as_str().unwrap_or_default();
    let text = format!(
        "Agent {} (role {}) failed with {}.\n\nCode: {}\nMessage: {message}\n",
        agent.id,
        agent.role,
        tool.name,
        body["code"].as_str().unwrap_or_default(),
    );
    let id = fresh(MailId::from_bits)?;
    let mail = NewMail {
        id,
        from: Some((agent.id, agent.category.clone())),
        to: letter.to,
        subject: letter.subject,
        body: text,
        reply_to: None,
    };
    tx.mail_insert(&mail, now)?;
    let event = EventDraft {
        kind: EventKind::MailSent,
        agent: Some(agent.id),
        task: agent.task,
        data: json!({
            "mailId": id,
            "toAgentId": letter.to.agent(),
            "isForHuman": letter.to == Recipient::Human,
            "subject": mail.subject,
        }),
    };
    tx.event_append(now, &event)?;
    Ok(())
}
