//! The commands: one file each, or one a family.

pub(crate) mod agents;
pub(crate) mod attach;
pub(crate) mod audit;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod costs;
pub(crate) mod decisions;
pub(crate) mod doctor;
pub(crate) mod down;
pub(crate) mod enlist;
pub(crate) mod events;
pub(crate) mod init;
pub(crate) mod logs;
pub(crate) mod mail;
pub(crate) mod mcp;
pub(crate) mod reload;
pub(crate) mod run;
pub(crate) mod server;
pub(crate) mod steady;
pub(crate) mod stream;
pub(crate) mod tasks;
pub(crate) mod tool;
