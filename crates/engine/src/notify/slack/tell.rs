//! From events to messages: an agent works, has ended, or writes to the human.

use std::fmt::Write as _;

use model::agent::{AgentState, Outcome};
use model::event::EventKind;
use model::{EventKinds, MailId, Timestamp};
use store::{Event, EventFilter, SlackThread, Tx};
use wire::event::EventData;

use super::say;
use super::say::{ThreadPlace, Words};
use crate::core::error::ToolError;
use crate::core::settings::Settings;
use crate::crew::result::{AgentResult, Status};
use crate::crew::run::view::AgentSnapshot;
use crate::notify::service::Notifications;

/// Events read per step.
const BATCH: u32 = 256;
/// Distance by which the cursor in memory may run ahead of the stored one.
const MAX_CURSOR_LEAD: i64 = 10_000;

/// Kinds of events that may concern a thread.
pub(super) const KINDS: EventKinds = EventKinds::of(&[
    EventKind::AgentStarted,
    EventKind::AgentStateChanged,
    EventKind::AgentFinished,
    EventKind::MailSent,
]);

/// Looks at the events that came since the last time.
pub(super) async fn follow(
    engine: &Notifications,
    seen: &mut Option<i64>,
) -> Result<(), ToolError> {
    let written = engine.store.read(|tx| tx.slack_events())?;
    let Some(written) = written else {
        // Nobody was asked for before the first time.
        let own = engine.clone();
        let begun = own.store.write(|tx| {
            let last = tx.event_last()?;
            tx.slack_events_seen(last)?;
            Ok::<_, ToolError>(last)
        });
        *seen = Some(begun.await?);
        return Ok(());
    };
    let mut at = seen.unwrap_or(written).max(written);
    loop {
        let filter = EventFilter { after: at, kind: None };
        let events = engine.store.read(|tx| tx.event_list(&filter, BATCH))?;
        let Some(newest) = events.last().map(|event| event.number) else { return Ok(()) };
        let wanted: Vec<(Event, EventData)> = events.into_iter().filter_map(wanted).collect();
        if !wanted.is_empty() || newest - written >= MAX_CURSOR_LEAD {
            let (own, settings) = (engine.clone(), engine.settings());
            let told = engine.store.write(move |tx| {
                let done = tx.slack_events()?.unwrap_or_default();
                for (event, data) in wanted.iter().filter(|(event, _)| event.number > done) {
                    tell(tx, &settings, event, data, own.now())?;
                }
                tx.slack_events_seen(newest.max(done))?;
                Ok::<_, ToolError>(())
            });
            told.await?;
        }
        at = newest;
        *seen = Some(at);
    }
}

/// Keeps an event that may concern a thread, with its payload.
fn wanted(event: Event) -> Option<(Event, EventData)> {
    let data = Some(&event).filter(|event| KINDS.contains(event.kind))?.decode()?;
    let is_for_agent = matches!(&data, EventData::MailSent(mail) if !mail.is_for_human);
    (!is_for_agent).then_some((event, data))
}

fn tell(
    tx: &mut Tx<'_>,
    settings: &Settings,
    event: &Event,
    data: &EventData,
    now: Timestamp,
) -> Result<(), ToolError> {
    match data {
        EventData::MailSent(mail) => message(tx, settings, event, mail.mail_id, now),
        EventData::AgentFinished(_) => over(tx, settings, event, now),
        EventData::AgentStarted(_) => working(tx, settings, event, now),
        EventData::AgentStateChanged(change) if change.state == model::AgentStateName::Running => {
            working(tx, settings, event, now)
        }
        _ => Ok(()),
    }
}

fn place_of(thread: &SlackThread) -> ThreadPlace {
    ThreadPlace { channel: thread.channel.clone(), thread: thread.ts.clone() }
}

fn working(
    tx: &mut Tx<'_>,
    settings: &Settings,
    event: &Event,
    now: Timestamp,
) -> Result<(), ToolError> {
    let Some(agent) = event.agent else { return Ok(()) };
    let Some(order) = tx.slack_order_of(agent)? else { return Ok(()) };
    let Some(thread) = tx.slack_thread_get(order.thread)? else { return Ok(()) };
    say::mark_order(tx, &place_of(&thread), &order, &settings.slack.reactions.working, now)
}

