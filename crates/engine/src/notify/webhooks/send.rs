//! One try to deliver a message, and what is written down of it.

use std::time::Duration;

use host::post::{PostError, PostResponse};
use model::webhook::{self, AttemptVerdict, DeliveryState};
use model::{DeliveryId, Timestamp};
use store::{
    Delivery, DeliveryAttempt, Event, EventDraft, EventFilter, RESENT_LINE_PREFIX, Recipient,
    Sender, Tx, Webhook,
};
use tokio_util::sync::CancellationToken;
use wire::event::{EventData, WebhookDead, WebhookDisabled};

use super::message::{Content, message};
use super::{STORE_RETRY_DELAY, hash_of};
use crate::core::error::ToolError;
use crate::core::settings::{WebhookKey, WebhookSettings};
use crate::mail::outgoing::{self, OutgoingMail};
use crate::notify::service::Notifications;

/// Grace period of a delivery when the server ends.
const GRACE: Duration = Duration::from_secs(2);
/// Attempts to record the outcome of a delivery.
const WRITES: u32 = 5;
/// Of those that were taken, so many are remembered;
const KEPT_DELIVERIES: u32 = 200;
/// of those that were given up, so many.
const GIVEN_UP: u32 = 10_000;
/// Number of messages between two clean-ups.
const SWEEP: i64 = 16;
/// Time without a successful delivery after which a webhook is disabled, in seconds.
const MAX_RETRY_SECONDS: i64 = 5 * 86_400;
/// Characters kept of a receiver's response.
const MAX_ERROR_CHARS: usize = 300;
/// Parts of an address that are so long may be secrets.
const LONG_PART: usize = 12;

/// Outcome of an attempt.
struct Outcome {
    verdict: AttemptVerdict,
    tried: DeliveryAttempt,
}

/// Tries once, and writes down what came of it. Says until when the receiver wants to be left alone, if it does.
pub(super) async fn send(
    engine: &Notifications,
    hook: &WebhookSettings,
    delivery: Delivery,
    shutdown: &CancellationToken,
) -> Option<Timestamp> {
    let outcome = tokio::select! {
        outcome = attempt(engine, hook, &delivery) => outcome,
        () = async { shutdown.cancelled().await; tokio::time::sleep(GRACE).await } => return None,
    };
    let Outcome { verdict, tried } = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            tracing::error!(
                webhook = hook.name,
                causes = error.causes(),
                "failed to create webhook messages"
            );
            pause(shutdown).await;
            return None;
        }
    };
    let (id, name) = (delivery.id, hook.name.as_str());
    tracing::debug!(webhook = name, %id, ?verdict, error = tried.error, "webhook delivery attempted");
    let until = match verdict {
        AttemptVerdict::Again { seconds, .. } => spread(engine.now(), seconds),
        AttemptVerdict::Taken | AttemptVerdict::Dead | AttemptVerdict::Gone => engine.now(),
    };
    for _ in 0..WRITES {
        let note = Note {
            hook: hook.clone(),
            delivery: delivery.clone(),
            tried: tried.clone(),
            verdict,
            until,
        };
        let clock = engine.clone();
        let written =
            engine.store.write(move |tx| note.write(tx, &clock.project_name(), clock.now())).await;
        match written {
            Ok(()) => break,
            // The message is sent again then: the receiver knows it by its id.
            Err(error) => {
                tracing::error!(webhook = name, %id, causes = error.causes(), "failed to record a webhook attempt");
                pause(shutdown).await;
            }
        }
    }
    matches!(verdict, AttemptVerdict::Again { quiet: true, .. }).then_some(until)
}

async fn pause(shutdown: &CancellationToken) {
    // Told to end meanwhile, there is nothing to wait for.
    _ = shutdown.run_until_cancelled(tokio::time::sleep(STORE_RETRY_DELAY)).await;
}

/// The event that a message tells of.
pub(super) fn event_of(tx: &Tx<'_>, number: i64) -> Result<Option<Event>, ToolError> {
    let filter = EventFilter { after: number - 1, kind: None };
    let found = tx.event_list(&filter, 1)?.pop();
    Ok(found.filter(|event| event.number == number))
}

