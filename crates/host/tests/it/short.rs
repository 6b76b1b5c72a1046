//! Short commands, such as git, end with anyone who runs them.
#![cfg(target_os = "linux")]

use std::fs;
use std::time::Duration;

use host::process::{Launch, is_alive, kill, start_sharing, wait_gone};

use crate::support;

#[tokio::test]
async fn a_short_command_ends_with_the_process_that_runs_it() {
    let dir = tempfile::tempdir().unwrap();
    let launch = Launch {
        program: support::example("run_short"),
        arguments: vec!["echo $$ > pid.new; mv pid.new pid; exec sleep 1000".into()],
        environment: Vec::new(),
        directory: dir.path().to_owned(),
    };
    let mut runner = start_sharing(&launch).unwrap();
    let noted = dir.path().join("pid");
    support::until("it runs", || noted.exists()).await;
    let pid: u32 = fs::read_to_string(noted).unwrap().trim().parse().unwrap();
    assert!(is_alive(pid));
    kill(runner.pid()).unwrap();
    assert!(wait_gone(pid, Duration::from_secs(60)), "it goes on");
    support::until("it is reaped", || runner.exited().unwrap().is_some()).await;
}
