//! Cleaning and copying the record.

pub(crate) mod clean;
pub(crate) mod snapshot;
