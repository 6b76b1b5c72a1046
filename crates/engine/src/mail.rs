//! Writes and forwards mail.

pub(crate) mod asking;
pub(crate) mod letter;
pub(crate) mod panics;
