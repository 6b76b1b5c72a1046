//! Mail, and its lists and threads.

pub(crate) mod list;
pub(crate) mod message;
