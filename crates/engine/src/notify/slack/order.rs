//! Orders: the first in a thread makes a task and an agent, later ones reach the agent that works on it.

use std::fmt::Write as _;

use model::slack::{find_role, route, split_addressee};
use model::{AgentId, TaskRef};
use serde_json::json;
use store::{Agent, Mail, Recipient, Sender, SlackOrder, SlackThread, Tx};

use super::act::Batch;
use crate::call::cx::{Caller, WriteCx, find_agent};
use crate::core::error::ToolError;
use crate::core::redact::redact;
use crate::crew::run::{Draft, draft};
use crate::mail::asking;
use crate::mail::outgoing::{self, OutgoingMail};

/// Characters of a message used as a subject.
const SUBJECT: usize = 80;

/// Carries out a request.
pub(super) fn give(tx: &mut Tx<'_>, batch: &Batch<'_>) -> Result<(), ToolError> {
    let first = &batch.first;
    tx.slack_thread_begin(first, batch.now)?;
    let Some(mut thread) = tx.slack_thread_at(&first.channel, &first.thread)? else {
        return Ok(());
    };
    if thread.role.is_none() {
        return begin(tx, batch, thread);
    }
    // Something happened in it, so it is looked after for longer.
    tx.slack_thread_save(&thread, batch.now)?;
    let open = open_questions(tx, &thread)?;
    if let Some((mail, agent)) = open.first() {
        return reply(tx, batch, mail, agent, open.len() - 1);
    }
    let orders = tx.slack_orders(thread.number)?;
    for order in &orders {
        let agent = find_agent(tx, order.agent)?;
        if agent.ended_at().is_none() {
            return write_to(tx, batch, &agent);
        }
    }
    let before = orders.first().map(|order| order.agent);
    dispatch(tx, batch, &mut thread, batch.text.clone(), before)
}

/// The first order of a thread, or the answer to the question who is to do it.
fn begin(tx: &mut Tx<'_>, batch: &Batch<'_>, mut thread: SlackThread) -> Result<(), ToolError> {
    let settings = batch.settings;
    let roles: Vec<&str> = settings.roles.keys().map(String::as_str).collect();
    let text = batch.text.as_str();
    let (role, cwd, text) = if let Some(waiting) = thread.text.take() {
        match (find_role(text, &roles), split_addressee(text, &roles)) {
            (Some(role), _) => (role, None, waiting),
            (None, Some((role, rest))) => (role, None, format!("{waiting}\n{rest}")),
            (None, None) => return ask(tx, batch, thread, format!("{waiting}\n{text}")),
        }
    } else {
        let rule = |text: &str| {
            let mut rules = settings.routing.rules.iter();
            let rule = rules.find(|rule| rule.pattern.is_match(text))?;
            Some((rule.role.clone(), rule.cwd.clone()))
        };
        match route(text, &roles, rule, settings.routing.default.as_deref()) {
            Some(route) => (route.role, route.cwd, route.text),
            None => return ask(tx, batch, thread, text.to_owned()),
        }
    };
    thread.role = Some(role);
    thread.cwd = cwd;
    dispatch(tx, batch, &mut thread, text, None)
}

/// Asks who is to do it, and keeps what is to be done.
fn ask(
    tx: &mut Tx<'_>,
    batch: &Batch<'_>,
    mut thread: SlackThread,
    text: String,
) -> Result<(), ToolError> {
    thread.text = Some(text);
    tx.slack_thread_save(&thread, batch.now)?;
    let mut roles = String::new();
    for role in batch.settings.roles.values() {
        let about = role.description.as_deref().map(|about| format!(": {about}"));
        // Writing to a String cannot fail.
        _ = writeln!(roles, "- `{}`{}", role.name, about.unwrap_or_default());
    }
    if roles.is_empty() {
        return batch.answer(tx, "There is no role yet. Add one to `roles/`.".to_owned());
    }
    let name = batch.settings.roles.keys().next().map_or("", String::as_str);
    batch.answer(
        tx,
        format!(
            "Which role? Reply in this thread with one of these, for example `{name}`:\n{roles}"
        ),
    )
}

