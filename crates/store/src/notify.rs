//! Messages to the outside: webhooks with their deliveries, and Slack.

pub(crate) mod slack;
pub(crate) mod slack_out;
pub(crate) mod webhook;
pub(crate) mod webhook_delivery;
