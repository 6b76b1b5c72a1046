//! Cleaning and copying the record.

pub(crate) mod clean;
pub(crate) mod service;
pub(crate) mod snapshot;
mod texts;
