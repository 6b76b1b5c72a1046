//! Commands that set up: `init`, `doctor`, `config`, `completions`.

pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod init;
