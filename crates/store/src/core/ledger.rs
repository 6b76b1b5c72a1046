//! The ledger: the log of what was written, kept in PostgreSQL, of which every file is a prefix.
//!
//! [`write_log`] takes notes of a commit, [`entry`] reads them, [`replay`] runs them again, and compares by [`row_digest`]. [`client`] talks to
//! PostgreSQL over one [`link`]; [`owned`] appends, [`follow`] reads on, [`snapshot`] copies whole states, [`manage`] checks and exports homes;
//! [`placement`] says which host is to own which home.

pub(crate) mod address;
pub(crate) mod bytes;
pub(crate) mod client;
pub(crate) mod commit_log;
pub(crate) mod commit_times;
pub(crate) mod compare;
pub(crate) mod determinism;
pub(crate) mod entry;
pub(crate) mod follow;
pub(crate) mod followers;
pub(crate) mod lease;
pub(crate) mod link;
pub(crate) mod manage;
pub(crate) mod owned;
pub(crate) mod placement;
pub(crate) mod replay;
#[cfg(debug_assertions)]
pub(crate) mod replica;
pub(crate) mod row_digest;
pub(crate) mod snapshot;
pub(crate) mod write_log;
