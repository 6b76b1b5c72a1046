//! Processes by their numbers: whether they live, how they are ended, and waiting until they are gone.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

/// Poll interval for a process without a descriptor to wait on.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// True for a running process; a zombie does not count.
pub fn is_alive(pid: u32) -> bool {
    let Some(id) = pid_of(pid) else { return false };
    match rustix::process::test_kill_process(id) {
        // A process of another user is alive too.
        Ok(()) | Err(rustix::io::Errno::PERM) => !has_ended(id),
        Err(_) => false,
    }
}

/// True for a process that was stopped by a signal and can be continued. Known on Linux only.
pub fn is_stopped(pid: u32) -> bool {
    pid_of(pid).and_then(state_of).is_some_and(|state| matches!(state, 'T' | 't'))
}

/// Asks a process to end; one that is gone already is no error.
pub fn terminate(pid: u32) -> io::Result<()> {
    signal(pid, Signal::TERM)
}

/// Ends a process; one that is gone already is no error.
pub fn kill(pid: u32) -> io::Result<()> {
    signal(pid, Signal::KILL)
}

/// Ends this process as a power cut would: nothing is cleaned up.
pub fn die() {
    // It cannot fail for oneself; were it to, aborting is as good.
    drop(kill(std::process::id()));
    std::process::abort();
}

/// Ends this process at once with an exit code. No handler runs that could wait for another thread.
pub fn exit_now(code: u8) -> ! {
    signal_hook::low_level::exit(code.into())
}

/// Waits until a process is gone, and says whether it went in time. Blocks.
pub fn wait_gone(pid: u32, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    #[cfg(target_os = "linux")]
    if let Some(gone) = wait_on_descriptor(pid, deadline) {
        return gone;
    }
    while is_alive(pid) {
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
    }
    true
}

/// Waits without looking again and again, where the kernel can; `None` where it cannot.
#[cfg(target_os = "linux")]
fn wait_on_descriptor(pid: u32, deadline: Instant) -> Option<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{PidfdFlags, pidfd_open};

    let descriptor = match pidfd_open(pid_of(pid)?, PidfdFlags::empty()) {
        Ok(descriptor) => descriptor,
        Err(rustix::io::Errno::SRCH) => return Some(true),
        Err(_) => return None,
    };
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).ok()?;
        match poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&left)) {
            Ok(ready) => return Some(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

fn signal(pid: u32, signal: Signal) -> io::Result<()> {
    // Without a check, 0 would be our own group and a large number everybody.
    let Some(pid) = pid_of(pid) else { return Ok(()) };
    match rustix::process::kill_process(pid, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn pid_of(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// The state of a process, in the kernel's letter, where the kernel says it.
fn state_of(pid: Pid) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name in brackets may itself hold brackets and spaces.
    stat.rsplit(')').next()?.trim_start().chars().next()
}

/// True for a zombie.
fn has_ended(pid: Pid) -> bool {
    if let Some(state) = state_of(pid) {
        return matches!(state, 'Z' | 'X');
    }
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(pid), look), Ok(Some(_)))
}
