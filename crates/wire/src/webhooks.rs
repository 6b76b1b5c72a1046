//! Webhooks and the messages to them. They contain no secret.

use model::event::EventKind;
use model::webhook::DeliveryState;
use model::{DeliveryId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Number of retried messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Retried")]
pub struct RetriedDeliveries {
    /// The webhook
    pub webhook: String,
    /// Number of messages
    pub retried: u64,
}

/// Request to enable a webhook again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Enable")]
pub struct EnableWebhookRequest {
    /// True to skip the events missed meanwhile
    #[serde(default)]
    pub skip_missed: bool,
}

/// Status of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WebhookStatus {
    /// Nothing was sent yet
    New,
    /// The last message was accepted
    Ok,
    /// The last message failed
    Failing,
    /// Nothing is sent, because something is missing here
    Held,
    /// Nothing is sent, because the receiver wants nothing or has not answered for long
    Disabled,
}

/// A webhook with its status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Webhook")]
pub struct WebhookView {
    /// Its name
    pub name: String,
    /// Its address, without the parts that may be secret
    pub url: String,
    /// Format of its messages: `standard` or `inngest`
    pub form: String,
    /// Kinds of events it receives
    pub kinds: Vec<String>,
    /// True if it has a key
    pub has_key: bool,
    /// Attempts per message
    pub attempts: u32,
    /// State
    pub state: WebhookStatus,
    /// Why nothing is sent, where nothing is
    pub problem: Option<String>,
    /// Since when it is disabled
    pub disabled_at: Option<Timestamp>,
    /// When a message was last accepted
    pub last_ok_at: Option<Timestamp>,
    /// When a message last failed
    pub last_failed_at: Option<Timestamp>,
    /// HTTP status of the last attempt
    pub last_status: Option<u32>,
    /// Error of the last attempt
    pub last_error: Option<String>,
    /// Number of pending messages
    pub pending: i64,
    /// Number of failed messages
    pub dead: i64,
    /// Every event up to this number was considered
    pub seen: i64,
}

/// A message to a webhook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Delivery")]
pub struct DeliveryView {
    /// Id sent as `webhook-id`
    pub id: DeliveryId,
    /// The webhook
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
    /// Time of the next attempt; null if it waits behind another or has ended
    pub next_try_at: Option<Timestamp>,
    /// HTTP status of the last attempt
    pub last_status: Option<u32>,
    /// Error of the last attempt
    pub last_error: Option<String>,
    /// When it was created
    pub created_at: Timestamp,
    /// Time of its delivery or failure
    pub ended_at: Option<Timestamp>,
    /// Body
    pub body: Value,
}

/// Outcome of a test message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WebhookSent")]
pub struct TestDelivery {
    /// The webhook
    pub webhook: String,
    /// Id sent as `webhook-id`
    pub id: DeliveryId,
    /// True if it was accepted
    pub ok: bool,
    /// HTTP status
    pub status: Option<u16>,
    /// Error, if it failed
    pub error: Option<String>,
    /// Duration in milliseconds
    pub millis: u64,
}

/// The webhooks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Webhooks {
    /// Each of them, as the configuration lists them
    pub webhooks: Vec<WebhookView>,
}

/// A page of messages to a webhook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deliveries {
    /// The messages, newest first
    pub deliveries: Vec<DeliveryView>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}
