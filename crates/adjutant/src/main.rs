//! Adjutant: one program that turns coding agents into a supervised crew.
//!
//! The face for people, and the server. See ARCHITECTURE.md, “adjutant”.

mod app;
mod bridge;
mod cli;
mod client;
mod commands;
mod config;
mod connect;
mod demo;
mod doctor;
mod environment;
mod home;
mod init;
mod life;
mod logging;
mod render;
mod roles;
mod run;
mod serve;
mod trouble;
mod yaml;

fn main() -> std::process::ExitCode {
    run::run(std::env::args_os().collect())
}
