//! Supervisors that the fork server makes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use host::process::{self, is_alive};
use host::run::{EndCause, Spec, Stdin};

use crate::support::{self, sh, start};

/// Arguments of a process, as others see them.
fn arguments(pid: u32) -> Vec<Vec<u8>> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let end = line.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    line[..end].split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The fork servers of this process.
fn fork_servers() -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap().map(Result::unwrap);
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_one = |pid: &u32| {
        parent(*pid) == Some(std::process::id())
            && arguments(*pid).get(1).is_some_and(|word| word == b"fork-server")
    };
    pids.filter(is_one).collect()
}

#[tokio::test]
async fn a_supervisor_looks_as_if_it_had_been_started() {
    let mut run = start(sh("exit 3")).await;
    let mut resting = start(Spec { stdin: Stdin::Open, ..sh("read x") }).await;
    assert_eq!(fork_servers().len(), 1, "one for all");
    let pid = resting.supervisor();
    assert_eq!(resting.begun.pid(), Some(pid));
    assert_eq!(parent(pid), Some(std::process::id()));
    assert_eq!(fs::read(format!("/proc/{pid}/environ")).unwrap(), b"", "it has no environment");
    let program = support::program();
    let expected =
        [program.as_os_str(), OsStr::new("supervise"), resting.folder.path().as_os_str()];
    assert_eq!(arguments(pid), expected.map(|word| word.as_bytes().to_vec()));
    let stdin = fs::read_link(format!("/proc/{pid}/fd/0")).unwrap();
    assert!(stdin.as_os_str().as_bytes().starts_with(b"pipe:"), "the fork server's is a socket");
    assert_eq!(run.exit().await.code, Some(3));
    resting.connect().await.kill("enough").await.unwrap();
    assert_eq!(resting.exit().await.ended, EndCause::Stopped);
}

#[tokio::test]
async fn agents_start_and_live_without_the_fork_server() {
    let mut first = start(Spec { stdin: Stdin::Open, ..sh("read x") }).await;
    let killed = fork_servers();
    assert_eq!(killed.len(), 1);
    for pid in &killed {
        process::kill(*pid).unwrap();
    }
    let mut second = start(sh("echo second")).await;
    assert_eq!(second.exit().await.code, Some(0));
    let mut third = start(sh("echo third")).await;
    assert_eq!(third.exit().await.code, Some(0));
    let fresh = fork_servers();
    assert!(fresh.len() == 1 && fresh != killed, "{killed:?} {fresh:?}");
    assert!(is_alive(first.agent()) && is_alive(first.supervisor()));
    first.connect().await.kill("enough").await.unwrap();
    assert_eq!(first.exit().await.ended, EndCause::Stopped);
}
