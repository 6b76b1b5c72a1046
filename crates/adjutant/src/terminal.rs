//! Output for people at a terminal, and usage errors.

pub(crate) mod render;
pub(crate) mod usage;
