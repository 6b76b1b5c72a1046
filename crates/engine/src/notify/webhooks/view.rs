//! Views of webhooks and their deliveries. They contain no secret.

use model::event::EventKind;
use model::webhook::DeliveryState;
use model::{DeliveryId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use store::{Delivery, Page, RESENT_LINE_PREFIX, Tx, Webhook};

use super::message::Content;
use super::send::event_of;
use crate::core::error::ToolError;
use crate::core::settings::{WebhookForm, WebhookKey, WebhookSettings};
use crate::notify::service::Notifications;

/// State of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Standing {
    /// Nothing was sent yet
    New,
    /// The last message was taken
    Ok,
    /// The last message was not
    Failing,
    /// Nothing is sent, because something is missing here
    Held,
    /// Nothing is sent, because the receiver wants nothing or has not answered for long
    Disabled,
}

/// Somebody who is told of events.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookView {
    /// Its name
    pub name: String,
    /// Where it is, without what may be secret in the address
    pub url: String,
    /// `standard` or `inngest`
    pub form: String,
    /// Kinds of events it receives
    pub kinds: Vec<String>,
    /// True if it has a key
    pub has_key: bool,
    /// Attempts per message
    pub attempts: u32,
    /// State
    pub state: Standing,
    /// Why nothing is sent, where nothing is
    pub problem: Option<String>,
    /// Since when it is disabled
    pub disabled_at: Option<Timestamp>,
    /// When a message was last taken
    pub last_ok_at: Option<Timestamp>,
    /// When a message last was not
    pub last_failed_at: Option<Timestamp>,
    /// HTTP status of the last attempt
    pub last_status: Option<u32>,
    /// Error of the last attempt
    pub last_error: Option<String>,
    /// Number of pending messages
    pub pending: i64,
    /// Number of messages given up
    pub dead: i64,
    /// Every event up to this number was looked at for it
    pub seen: i64,
}

/// A message to a webhook.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// Id sent as `webhook-id`
    pub id: DeliveryId,
    /// To whom
    pub webhook: String,
    /// The number of the event that it tells of
    pub event_number: i64,
    /// Kind of that event
    pub kind: EventKind,
    /// Current state
    pub state: DeliveryState,
    /// Messages of one subject are sent one after the other
    pub subject: String,
    /// Number of attempts
    pub attempts: u32,
    /// When it is tried next; null where it waits behind another, or is over
    pub next_try_at: Option<Timestamp>,
    /// HTTP status of the last attempt
    pub last_status: Option<u32>,
    /// Error of the last attempt
    pub last_error: Option<String>,
    /// When it was made
    pub created_at: Timestamp,
    /// When it was taken or given up
    pub ended_at: Option<Timestamp>,
    /// Body
    pub body: Value,
}

/// Outcome of a test message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SentView {
    /// To whom
    pub webhook: String,
    /// Id sent as `webhook-id`
    pub id: DeliveryId,
    /// True if it was accepted
    pub ok: bool,
    /// HTTP status
    pub status: Option<u16>,
    /// Issues
    pub error: Option<String>,
    /// Duration in milliseconds
    pub millis: u64,
}

/// Filter for listing deliveries.
#[derive(Debug, Clone, Copy)]
pub struct WhichDeliveries {
    /// Only those in this state
    pub state: Option<DeliveryState>,
    /// Only those before this one; they are listed newest first
    pub before: Option<i64>,
    /// Number of agents
    pub limit: u32,
}

impl WebhookView {
    pub(super) fn of(tx: &Tx<'_>, hook: &WebhookSettings) -> Result<Self, ToolError> {
        let row = tx.webhook_get(&hook.name)?;
        let at = |time: fn(&Webhook) -> Option<Timestamp>| row.as_ref().and_then(time);
        let disabled_why = row.as_ref().and_then(|row| row.disabled_why.clone());
        let (held, disabled_at) = (hook.problem(), at(|row| row.disabled_at));
        let last_error = row.as_ref().and_then(|row| row.last_error.clone());
        let is_new = at(|row| row.last_ok_at.or(row.last_failed_at)).is_none();
        let state = match (&held, disabled_at) {
            (Some(_), _) => Standing::Held,
            (None, Some(_)) => Standing::Disabled,
            (None, None) if is_new => Standing::New,
            (None, None) if last_error.is_some() => Standing::Failing,
            (None, None) => Standing::Ok,
        };
        Ok(Self {
            name: hook.name.clone(),
            url: hook.shown_url(),
            form: hook.form.name().to_owned(),
            kinds: hook.patterns.clone(),
            has_key: matches!(hook.key, WebhookKey::Secret(_)),
            attempts: hook.attempts,
            state,
            problem: held.or(disabled_why),
            disabled_at,
            last_ok_at: at(|row| row.last_ok_at),
            last_failed_at: at(|row| row.last_failed_at),
            last_status: row.as_ref().and_then(|row| row.last_status),
            last_error,
            pending: tx.delivery_count(&hook.name, DeliveryState::Pending)?,
            dead: tx.delivery_count(&hook.name, DeliveryState::Dead)?,
            seen: row.map_or(0, |row| row.seen),
        })
    }
}

impl DeliveryView {
    pub(super) fn of(
        tx: &Tx<'_>,
        form: WebhookForm,
        project: &str,
        delivery: Delivery,
    ) -> Result<Self, ToolError> {
        let event = event_of(tx, delivery.event)?;
        let body = event.map(|event| Content::of(&event, project).body(form, delivery.id));
        Ok(Self {
            id: delivery.id,
            event_number: delivery.event,
            kind: delivery.kind,
            state: delivery.state,
            subject: delivery
                .line
                .strip_prefix(RESENT_LINE_PREFIX)
                .unwrap_or(&delivery.line)
                .to_owned(),
            webhook: delivery.webhook,
            attempts: delivery.attempts,
            next_try_at: delivery.due_at,
            last_status: delivery.last_status,
            last_error: delivery.last_error,
            created_at: delivery.created_at,
            ended_at: delivery.ended_at,
            body: body.unwrap_or_default(),
        })
    }
}

impl Notifications {
    /// Every webhook of the configuration, and how it does.
    pub async fn webhooks(&self) -> Result<Vec<WebhookView>, ToolError> {
        let settings = self.settings();
        let all = self.store.scan(move |tx: &Tx<'_>| {
            settings.webhooks.iter().map(|hook| WebhookView::of(tx, hook)).collect()
        });
        all.await
    }

    /// The messages to a webhook, newest first.
    pub async fn webhook_deliveries(
        &self,
        name: &str,
        which: WhichDeliveries,
    ) -> Result<Page<DeliveryView>, ToolError> {
        let (hook, project) = (self.webhook(name)?, self.project_name());
        let WhichDeliveries { state, before, limit } = which;
        let page = self.store.scan(move |tx: &Tx<'_>| {
            let page = tx.delivery_page(&hook.name, state, before.unwrap_or(i64::MAX), limit)?;
            let views = page.items.into_iter();
            let views = views.map(|one| DeliveryView::of(tx, hook.form, &project, one));
            Ok::<_, ToolError>((views.collect::<Result<Vec<_>, _>>()?, page.next))
        });
        let (items, next) = page.await?;
        Ok(Page { items, next })
    }

    /// Name of the project: its folder's name.
    pub(super) fn project_name(&self) -> String {
        let name = self.options.project.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}
