//! Output for people at a terminal, and errors about what they typed.

pub(crate) mod render;
pub(crate) mod usage;
