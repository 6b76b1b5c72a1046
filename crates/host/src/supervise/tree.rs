//! The agent and everything it started: who they are, and telling all of them to end.
//!
//! A process that the agent starts is found by descent, because a session or a process group of its own
//! is easily made. This process adopts their orphans, so that none leaves the tree.

use std::collections::HashSet;
use std::fs;
use std::io;

use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, wait,
};

/// A process that starts others faster than so many looks at all of them is looked for in the next round.
const MAX_SCANS: u32 = 64;

/// The agent, and what it started.
#[derive(Debug)]
pub(super) struct Tree {
    agent: Pid,
    /// Wait status of the agent, once it has ended
    status: Option<WaitStatus>,
}

/// Result of reaping ended processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReapResult {
    /// Nothing has changed
    Same,
    /// A process has ended, and another one lives
    Fewer,
    /// All are gone, also those that had other parents before
    Nobody,
}

impl Tree {
    pub(super) fn new(agent: u32) -> io::Result<Self> {
        let agent = i32::try_from(agent).ok().and_then(Pid::from_raw);
        let agent = agent.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self { agent, status: None })
    }

    /// Wait status of the agent, once it has ended.
    pub(super) fn status(&self) -> Option<WaitStatus> {
        self.status
    }

    /// Takes leave of all who have ended.
    pub(super) fn reap(&mut self) -> io::Result<ReapResult> {
        let mut left = ReapResult::Same;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    left = ReapResult::Fewer;
                    if pid == self.agent {
                        self.status = Some(status);
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return Ok(left),
                Err(rustix::io::Errno::CHILD) if self.is_group_left() => return Ok(left),
                Err(rustix::io::Errno::CHILD) => return Ok(ReapResult::Nobody),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// True if the group has a process that is not our child. With a subreaper there is none; elsewhere
    /// the agent's process group is what can be seen.
    fn is_group_left(&self) -> bool {
        cfg!(not(target_os = "linux"))
            && rustix::process::test_kill_process_group(self.agent).is_ok()
    }

    /// Asks everybody to end; says how many beside the agent that were.
    pub(super) fn ask(&self) -> u32 {
        let count = self.signal(Signal::TERM);
        // A stopped process cannot hear before it continues.
        self.signal(Signal::CONT);
        count
    }

    /// Ends everybody who can be seen.
    pub(super) fn force(&self) {
        self.signal(Signal::KILL);
    }

    /// Signals everybody once. Who comes in the meantime is signalled too.
    fn signal(&self, signal: Signal) -> u32 {
        // Errors mean that a process is gone, or is not ours to signal: waiting shows which are left.
        let group = (self.status.is_none() || cfg!(not(target_os = "linux"))).then_some(self.agent);
        if let Some(group) = group {
            _ = kill_process_group(group, signal);
        }
        let (mut seen, mut count) = (HashSet::new(), 0_u32);
        for _ in 0..MAX_SCANS {
            let before = seen.len();
            for process in descendants() {
                if !seen.insert(process.pid) || process.has_ended {
                    continue;
                }
                count = count.saturating_add(u32::from(process.pid != self.agent));
                // A program may take a second request for impatience: the group has heard it.
                // Between the look and the signal no number can come round to a stranger.
                if Some(process.group) != group {
                    _ = kill_process(process.pid, signal);
                }
            }
            if seen.len() == before {
                break;
            }
        }
        count
    }
}

/// From now on the agent's orphans become our children, whatever session they are in: none is out of reach.
#[cfg(target_os = "linux")]
pub(super) fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Elsewhere nobody can.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail where it does something")]
pub(super) fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// A process, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: Pid,
    parent: Option<Pid>,
    group: Pid,
    /// It only waits to be reaped
    has_ended: bool,
}

/// All that come from this process, in no particular order.
#[cfg(target_os = "linux")]
fn descendants() -> Vec<Process> {
    let this = rustix::process::getpid();
    by_children(this).unwrap_or_else(|| by_parents(this))
}

#[cfg(not(target_os = "linux"))]
fn descendants() -> Vec<Process> {
    Vec::new()
}