fn over(
    tx: &mut Tx<'_>,
    settings: &Settings,
    event: &Event,
    now: Timestamp,
) -> Result<(), ToolError> {
    let Some(agent) = event.agent else { return Ok(()) };
    let Some(order) = tx.slack_order_of(agent)? else { return Ok(()) };
    let Some(thread) = tx.slack_thread_get(order.thread)? else { return Ok(()) };
    let snapshot = AgentSnapshot::of(tx, agent)?;
    let AgentState::Ended { outcome, reason, .. } = &snapshot.agent.state else { return Ok(()) };
    let is_well = *outcome == Outcome::Succeeded;
    let result = snapshot.result();
    let text = if is_well {
        result.as_ref().map_or_else(|| "Done.".to_owned(), succeeded)
    } else {
        failed(&snapshot, reason, result.as_ref())
    };
    let place = place_of(&thread);
    let name = say::name_of(tx, settings, agent)?;
    say::post(tx, &place, &Words { text, name, mail: None }, now)?;
    let reactions = &settings.slack.reactions;
    let mark = if is_well { &reactions.success } else { &reactions.failure };
    say::mark_order(tx, &place, &order, mark, now)?;
    tx.slack_thread_save(&thread, now)?;
    Ok(())
}

fn succeeded(result: &AgentResult) -> String {
    let mut text = match result.status {
        Status::Success | Status::Failed => String::new(),
        Status::Partial => "*Done in part.*\n".to_owned(),
        Status::Blocked => "*Blocked.*\n".to_owned(),
    };
    text.push_str(if result.summary.trim().is_empty() { "Done." } else { result.summary.trim() });
    text.push('\n');
    lists(&mut text, result);
    text
}

fn failed(snapshot: &AgentSnapshot, reason: &str, result: Option<&AgentResult>) -> String {
    let agent = &snapshot.agent;
    let mut text = format!("**{}** `{}`: {reason}\n", agent.state.name(), agent.id);
    if let Some(result) = result {
        if !result.summary.trim().is_empty() && result.summary.trim() != reason.trim() {
            // Writing to a String cannot fail.
            _ = writeln!(text, "\n{}", result.summary.trim());
        }
        lists(&mut text, result);
    }
    text
}

fn lists(text: &mut String, result: &AgentResult) {
    let all = [
        ("Changes", &result.changes),
        ("Issues", &result.issues),
        ("Questions", &result.questions),
    ];
    for (title, items) in all.into_iter().filter(|(_, items)| !items.is_empty()) {
        _ = writeln!(text, "\n**{title}**");
        for item in items {
            _ = writeln!(text, "- {}", item.replace('\n', "\n  "));
        }
    }
    if let Some(url) = &result.pr_url {
        _ = writeln!(text, "\nPull request: {url}");
    }
}

/// The thread that an agent works for, itself or for one above it, else that of the task.
fn thread_of(tx: &Tx<'_>, event: &Event) -> Result<Option<SlackThread>, ToolError> {
    if let Some(agent) = event.agent.map(|id| tx.agent_get(id)).transpose()?.flatten() {
        let above = tx.agent_ancestors(&agent)?;
        for one in std::iter::once(&agent).chain(&above) {
            if let Some(order) = tx.slack_order_of(one.id)? {
                return Ok(tx.slack_thread_get(order.thread)?);
            }
        }
        if let Some(task) = agent.task {
            return Ok(tx.slack_thread_of(task)?);
        }
    }
    Ok(event.task.map(|task| tx.slack_thread_of(task)).transpose()?.flatten())
}

fn message(
    tx: &mut Tx<'_>,
    settings: &Settings,
    event: &Event,
    mail: MailId,
    now: Timestamp,
) -> Result<(), ToolError> {
    let Some(thread) = thread_of(tx, event)? else { return Ok(()) };
    let Some(mail) = tx.mail_get(mail)? else { return Ok(()) };
    let name = match mail.from {
        Some(agent) => say::name_of(tx, settings, agent)?,
        None => None,
    };
    let text = format!("**{}**\n{}", mail.subject.trim(), mail.body.trim());
    say::post(tx, &place_of(&thread), &Words { text, name, mail: Some(mail.id) }, now)?;
    tx.slack_thread_save(&thread, now)?;
    Ok(())
}
