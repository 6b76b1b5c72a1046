//! The commands: one file each, or one a family.

pub(crate) mod automation;
pub(crate) mod call;
pub(crate) mod crew;
pub(crate) mod delivery;
pub(crate) mod epics;
pub(crate) mod homes;
pub(crate) mod mail;
pub(crate) mod notify;
pub(crate) mod progress;
pub(crate) mod reconnect;
pub(crate) mod server_process;
pub(crate) mod setup;
pub(crate) mod tasks;
pub(crate) mod top;
pub(crate) mod upkeep;