/// Goes down the tree, where the kernel lists children: costs no more than the tree is large.
#[cfg(target_os = "linux")]
fn by_children(root: Pid) -> Option<Vec<Process>> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut open = children(root)?;
    while let Some(pid) = open.pop() {
        if seen.insert(pid) {
            found.extend(process(pid));
            open.extend(children(pid).unwrap_or_default());
        }
    }
    Some(found)
}

/// The children of all of a process's threads; nothing where the kernel does not list them.
#[cfg(target_os = "linux")]
fn children(of: Pid) -> Option<Vec<Pid>> {
    let mut found = None;
    for thread in fs::read_dir(format!("/proc/{of}/task")).ok()?.flatten() {
        // A thread may end meanwhile; another one inherits its children.
        let Ok(list) = fs::read_to_string(thread.path().join("children")) else { continue };
        let list = list.split_ascii_whitespace().filter_map(pid_from);
        found.get_or_insert_with(Vec::new).extend(list);
    }
    found
}

/// Asks every process of the machine for its parent.
#[cfg(target_os = "linux")]
fn by_parents(root: Pid) -> Vec<Process> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut others: Vec<Process> =
        names.filter_map(|entry| process(pid_from(entry.file_name().to_str()?)?)).collect();
    let mut found = Vec::new();
    let mut parents = HashSet::from([root]);
    loop {
        let (ours, rest): (Vec<_>, Vec<_>) = others
            .into_iter()
            .partition(|process| process.parent.is_some_and(|parent| parents.contains(&parent)));
        if ours.is_empty() {
            return found;
        }
        parents.extend(ours.iter().map(|process| process.pid));
        found.extend(ours);
        others = rest;
    }
}

#[cfg(target_os = "linux")]
fn process(pid: Pid) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = fields(&stat)?;
    Some(Process {
        pid,
        has_ended: matches!(fields.next()?, "Z" | "X"),
        parent: pid_from(fields.next()?),
        group: pid_from(fields.next()?)?,
    })
}

/// Fields after the name, which may itself contain brackets and spaces: state, parent, group, …
fn fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    Some(stat.rsplit_once(')')?.1.split_ascii_whitespace())
}

/// The group of a process that is just going is -1.
#[cfg(target_os = "linux")]
fn pid_from(text: &str) -> Option<Pid> {
    text.parse().ok().filter(|number| *number > 0).and_then(Pid::from_raw)
}

/// When this process was started, in clock ticks since the machine was.
pub(super) fn start_time() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    fields(&stat)?.nth(19)?.parse().ok()
}

/// Boot id of the machine.
pub(super) fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::process::{self, Launch};

    #[test]
    fn both_ways_to_find_descendants_find_the_same() {
        let script = "sh -c 'sleep 1000 & wait' & setsid sleep 1000 & wait";
        let launch = Launch {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            directory: Path::new("/").into(),
        };
        let mut started = process::start_sharing(&launch).unwrap();
        let root = pid_from(&started.pid().to_string()).unwrap();
        let pids = |processes: Vec<Process>| {
            let mut pids: Vec<i32> = processes.iter().map(|one| one.pid.as_raw_pid()).collect();
            pids.sort_unstable();
            pids
        };
        let deadline = process::monotonic() + Duration::from_secs(30);
        let is_apart = || by_parents(root).iter().any(|one| one.group == one.pid);
        while (by_parents(root).len() < 3 || !is_apart()) && process::monotonic() < deadline {
            std::thread::yield_now();
        }
        let found = pids(by_parents(root));
        assert_eq!(found.len(), 3);
        assert_eq!(pids(by_children(root).unwrap()), found);
        for pid in found {
            process::kill(pid.unsigned_abs()).unwrap();
        }
        process::kill(started.pid()).unwrap();
        assert!(process::wait_gone(started.pid(), Duration::from_secs(30)));
        assert!(started.exited().unwrap().is_some());
    }

    #[test]
    fn a_name_with_brackets_does_not_hide_what_follows() {
        let stat = "7 (a) R (b) S 4 9 9 0 -1";
        assert_eq!(fields(stat).unwrap().collect::<Vec<_>>()[..3], ["S", "4", "9"]);
    }
}
