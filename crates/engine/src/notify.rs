//! Delivery of events to the outside: webhooks, Slack, mirror files.

pub(crate) mod mirror;
pub(crate) mod service;
pub(crate) mod slack;
pub(crate) mod webhooks;
