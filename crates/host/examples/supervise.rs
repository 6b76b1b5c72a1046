//! The supervisor and nothing else, for the tests: called as `adjutant` would be.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(_), Some(folder)) = (arguments.next(), arguments.next()) else {
        return ExitCode::FAILURE;
    };
    match host::supervise::supervise(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
