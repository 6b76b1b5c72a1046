//! Events of the server itself: configuration and webhooks.

use model::DeliveryId;
use model::event::EventKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Payload of `config.reloaded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigReloaded {
    /// Count of the roles in force
    pub roles: usize,
    /// Findings that did not prevent the reload
    pub warnings: Vec<String>,
    /// What it changed, a line each
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<String>>,
}

/// Payload of `webhook.dead`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookDead {
    /// Name of the webhook
    pub webhook: String,
    /// Failed message
    pub delivery_id: DeliveryId,
    /// Number of the event in the message
    pub event_number: i64,
    /// Kind of the event in the message
    pub event_kind: EventKind,
    /// Count of the attempts made
    pub attempts: u32,
    /// HTTP status of the last answer; null without one
    pub status: Option<u16>,
    /// Reason of the last failure
    pub error: String,
}

/// Payload of `webhook.disabled`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookDisabled {
    /// Name of the webhook
    pub webhook: String,
    /// Reason it was disabled
    pub reason: String,
    /// Name of the project
    pub project: String,
}
