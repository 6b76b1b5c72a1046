//! Commands about agents: `run` and its kin, `ps`, `enlist`, `logs`, `attach`, `costs`.

pub(crate) mod agents;
pub(crate) mod attach;
pub(crate) mod costs;
pub(crate) mod enlist;
pub(crate) mod environment;
pub(crate) mod logs;
pub(crate) mod role;
pub(crate) mod run;
mod summary;
mod transcript;