async fn attempt(
    engine: &Notifications,
    hook: &WebhookSettings,
    delivery: &Delivery,
) -> Result<Outcome, ToolError> {
    let event = engine.store.read(|tx| event_of(tx, delivery.event))?;
    let Some(event) = event else {
        // The event was removed from the record by hand; there is nothing to send.
        let error = Some("the event was removed from the record".to_owned());
        return Ok(Outcome {
            verdict: AttemptVerdict::Dead,
            tried: DeliveryAttempt { status: None, error },
        });
    };
    let content = Content::of(&event, &engine.project_name());
    engine.may_act().await;
    let (reply, tried) = post(engine, hook, delivery.id, &content).await;
    Ok(Outcome { verdict: webhook::judge(reply, delivery.attempts + 1, hook.attempts), tried })
}

/// Posts a message, and says what came back, for us and for people.
pub(super) async fn post(
    engine: &Notifications,
    hook: &WebhookSettings,
    id: DeliveryId,
    content: &Content,
) -> (webhook::WebhookReply, DeliveryAttempt) {
    let message = message(hook, id, content, engine.now());
    let sent =
        engine.webhook_state.poster().post(&message.url, &message.headers, message.body).await;
    match sent {
        Ok(reply) => {
            let tried =
                DeliveryAttempt { status: Some(reply.status), error: problem(hook, &reply) };
            (webhook::WebhookReply::Status(reply.status, reply.retry_after), tried)
        }
        Err(error) => {
            let why = match &error {
                PostError::Broken { why } => harmless(hook, why),
                PostError::Address | PostError::Header(_) | PostError::Late(_) => error.to_string(),
            };
            (webhook::WebhookReply::None, DeliveryAttempt { status: None, error: Some(why) })
        }
    }
}

/// Problem with a response, if any.
fn problem(hook: &WebhookSettings, reply: &PostResponse) -> Option<String> {
    let PostResponse { status, location, body, .. } = reply;
    match status {
        200..=299 => None,
        300..=399 => {
            let to = location.as_deref().map(crate::core::settings::shown_url).unwrap_or_default();
            Some(format!(
                "it sends us elsewhere ({status}, `{to}`); redirects are not followed, so write the new \
                 address into the configuration"
            ))
        }
        _ => {
            let output = harmless(hook, body);
            let output = output.split_whitespace().collect::<Vec<_>>().join(" ");
            let output = if output.is_empty() { output } else { format!(": {output}") };
            Some(format!("it answered with {status}{output}"))
        }
    }
}

/// Sanitises a response: bounded and without credentials.
fn harmless(hook: &WebhookSettings, text: &str) -> String {
    let mut text: String = text.chars().take(MAX_ERROR_CHARS * 4).collect();
    if let WebhookKey::Secret(secret) = &hook.key {
        text = text.replace(secret.reveal(), "…");
    }
    let (_, rest) = hook.url.split_once("://").unwrap_or_default();
    for part in rest.split(['/', '?', '&', '=']).skip(1).filter(|part| part.len() >= LONG_PART) {
        text = text.replace(part, "…");
    }
    crate::core::redact::redact(text).chars().take(MAX_ERROR_CHARS).collect()
}

/// A time in so many seconds and up to a fifth more, so that not everything comes at once.
fn spread(now: Timestamp, seconds: i64) -> Timestamp {
    let millis = seconds.saturating_mul(1000);
    // Without chance the wait is the shortest.
    let chance =
        i64::try_from(host::random::bits().unwrap_or_default() & 0x3ff).unwrap_or_default();
    now.after_millis(millis.saturating_add(millis / 5 * chance / 1023))
}

/// Record of an attempt.
struct Note {
    hook: WebhookSettings,
    delivery: Delivery,
    tried: DeliveryAttempt,
    verdict: AttemptVerdict,
    /// When the next try is
    until: Timestamp,
}

