//! The grammar of the commands about webhooks and Slack.

pub(crate) mod slack;
pub(crate) mod webhooks;
