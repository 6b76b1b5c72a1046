//! Copies of this process by `clone3`, for what `fork` cannot do: a child that is born in a control group, and a
//! sibling, whose parent is the parent of this process.
//!
//! Only a process with one thread is copied: locks that other threads hold would stay held in the copy for ever.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Pid, WaitOptions, waitpid};

/// Flag of `clone3` alone, too large for the constants of `clone`.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
/// Exit code of a copy that could not become the program. The reason went through a pipe.
const NOT_STARTED: i32 = 127;

/// Position of a copy among the processes.
#[derive(Debug, Clone, Copy)]
enum Relation<'a> {
    /// A child in a control group, which is given by its open folder
    ChildIn(&'a File),
    /// A child of this process's parent
    Sibling,
}

/// Side of a copy that the code runs on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Side {
    /// The process that was copied
    Original {
        /// Process id of the copy
        copy: Pid,
    },
    /// The copy
    Copy,
}

/// Arguments of the system call, in the layout of the kernel.
#[repr(C)]
#[derive(Debug, Default)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// Copies this process as a child of its parent, which reaps it. Both sides return from here.
pub(crate) fn sibling() -> io::Result<Side> {
    copy(Relation::Sibling)
}

/// Starts a program inside a control group; none where the kernel cannot, and nothing was started.
pub(super) fn spawn_into(command: &mut Command, group: &File) -> Option<io::Result<u32>> {
    let (mut failure, mut report) = io::pipe().ok()?;
    match copy(Relation::ChildIn(group)).ok()? {
        Side::Copy => {
            let error = command.exec();
            let code = error.raw_os_error().unwrap_or_default();
            // Its reader may be gone, and then it is not needed.
            drop(report.write_all(&code.to_ne_bytes()));
            exit_now()
        }
        Side::Original { copy } => {
            drop(report);
            let mut code = [0; 4];
            // It ends without a word as soon as the copy is the program.
            if failure.read_exact(&mut code).is_err() {
                return Some(Ok(copy.as_raw_nonzero().get().unsigned_abs()));
            }
            // It has ended, or is about to.
            _ = waitpid(Some(copy), WaitOptions::empty());
            Some(Err(io::Error::from_raw_os_error(i32::from_ne_bytes(code))))
        }
    }
}

fn copy(relation: Relation<'_>) -> io::Result<Side> {
    if !has_one_thread()? {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let mut arguments = CloneArguments::default();
    match relation {
        Relation::ChildIn(group) => {
            arguments.flags = CLONE_INTO_CGROUP;
            arguments.exit_signal = u64::from(libc::SIGCHLD.unsigned_abs());
            arguments.cgroup = u64::from(group.as_raw_fd().unsigned_abs());
        }
        // The signal is the one that this process ends with.
        Relation::Sibling => arguments.flags = u64::from(libc::CLONE_PARENT.unsigned_abs()),
    }
    match clone3(&arguments) {
        0 => Ok(Side::Copy),
        pid => {
            let pid = i32::try_from(pid).ok().filter(|pid| *pid > 0).and_then(Pid::from_raw);
            pid.map(|copy| Side::Original { copy }).ok_or_else(io::Error::last_os_error)
        }
    }
}

#[expect(unsafe_code, reason = "neither std nor rustix has this system call")]
fn clone3(arguments: &CloneArguments) -> libc::c_long {
    // SAFETY: the kernel reads the arguments, of the size that it is told, and writes nothing. Memory is copied and
    // not shared, the stack goes on in the copy, and there is one thread, so that no lock is left held.
    unsafe { libc::syscall(libc::SYS_clone3, &raw const *arguments, size_of::<CloneArguments>()) }
}

/// Ends a copy at once: what is to be done at the end of a process is the original's.
#[expect(unsafe_code, reason = "std runs what the original has registered for its end")]
fn exit_now() -> ! {
    // SAFETY: it ends the process and touches no memory.
    unsafe { libc::_exit(NOT_STARTED) }
}

/// Returns whether this is the only thread. The folder of threads has a link for each, and two of its own.
fn has_one_thread() -> io::Result<bool> {
    Ok(fs::metadata("/proc/self/task")?.nlink() == 3)
}
