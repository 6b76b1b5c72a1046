//! The database: its handle, its writer, its readers, events, rows and pages.

pub(crate) mod amount;
pub(crate) mod chain;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod event_watch;
pub(crate) mod exact;
pub(crate) mod guard;
pub(crate) mod ledger;
pub(crate) mod migrate;
pub(crate) mod page;
pub(crate) mod reader;
pub(crate) mod row;
pub(crate) mod tool_use_counts;
pub(crate) mod tx;
pub(crate) mod wal;
pub(crate) mod writer;
