//! The supervisor of a run as a process: the process that holds the run folder's lock, whatever its files say.

use std::path::Path;

use rustix::process::Signal;

use crate::files::FileError;

/// Signals the supervisor of a run; says whether there was one. Its files can be written by the agent, so
/// that the process id in them is a hint and no more: only a process that holds the lock is signalled.
#[cfg(target_os = "linux")]
pub(super) fn signal(folder: &Path, signal: Signal) -> Result<bool, FileError> {
    use rustix::process::{PidfdFlags, getpid, pidfd_open, pidfd_send_signal};

    use crate::files::at;
    use crate::process::pid_of;

    let lock = folder.join("lock");
    let Ok(file) = std::fs::metadata(&lock) else { return Ok(false) };
    let file = FileId::of(&file);
    let noted = super::read_json::<super::SupervisorRecord>(&folder.join("supervisor.json"));
    let noted = noted.ok().flatten().map(|record| record.pid);
    for pid in noted.into_iter().chain(processes()) {
        let Some(id) = pid_of(pid).filter(|id| *id != getpid()) else { continue };
        // Opened before the look: the number cannot come to mean another process in between.
        let Ok(process) = pidfd_open(id, PidfdFlags::empty()) else { continue };
        if holds(pid, file) {
            return match pidfd_send_signal(&process, signal) {
                Ok(()) => Ok(true),
                Err(rustix::io::Errno::SRCH) => Ok(false),
                Err(error) => Err(at("signal the supervisor of", folder)(error.into())),
            };
        }
    }
    Ok(false)
}

/// Returns whether a process can be the supervisor of a run: it holds the lock, or another one does that is not
/// to be seen.
#[cfg(target_os = "linux")]
pub(super) fn can_be(folder: &Path, pid: Option<u32>) -> Result<bool, FileError> {
    // Every version has made one. An agent that takes it away makes a supervisor of nobody.
    let Ok(file) = std::fs::metadata(folder.join("lock")) else { return Ok(false) };
    let file = FileId::of(&file);
    if pid.is_some_and(|pid| holds(pid, file)) {
        return Ok(true);
    }
    // A supervisor that has just ended holds it no longer, and looking at every process takes long.
    let is_held = super::RunFolder::open(folder).is_locked()?;
    Ok(is_held && !processes().any(|other| holds(other, file)))
}

/// Where open files of others cannot be seen, nobody is told apart.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail where it does something")]
pub(super) fn can_be(_folder: &Path, _pid: Option<u32>) -> Result<bool, FileError> {
    Ok(true)
}

/// Every process of the machine.
#[cfg(target_os = "linux")]
fn processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Identity of a file: the same for every name that it has.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

#[cfg(target_os = "linux")]
impl FileId {
    fn of(file: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;

        Self { device: file.dev(), inode: file.ino() }
    }
}

/// Returns whether a process has the file open and holds an exclusive lock on it.
#[cfg(target_os = "linux")]
fn holds(pid: u32, file: FileId) -> bool {
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    open.flatten().any(|entry| {
        let is_it = |found: std::fs::Metadata| FileId::of(&found) == file;
        if !std::fs::metadata(entry.path()).is_ok_and(is_it) {
            return false;
        }
        let info = Path::new("/proc").join(pid.to_string()).join("fdinfo").join(entry.file_name());
        let info = std::fs::read_to_string(info).unwrap_or_default();
        let is_lock = |line: &str| line.starts_with("lock:") && line.contains("FLOCK");
        info.lines().any(|line| is_lock(line) && line.contains("WRITE"))
    })
}

/// Where open files of others cannot be seen, the noted process is believed as long as a process holds
/// the lock.
#[cfg(not(target_os = "linux"))]
pub(super) fn signal(folder: &Path, signal: Signal) -> Result<bool, FileError> {
    use crate::files::at;
    use crate::process::pid_of;

    if !super::RunFolder::open(folder).is_locked()? {
        return Ok(false);
    }
    let record = super::read_json::<super::SupervisorRecord>(&folder.join("supervisor.json"))?;
    let own = std::process::id();
    let Some(pid) = record.map(|record| record.pid).filter(|pid| *pid != own).and_then(pid_of)
    else {
        return Ok(false);
    };
    match rustix::process::kill_process(pid, signal) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::SRCH) => Ok(false),
        Err(error) => Err(at("signal the supervisor of", folder)(error.into())),
    }
}
