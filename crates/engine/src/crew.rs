//! Agents: drafting, starting, supervising and ending them, and what they are told.

pub(crate) mod context;
pub(crate) mod enlist;
pub(crate) mod result;
pub(crate) mod run;
pub mod templates;
