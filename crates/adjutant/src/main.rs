//! Placeholder.
#![expect(dead_code, reason = "until the command line stands")]

mod bridge;
mod client;
mod config;
mod connect;
mod doctor;
mod environment;
mod home;
mod init;
mod life;
mod roles;
mod yaml;

fn main() {}
