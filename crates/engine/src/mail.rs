//! Writes and forwards mail.

pub(crate) mod letter;
