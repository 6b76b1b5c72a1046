//! Reports failures that the caller cannot fix to others.

use model::Timestamp;
use serde_json::Value;
use store::{Agent, Recipient, Tx};

use crate::call::tool::ToolDef;
use crate::core::error::{Code, ToolError};
use crate::mail::outgoing::{self, OutgoingMail};

/// As many failures of one agent with one tool in [`WINDOW_SECONDS`] are a pattern.
const PATTERN: i64 = 3;
const WINDOW_SECONDS: i64 = 600;

/// Writes the mails that a failure asks for, in the transaction that records it. One mail an
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
    let mut letters = Vec::new();
    if critical {
        letters.push((Recipient::Human, format!("⚠️ CRITICAL: Tool Failure - {}", tool.name)));
    }
    if !critical || superior != Recipient::Human {
        letters.push((superior, format!("Tool Failure: {}", tool.name)));
    }
    let text = format!(
        "Agent {} (role {}) failed with {}.\n\nCode: {}\nMessage: {}\n",
        agent.id,
        agent.role,
        tool.name,
        body["code"].as_str().unwrap_or_default(),
        body["message"].as_str().unwrap_or_default(),
    );
    for (to, subject) in letters {
        outgoing::send(tx, OutgoingMail::about(agent, to, subject, text.clone()), now)?;
    }
    Ok(())
}

/// Recipient of an agent's failures: its nearest live ancestor, else its epic's supervisor, else the
/// human.
pub(crate) fn superior(tx: &Tx<'_>, agent: &Agent) -> Result<Recipient, ToolError> {
    if let above @ Recipient::Agent(_) = outgoing::above(tx, agent)? {
        return Ok(above);
    }
    let supervisor = match agent.epic {
        Some(epic) => tx.agent_supervising(epic)?.filter(|supervisor| supervisor.id != agent.id),
        None => None,
    };
    Ok(supervisor.map_or(Recipient::Human, |supervisor| Recipient::Agent(supervisor.id)))
}
