//! Commands about the server as a process: `up`, `down`, `status`, `token`, `reload`.

pub(crate) mod down;
pub(crate) mod reload;
pub(crate) mod server;
mod shared;
