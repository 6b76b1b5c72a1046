//! Writes and forwards mail.

pub(crate) mod asking;
pub(crate) mod outgoing;
pub(crate) mod panics;
