//! Finds the supervised agent that started a process, at any depth.
//!
//! An environment can be cleaned on the way down, and a process can leave its session. Its ancestors stay: a
//! supervisor adopts every orphan of its agent, so that it stands above each of them as long as it lives.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// No tree of processes is deeper; a loop in what the system says must end.
const MAX_DEPTH: usize = 1024;
/// The command of a supervisor: `adjutant supervise <run folder>`.
const SUPERVISE: &str = "supervise";

/// The run folders, below `runs`, of all supervisors above this process, nearest first; none where nothing that
/// these runs supervise has started it. All of them, because an agent can start a supervisor of its own in between.
pub fn supervisors_above(runs: &Path) -> Vec<PathBuf> {
    let Ok(runs) = runs.canonicalize() else { return Vec::new() };
    let mut found = Vec::new();
    let mut pid = std::process::id();
    for _ in 0..MAX_DEPTH {
        let Some(above) = parent(pid).filter(|parent| *parent > 0) else { break };
        pid = above;
        let folder = supervised_folder(&arguments(pid)).and_then(|path| path.canonicalize().ok());
        found.extend(folder.filter(|folder| folder.starts_with(&runs)));
    }
    found
}

/// The folder that a supervisor was given; none where these are not the arguments of one.
fn supervised_folder(arguments: &[OsString]) -> Option<PathBuf> {
    match arguments {
        [_, command, folder] if command == OsStr::new(SUPERVISE) => Some(folder.into()),
        _ => None,
    }
}

#[cfg(target_os = "linux")]
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before the last bracket may itself hold brackets and spaces.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(target_os = "linux")]
fn arguments(pid: u32) -> Vec<OsString> {
    use std::os::unix::ffi::OsStringExt as _;

    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    // What the fork server made has room behind its arguments.
    let end = line.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    let words = line.get(..end).unwrap_or_default().split(|byte| *byte == 0);
    words.map(|word| OsString::from_vec(word.to_vec())).collect()
}

#[cfg(not(target_os = "linux"))]
fn parent(pid: u32) -> Option<u32> {
    ask_ps(pid, "ppid=")?.trim().parse().ok()
}

/// `ps` joins the arguments with spaces: what follows the command is the folder, spaces and all.
#[cfg(not(target_os = "linux"))]
fn arguments(pid: u32) -> Vec<OsString> {
    let line = ask_ps(pid, "command=").unwrap_or_default();
    match line.trim_end().split_once(&format!(" {SUPERVISE} ")) {
        Some((program, folder)) => vec![program.into(), SUPERVISE.into(), folder.into()],
        None => vec![line.into()],
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_ps(pid: u32, column: &str) -> Option<String> {
    use std::time::Duration;

    use crate::process::{Launch, run};

    let launch = Launch {
        program: "/bin/ps".into(),
        arguments: ["-ww", "-o", column, "-p", &pid.to_string()].map(OsString::from).into(),
        environment: Vec::new(),
        directory: "/".into(),
    };
    let output = run(&launch, Duration::from_secs(5)).ok()?;
    String::from_utf8(output.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_supervisor_is_told_by_its_arguments() {
        let words = |all: &[&str]| all.iter().map(OsString::from).collect::<Vec<_>>();
        let folder = supervised_folder(&words(&["/bin/adjutant", "supervise", "/h/runs/a/1"]));
        assert_eq!(folder, Some("/h/runs/a/1".into()));
        for other in [&["adjutant", "mcp"][..], &["supervise", "x"], &["sh", "-c", "supervise x"]] {
            assert_eq!(supervised_folder(&words(other)), None, "{other:?}");
        }
    }

    #[test]
    fn the_ancestors_of_a_process_are_found() {
        let above = parent(std::process::id()).unwrap();
        assert!(above > 0);
        assert!(!arguments(std::process::id()).is_empty());
        let dir = tempfile::tempdir().unwrap();
        assert!(
            supervisors_above(dir.path()).is_empty(),
            "no agent of these runs started the test"
        );
    }
}
