//! The engine itself: the handle, settings, errors, redaction, and what every room stands on.

pub(crate) mod durable;
pub(crate) mod engine;
pub(crate) mod error;
pub(crate) mod last_good;
pub(crate) mod panics;
pub(crate) mod redact;
pub mod settings;
pub(crate) mod topics;
pub(crate) mod visible;
