//! Questions of agents to a person: mail to the human, and the reply to the agent.

use host::agent::PermissionVerdict;
use model::agent::{AgentEvent, AgentState};
use model::{AgentId, MailId, Timestamp};
use store::{Agent, EventDraft, Mail, NewMail, Question, Recipient, Sender, Tx};
use wire::event::{AgentAsked, EventData, MailSent};

use super::remembered;
use crate::call::cx::{find_agent, fresh};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::crew::transition;

/// Recorded answer to a request that an earlier `always` covers.
pub(crate) const REMEMBERED: &str = "allow, as always";

/// What became of an agent's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    /// A person is asked, or was before
    Open,
    /// An earlier answer covers it
    Allowed,
}

/// Puts an agent's question to the human, unless an earlier answer covers it. Asked again after a restart, it is put once.
pub(crate) async fn ask(
    engine: &Core,
    agent: &Agent,
    request: &str,
    tool: &str,
    input: &str,
) -> Result<Asking, ToolError> {
    let mail = fresh(MailId::from_bits)?;
    let question = Question {
        agent: agent.id,
        request: recorded_request(agent.attempt, request),
        tool: tool.to_owned(),
        mail,
        answer: None,
        pattern: remembered::pattern_of(tool, input),
    };
    let offer = match &question.pattern {
        Some(pattern) => format!(
            "Reply `allow`, `deny`, or `always` to allow `{pattern}` for the rest of its run, with a reason if you like.\n"
        ),
        None => "Reply `allow` or `deny`, with a reason if you like.\n".to_owned(),
    };
    let body = format!(
        "Agent {} ({}) asks whether it may use `{tool}` with:\n\n{input}\n\n{offer}",
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
) -> Result<Asking, ToolError> {
    let before = tx.questions_of(agent.id)?;
    if let Some(known) = before.iter().find(|known| known.request == question.request) {
        let is_remembered = known.answer.as_deref() == Some(REMEMBERED);
        return Ok(if is_remembered { Asking::Allowed } else { Asking::Open });
    }
    let is_covered = question.pattern.is_some()
        && before.iter().any(|known| {
            let answer = known.answer.as_deref().map(decide);
            known.pattern == question.pattern && answer == Some(Decision::Always)
        });
    tx.question_insert(question, now)?;
    if is_covered {
        tx.question_answer(agent.id, &question.request, REMEMBERED)?;
        return Ok(Asking::Allowed);
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
    let mut agent = find_agent(tx, agent.id)?;
    // The question stands wherever its agent does: one that waits for a review or its limit may ask, too.
    transition::unless_illegal(transition::advance(tx, &mut agent, AgentEvent::AskedInput, now))?;
    Ok(Asking::Open)
}

/// The answer that a mail is, if it is one: to which request, and what.
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
    let recorded = question.request.clone();
    let attempt = engine.store.read(|tx| tx.agent_get(agent))?.map_or(0, |agent| agent.attempt);
    engine
        .store
        .write(move |tx| {
            tx.mail_mark_read(id, now)?;
            tx.question_answer(agent, &recorded, &body)?;
            Ok::<_, ToolError>(())
        })
        .await?;
    let request = request_in(attempt, &question.request).unwrap_or_default();
    Ok(Some((request.to_owned(), verdict(&mail.body))))
}

/// Name under which a request is recorded. A program counts its requests anew in each attempt, and an answer must not
/// be taken for that of another request.
fn recorded_request(attempt: u32, request: &str) -> String {
    if attempt <= 1 { request.to_owned() } else { format!("{attempt}/{request}") }
}

/// The request of an attempt that was recorded under this name, if it is one of that attempt.
pub(crate) fn request_in(attempt: u32, recorded: &str) -> Option<&str> {
    if attempt <= 1 {
        return Some(recorded);
    }
    recorded.split_once('/').filter(|(number, _)| number.parse() == Ok(attempt)).map(|(_, it)| it)
}

/// What a person decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// This request
    Once,
    /// This one and those of its pattern, while the agent runs
    Always,
    /// Nothing
    Denied,
}

/// Interprets a reply: only a clear yes allows.
pub(crate) fn decide(reply: &str) -> Decision {
    let words = reply.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.take(2).map(str::to_lowercase).collect();
    let begins_with_word = reply.trim_start().starts_with(char::is_alphabetic);
    let is_yes = |word: &str| matches!(word, "allow" | "yes" | "y" | "ok" | "approve" | "approved");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        _ if !begins_with_word => Decision::Denied,
        ["always"] => Decision::Always,
        ["always", yes] if is_yes(yes) => Decision::Always,
        [yes, "always"] if is_yes(yes) => Decision::Always,
        [yes, ..] if is_yes(yes) => Decision::Once,
        _ => Decision::Denied,
    }
}

/// The verdict that a reply is for the agent.
pub(crate) fn verdict(reply: &str) -> PermissionVerdict {
    match decide(reply) {
        Decision::Once | Decision::Always => PermissionVerdict::Allow,
        Decision::Denied => PermissionVerdict::Deny(format!("a person said: {}", reply.trim())),
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
            let waiting = agent.filter(|agent| agent.state == AgentState::WaitingInput);
            if let Some(mut agent) = waiting.filter(|_| !open) {
                transition::advance(tx, &mut agent, AgentEvent::Continued, now)?;
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
        for no in [
            "deny",
            "no",
            "",
            "- yes",
            "allowing this would be wrong",
            "never",
            "yesterday",
            "always no",
            "always deny that",
        ] {
            assert!(matches!(verdict(no), PermissionVerdict::Deny(_)), "{no}");
        }
        for always in ["always", "Always.", "always allow", "yes, always", "allow always please"] {
            assert_eq!(decide(always), Decision::Always, "{always}");
            assert_eq!(verdict(always), PermissionVerdict::Allow, "{always}");
        }
        assert_eq!(decide("allow it as always"), Decision::Once);
        assert_eq!(decide(REMEMBERED), Decision::Once, "it covers nothing by itself");
    }
}
