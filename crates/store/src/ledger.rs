//! The log of what was written: its entries, and replaying them into another database.

pub(crate) mod bytes;
pub(crate) mod determinism;
pub(crate) mod entry;
pub(crate) mod replay;
#[cfg(debug_assertions)]
pub(crate) mod replica;
pub(crate) mod write_log;
