//! Commands about webhooks and Slack.

pub(crate) mod slack;
pub(crate) mod webhooks;