impl Note {
    fn write(&self, tx: &mut Tx<'_>, project: &str, now: Timestamp) -> Result<(), ToolError> {
        let Self { hook, delivery, tried, verdict, until } = self;
        let Some(row) = tx.webhook_get(&hook.name)? else { return Ok(()) };
        tx.webhook_attempted(&hook.name, tried, now)?;
        match verdict {
            AttemptVerdict::Taken => {
                tx.delivery_end(delivery, DeliveryState::Delivered, tried, now)?;
                if delivery.number % SWEEP == 0 {
                    tx.delivery_prune(&hook.name, DeliveryState::Delivered, KEPT_DELIVERIES)?;
                }
            }
            AttemptVerdict::Again { .. } => tx.delivery_reschedule(delivery.id, tried, *until)?,
            AttemptVerdict::Dead => self.give_up(tx, &row, project, now)?,
            // The message waits until a person enables the webhook again.
            AttemptVerdict::Gone => {
                self.disable(tx, "it answered with 410: it wants nothing any more", project, now)?;
            }
        }
        Ok(())
    }

    /// Writes a message off. The first one, after all before it were taken, is told to the human; one that the human
    /// has sent again is not.
    fn give_up(
        &self,
        tx: &mut Tx<'_>,
        row: &Webhook,
        project: &str,
        now: Timestamp,
    ) -> Result<(), ToolError> {
        let Self { hook, delivery, tried, .. } = self;
        let is_first =
            !delivery.line.starts_with(RESENT_LINE_PREFIX) && !tx.delivery_any_dead(&hook.name)?;
        tx.delivery_end(delivery, DeliveryState::Dead, tried, now)?;
        tx.delivery_prune(&hook.name, DeliveryState::Dead, GIVEN_UP)?;
        let since = row.last_ok_at.unwrap_or(row.created_at).max(row.created_at);
        if since.after_seconds(MAX_RETRY_SECONDS) < now {
            return self.disable(tx, "it has taken nothing for five days", project, now);
        }
        if !is_first {
            return Ok(());
        }
        let error = tried.error.as_deref().unwrap_or_default();
        let data = EventData::WebhookDead(WebhookDead {
            webhook: hook.name.clone(),
            delivery_id: delivery.id,
            event_number: delivery.event,
            event_kind: delivery.kind,
            attempts: delivery.attempts + 1,
            status: tried.status,
            error: error.to_owned(),
        });
        tx.event_append(now, &EventDraft { agent: None, task: None, data })?;
        let (name, tries) = (&hook.name, delivery.attempts + 1);
        let body = format!(
            "The webhook `{name}` ({}) did not take the message `{}` (event {}, {}) in {tries} tries.\n\n\
             The last one: {error}\n\n\
             Others go on. What was given up is listed with `adjutant webhooks dead`; send it again with \
             `adjutant webhooks retry {name} {}`, or all of it with `adjutant webhooks retry {name} --all`. \
             You get no other letter about this webhook until everything that was given up has been taken.\n",
            hook.shown_url(),
            delivery.id,
            delivery.event,
            delivery.kind.name(),
            delivery.id,
        );
        write_to_human(tx, format!("Webhook `{name}` did not take a message"), body, now)
    }

    /// Sends nothing more to this webhook, and says so once.
    fn disable(
        &self,
        tx: &mut Tx<'_>,
        why: &str,
        project: &str,
        now: Timestamp,
    ) -> Result<(), ToolError> {
        let (hook, name) = (&self.hook, &self.hook.name);
        if !tx.webhook_disable(name, why, &hash_of(hook), now)? {
            return Ok(());
        }
        let data = EventData::WebhookDisabled(WebhookDisabled {
            webhook: name.clone(),
            reason: why.to_owned(),
            project: project.to_owned(),
        });
        tx.event_append(now, &EventDraft { agent: None, task: None, data })?;
        let body = format!(
            "Nothing more is sent to the webhook `{name}` ({}): {why}.\n\n\
             What happens meanwhile is not lost. When its receiver is well, go on with \
             `adjutant webhooks enable {name}`; with another address in the configuration it goes on by itself.\n",
            hook.shown_url(),
        );
        write_to_human(tx, format!("Webhook `{name}` is disabled"), body, now)
    }
}

fn write_to_human(
    tx: &mut Tx<'_>,
    subject: String,
    body: String,
    now: Timestamp,
) -> Result<(), ToolError> {
    let to = Recipient::Human;
    let from = Sender::System(None);
    outgoing::send(tx, OutgoingMail { from, to, subject, body, reply_to: None, task: None }, now)?;
    Ok(())
}
