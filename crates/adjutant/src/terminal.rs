//! Output for people at a terminal: what is printed, and the line that moves.

pub(crate) mod progress;
pub(crate) mod render;