/// Has an agent of the thread's role do something on the thread's task.
fn dispatch(
    tx: &mut Tx<'_>,
    batch: &Batch<'_>,
    thread: &mut SlackThread,
    prompt: String,
    before: Option<AgentId>,
) -> Result<(), ToolError> {
    let (settings, first) = (batch.settings, &batch.first);
    let draft_request = Draft {
        role: thread.role.clone(),
        prompt,
        task: thread.task.map(TaskRef::Id),
        cwd: thread.cwd.clone(),
        resume: before.map(|id| resumable(tx, batch, thread, id)).transpose()?.flatten(),
        ..Draft::default()
    };
    let caller = Caller { agent: None, by_operator: true };
    let mut cx = WriteCx { tx, caller: &caller, settings, now: batch.now };
    let drafted = draft::draft(&mut cx, &draft_request)?;
    thread.task = find_agent(tx, drafted.id)?.task;
    thread.text = None;
    tx.slack_thread_save(thread, batch.now)?;
    tx.slack_order_insert(&SlackOrder {
        agent: drafted.id,
        thread: thread.number,
        ts: first.ts.clone(),
        user: first.user.clone(),
        mark: Some(settings.slack.reactions.received.clone()),
    })?;
    let input = json!({
        "source": "slack", "user": first.user, "channel": first.channel, "thread": first.thread,
        "ts": first.ts, "role": draft_request.role, "prompt": draft_request.prompt, "cwd": draft_request.cwd, "resume": draft_request.resume,
    });
    let output = json!({ "agentId": drafted.id, "taskSlug": drafted.task_slug });
    let input = redact(input.to_string());
    let row = batch.engine.operator_row("operator__slack_order", Some(drafted.id), input, &output);
    tx.audit_append(&row)?;
    Ok(())
}

/// The agent, where a successor can resume its conversation.
fn resumable(
    tx: &Tx<'_>,
    batch: &Batch<'_>,
    thread: &SlackThread,
    id: AgentId,
) -> Result<Option<AgentId>, ToolError> {
    let agent = find_agent(tx, id)?;
    let role = thread.role.as_ref().and_then(|role| batch.settings.roles.get(role));
    let kind = role.and_then(|role| role.kind.as_ref()).unwrap_or(&batch.settings.default_kind);
    let can = host::agent::kind(kind).is_some_and(|kind| kind.supports().resume);
    let began = tx.run_get(id)?.is_some_and(|run| run.conversation.is_some());
    Ok((can && began && agent.kind == *kind).then_some(id))
}

/// Open questions of a thread's agents, newest first.
fn open_questions(tx: &Tx<'_>, thread: &SlackThread) -> Result<Vec<(Mail, Agent)>, ToolError> {
    let mut open = Vec::new();
    for id in tx.slack_mails(&thread.channel, &thread.ts)? {
        let Some(mail) = tx.mail_get(id)? else { continue };
        let Some(agent) = mail.from.map(|from| tx.agent_get(from)).transpose()?.flatten() else {
            continue;
        };
        let asks =
            tx.question_by_mail(id)?.is_some() || asking::is_question(&mail.subject, &mail.body);
        let settled = tx.mail_settled_by(id)?.is_some();
        if asks && !settled && agent.ended_at().is_none() {
            open.push((mail, agent));
        }
    }
    Ok(open)
}

/// Takes an answer to the agent that asked.
fn reply(
    tx: &mut Tx<'_>,
    batch: &Batch<'_>,
    mail: &Mail,
    agent: &Agent,
    others: usize,
) -> Result<(), ToolError> {
    tx.mail_mark_read(mail.id, batch.now)?;
    let subject = if mail.subject.starts_with("Re: ") {
        mail.subject.clone()
    } else {
        format!("Re: {}", mail.subject)
    };
    let message = OutgoingMail {
        from: Sender::Human,
        to: Recipient::Agent(agent.id),
        subject,
        body: batch.text.clone(),
        reply_to: Some(mail.id),
        task: agent.task,
    };
    deliver(tx, batch, agent, message)?;
    if others == 0 {
        return Ok(());
    }
    let text = format!(
        "Sent to `{}` as the answer to *{}*. {others} more questions in this thread wait for an answer.",
        agent.role, mail.subject
    );
    batch.answer(tx, text)
}

/// Writes to an agent that is at work.
fn write_to(tx: &mut Tx<'_>, batch: &Batch<'_>, agent: &Agent) -> Result<(), ToolError> {
    let line = batch.text.lines().next().unwrap_or_default();
    let subject: String = line.chars().filter(|c| !c.is_control()).take(SUBJECT).collect();
    let message = OutgoingMail {
        from: Sender::Human,
        to: Recipient::Agent(agent.id),
        subject,
        body: batch.text.clone(),
        reply_to: None,
        task: agent.task,
    };
    deliver(tx, batch, agent, message)
}

fn deliver(
    tx: &mut Tx<'_>,
    batch: &Batch<'_>,
    agent: &Agent,
    message: OutgoingMail,
) -> Result<(), ToolError> {
    let reply_to = message.reply_to;
    let id = outgoing::send(tx, message, batch.now)?;
    let first = &batch.first;
    let input = json!({
        "source": "slack", "user": first.user, "channel": first.channel, "thread": first.thread,
        "ts": first.ts, "toAgentId": agent.id, "replyTo": reply_to, "body": batch.text,
    });
    let (input, output) = (redact(input.to_string()), json!({ "mailId": id }));
    let row = batch.engine.operator_row("operator__slack_letter", Some(agent.id), input, &output);
    tx.audit_append(&row)?;
    Ok(())
}
