//! Adjutant: one program that turns coding agents into a supervised crew.
//!
//! The command line, the full screen and the server process. See ARCHITECTURE.md, “adjutant”.

mod app;
mod backup;
mod bridge;
mod cli;
mod cli_error;
mod client;
mod commands;
mod config;
mod crew;
mod demo;
mod doctor;
mod environment;
mod home;
mod init;
mod logging;
mod remote_homes;
mod run;
mod runtime;
mod scripted_agent;
mod serve;
mod server_process;
mod terminal;
mod yaml;

fn main() -> std::process::ExitCode {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    // The small process around each agent: it must not pay for anything of what follows.
    if let [_, word, folder] = &arguments[..]
        && word == "supervise"
    {
        let done = host::supervise::supervise(folder.as_ref());
        return done.map_or(70, |()| 0).into();
    }
    #[cfg(target_os = "linux")]
    if let [_, word, _] = &arguments[..]
        && word == "fork-server"
    {
        // Also the end of every supervisor that it has become.
        return host::supervise::serve_forks().map_or(70, |()| 0).into();
    }
    run::guarded(|| run::run(arguments))
}
