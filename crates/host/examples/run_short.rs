//! Runs one short command as the server runs git, for the tests: `run_short SCRIPT` in the present folder.

use std::process::ExitCode;
use std::time::Duration;

use host::process::{Launch, run};

fn main() -> ExitCode {
    let Some(script) = std::env::args_os().nth(1) else { return ExitCode::FAILURE };
    let launch = Launch {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script],
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        directory: ".".into(),
    };
    match run(&launch, Duration::from_secs(600)) {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
