//! The store against a real SQLite file.
#![expect(clippy::unwrap_used, reason = "tests")]

mod answered;
mod chain;
mod lists;
mod migrate;
mod office;
mod reservations;
mod support;
mod tool_use;
mod writer;
