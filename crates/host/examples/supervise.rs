//! The supervisor and nothing else, for the tests: called as `adjutant` would be.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(word), Some(folder)) = (arguments.next(), arguments.next()) else {
        return ExitCode::FAILURE;
    };
    #[cfg(target_os = "linux")]
    if word == "fork-server" {
        return host::supervise::serve_forks().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    drop(word);
    match host::supervise::supervise(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
