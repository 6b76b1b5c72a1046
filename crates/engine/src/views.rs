//! Read-only pictures of the record, for people and programs that watch.

pub(crate) mod agents;
pub(crate) mod board;
pub(crate) mod costs;
pub(crate) mod crew;
pub(crate) mod events;
pub(crate) mod mail;
pub(crate) mod period;
pub(crate) mod record;
pub(crate) mod service;
pub(crate) mod watch;

pub use mail::MailListRequest;
