//! Questions of agents to a person: a letter to the human, and the reply taken back to the agent.

use host::agent::PermissionVerdict;
use model::agent::{AgentEvent, AgentState};
use model::{AgentId, MailId, Timestamp};
use store::{Agent, EventDraft, Mail, NewMail, Question, Recipient, Sender, Tx};
use wire::event::{AgentAsked, AgentStateChanged, EventData, MailSent};

use crate::call::cx::fresh;
use crate::core::error::ToolError;
use crate::core::handle::Core;

/// Puts an agent's question to the human. Asked again after a restart, it is put once.
pub(crate) async fn ask(
    engine: &Core,
    agent: &Agent,
    (request, tool, input): (&str, &str, &str),
) -> Result<(), ToolError> {
    let mail = fresh(MailId::from_bits)?;
    let question = Question {
        agent: agent.id,
        request: request.to_owned(),
        tool: tool.to_owned(),
        mail,
        answer: None,
    };
    let body = format!(
        "Agent {} ({}) asks whether it may use `{tool}` with:\n\n{input}\n\n\
         Reply `allow` or `deny`, with a reason if you like.\n",
        agent.id, agent.role
    );
    let (agent, now) = (agent.clone(), engine.now());
    engine.store.write(move |tx| put(tx, &agent, &question, &body, now)).await
}

fn put(
    tx: &mut Tx<'_>,
    agent: &Agent,
    question: &Question,
    body: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    if !tx.question_insert(question, now)? {
        return Ok(());
    }
    let subject = format!("May {} use {}?", agent.role, question.tool);
    let mail = NewMail {
        id: question.mail,
        from: Sender::Agent(agent.id, agent.category.clone()),
        to: Recipient::Human,
        subject: subject.clone(),
        body: body.to_owned(),
        reply_to: None,
    };
    tx.mail_insert(&mail, now)?;
    let sent = MailSent {
        mail_id: question.mail,
        to_agent_id: None,
        is_for_human: true,
        subject,
        forwarded_from_agent_id: None,
    };
    let asked = AgentAsked { mail_id: question.mail, tool: question.tool.clone() };
    for data in [EventData::MailSent(sent), EventData::AgentAsked(asked)] {
        tx.event_append(now, &EventDraft { agent: Some(agent.id), task: agent.task, data })?;
    }
    moved(tx, agent.id, AgentEvent::AskedInput, now)
}

/// Moves an agent, where it can be moved so, and tells of it.
pub(crate) fn moved(
    tx: &mut Tx<'_>,
    id: AgentId,
    event: AgentEvent,
    now: Timestamp,
) -> Result<(), ToolError> {
    let Some(mut agent) = tx.agent_get(id)? else { return Ok(()) };
    let Ok(state) = agent.state.apply(event, now) else { return Ok(()) };
    if state.name() == agent.state.name() {
        return Ok(());
    }
    agent.state = state;
    tx.agent_advance(id, &agent.state, now)?;
    let data = EventData::AgentStateChanged(AgentStateChanged::to(agent.state.name()));
    tx.event_append(now, &EventDraft { agent: Some(id), task: agent.task, data })?;
    Ok(())
}

/// The answer that a letter is, if it is one: to which request, and what.
pub(crate) async fn answer(
    engine: &Core,
    agent: AgentId,
    mail: &Mail,
) -> Result<Option<(String, PermissionVerdict)>, ToolError> {
    // Only a person's reply counts: an agent must not grant what it was refused.
    let (None, Some(question)) = (mail.from, mail.reply_to) else { return Ok(None) };
    let question = engine.store.read(|tx| tx.question_by_mail(question))?;
    let Some(question) = question.filter(|question| question.agent == agent) else {
        return Ok(None);
    };
    let (id, now, body) = (mail.id, engine.now(), mail.body.clone());
    let request = question.request.clone();
    engine
        .store
        .write(move |tx| {
            tx.mail_mark_read(id, now)?;
            tx.question_answer(agent, &request, &body)?;
            Ok::<_, ToolError>(())
        })
        .await?;
    Ok(Some((question.request, verdict(&mail.body))))
}

/// Interprets a reply: only a clear yes allows.
pub(crate) fn verdict(reply: &str) -> PermissionVerdict {
    let word: String = reply
        .trim_start()
        .chars()
        .take_while(|c| c.is_alphabetic())
        .collect::<String>()
        .to_lowercase();
    if matches!(word.as_str(), "allow" | "yes" | "y" | "ok" | "approve" | "approved") {
        PermissionVerdict::Allow
    } else {
        PermissionVerdict::Deny(format!("a person said: {}", reply.trim()))
    }
}

/// Records that an agent goes on, once nothing it asked is open.
pub(crate) async fn continued(engine: &Core, id: AgentId, attempt: u32) -> Result<(), ToolError> {
    let now = engine.now();
    engine
        .store
        .write(move |tx| {
            let open = tx.questions_of(id)?.iter().any(|question| question.answer.is_none());
            let agent = tx.agent_get(id)?.filter(|agent| agent.attempt == attempt);
            let waits = agent.is_some_and(|agent| agent.state == AgentState::WaitingInput);
            if waits && !open {
                moved(tx, id, AgentEvent::Continued, now)?;
            }
            Ok(())
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        for yes in ["allow", " Yes, go ahead", "OK", "allow: it is harmless"] {
            assert_eq!(verdict(yes), PermissionVerdict::Allow, "{yes}");
        }
        for no in ["deny", "no", "", "allowing this would be wrong", "never", "yesterday"] {
            assert!(matches!(verdict(no), PermissionVerdict::Deny(_)), "{no}");
        }
    }
}
