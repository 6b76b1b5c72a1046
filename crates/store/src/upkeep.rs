//! Removal of old data.

pub(crate) mod retention;
