//! Read-only pictures of the record, for people and programs that watch.

pub(crate) mod board;
pub(crate) mod crew;
pub(crate) mod mail;
pub(crate) mod service;
pub(crate) mod watch;

pub use mail::LetterWish;
