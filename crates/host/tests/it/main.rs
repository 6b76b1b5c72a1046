//! The supervisor, with real processes: what is kept, what is ended, and who may begin.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod control;
mod ending;
mod escape;
mod floods;
#[cfg(target_os = "linux")]
mod forks;
mod formats;
mod github;
mod handover;
mod lease;
mod output;
mod post;
mod reader;
mod reflinks;
mod short;
mod slack;
mod sockets;
mod standing;
mod support;
