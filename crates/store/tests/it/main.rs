//! The store against a real SQLite file.
#![expect(clippy::unwrap_used, reason = "tests")]

mod answered;
mod audit_search;
mod board;
mod chain;
mod cut;
mod damaged;
mod events;
mod exact;
mod guard;
mod ledger;
mod lists;
mod looping;
mod mails;
mod migrate;
mod office;
mod plans;
mod replay;
mod reservations;
mod retention;
mod slack;
mod spend;
mod support;
mod tool_use;
mod wal;
mod webhooks;
mod writer;
