//! The supervisor, with real processes: what is kept, what is ended, and who may begin.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod control;
mod ending;
mod floods;
mod github;
mod output;
mod post;
mod reader;
mod short;
mod standing;
mod support;
